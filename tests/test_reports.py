"""`reports/` is what the code says today. If this is right: `python -m tests.reports`."""

from __future__ import annotations

import json

import pytest

from tests.reports import PARTS, REPORTS, corpus, make, real_templates

HINT = "if this is right: python -m tests.reports"

pytestmark = pytest.mark.skipif(not (REPORTS / "corpus").is_dir(), reason="the reports are not made yet")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CHATLINT_CACHE_DIR", str(folder / "store"))
        said = make("corpus", corpus(), folder / "corpus", jobs=2)
    return folder / "corpus", said


@pytest.mark.parametrize("name", PARTS)
def test_the_survey_of_the_corpus_is_fresh(fresh, name):
    kept = (REPORTS / "corpus" / name).read_text(encoding="utf-8")
    assert kept == (fresh[0] / name).read_text(encoding="utf-8"), HINT


def test_there_is_a_fresh_report_of_every_entry(fresh):
    kept = {
        path.name: path.read_text(encoding="utf-8") for path in (REPORTS / "corpus" / "reports").iterdir()
    }
    made = {path.name: path.read_text(encoding="utf-8") for path in (fresh[0] / "reports").iterdir()}
    assert len(made) == len(corpus())
    assert [name for name in {*kept, *made} if kept.get(name) != made.get(name)] == [], HINT


def test_the_readme_quotes_what_is_there(fresh):
    text = (REPORTS / "README.md").read_text(encoding="utf-8")
    for line in fresh[1]:
        assert f"- {line}\n" in text, HINT


def test_the_survey_of_real_templates_holds_facts_only(shared):
    """No line of any template stands in it, beyond marks."""
    if not (REPORTS / "templates").is_dir():
        pytest.skip("it is not made yet")
    published = "".join((REPORTS / "templates" / name).read_text(encoding="utf-8") for name in PARTS)
    assert str(shared) not in published
    lines = {
        line.strip()
        for path in sorted((shared / "templates").glob("*.jinja"))[::5]
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if len(line.strip()) > 60
    }
    assert [line for line in lines if line in published] == []


def test_the_real_templates_have_names_of_their_own(shared):
    named = real_templates(shared / "templates")
    assert len({one.name for one in named}) == len(named) > 792
    assert len({one.target for one in named}) == 792


def test_metrics_agree_with_the_contract():
    metrics = json.loads((REPORTS / "corpus" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["schema"] == "chatlint.survey.metrics/1"
    assert metrics["targets"] == len(corpus())
