"""`reports/` is what the code says today. If this is right: `python -m tests.reports`."""

from __future__ import annotations

import json
import re

import pytest

from chatlint.config import Settings
from chatlint.pipeline import check_target
from chatlint.survey.facts import facts_only
from chatlint.survey.matrix import article
from chatlint.survey.reports import Reports
from chatlint.survey.rows import row_of
from chatlint.survey.tally import Holders
from tests.reports import PARTS, REPORTS, corpus, make, real_templates

HINT = "if this is right: python -m tests.reports"

pytestmark = pytest.mark.skipif(not (REPORTS / "corpus").is_dir(), reason="the reports are not made yet")


SAMPLE = corpus()[::12]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))


def test_reports_of_a_sample_of_the_corpus_are_fresh(tmp_path, store):
    Reports(tmp_path / "reports", SAMPLE).write(Settings())
    made = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "reports").iterdir()}
    kept = REPORTS / "corpus" / "reports"
    assert len(made) == len(SAMPLE)
    assert [name for name, text in made.items() if (kept / name).read_text(encoding="utf-8") != text] == [], (
        HINT
    )
    assert len(list(kept.iterdir())) == len(corpus())


@pytest.mark.sweep
def test_the_survey_of_the_corpus_is_fresh(tmp_path, store):
    said = make("corpus", corpus(), tmp_path, jobs=2)
    _same(
        REPORTS / "corpus", tmp_path, [*PARTS, *(f"reports/{one.name}" for one in _reports(tmp_path))], said
    )
    assert len(_reports(tmp_path)) == len(_reports(REPORTS / "corpus")) == len(corpus())


@pytest.mark.sweep
def test_the_survey_of_real_templates_is_fresh(shared, tmp_path, store):
    said = make("templates", real_templates(shared / "templates"), tmp_path, jobs=2)
    _same(REPORTS / "templates", tmp_path, PARTS, said)


def _reports(folder):
    return list((folder / "reports").iterdir())


def _same(kept, made, names, said):
    """The files are the same, and the README says what they say."""
    for name in names:
        assert (kept / name).read_text(encoding="utf-8") == (made / name).read_text(encoding="utf-8"), HINT
    text = (REPORTS / "README.md").read_text(encoding="utf-8")
    for line in said:
        assert f"- {line}\n" in text, HINT


def test_what_is_said_of_a_sample_of_real_templates_is_fresh(shared, store):
    """What was found in each, as the page has it."""
    page = (REPORTS / "templates" / "survey.html").read_text(encoding="utf-8")
    articles = {
        re.search(r"sha256 (\w{12})", text)[1]: text
        for text in re.findall(r"<article .*?</article>", page, re.S)
    }
    named = [digest for digest in sorted(articles) if (shared / "templates" / f"{digest}.jinja").exists()]
    assert len(named) > 700
    for digest in named[::90]:
        (judged,) = check_target(str(shared / "templates" / f"{digest}.jinja"), Settings()).templates
        row = row_of("", facts_only(json.loads(json.dumps(judged.to_dict()))))
        anchor = re.search(r'id="(t\d+)"', articles[digest])[1]
        made = article(anchor, Holders(names=["name"], count=1), row)
        assert articles[digest][articles[digest].index("<ol>") :] == made[made.index("<ol>") :].strip(), (
            digest,
            HINT,
        )


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
