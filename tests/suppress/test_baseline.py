"""Baselines: fingerprints that survive edits, what is accepted, what is stale."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from chatlint.config import Settings
from chatlint.detect.capabilities import detect_capabilities
from chatlint.errors import UsageError
from chatlint.gate import against_baseline, update_baseline
from chatlint.pipeline import check_target
from chatlint.rules.rule import Stage
from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from chatlint.source.package import TargetKind
from chatlint.suppress.baseline import BaselineEntry, named_in, read_baseline, write_baseline
from chatlint.verdict import Report
from tests.rules.subjects import subject_of
from tests.rules.test_examples import ON_TEMPLATES, settings_in

LOOP = "{%- for m in messages %}\n{{- '<|' ~ m.role ~ '|>' ~ m.content ~ '<|end|>' }}\n{%- endfor %}\n"
PROMPT = "{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report_on(*targets, **settings):
    chosen = Settings(cache=False, **settings)
    return Report(chosen, tuple(check_target(str(target), chosen) for target in targets))


def fingerprints(rule, text):
    """Of what a rule finds in a text, with what its page says that it needs."""
    given = {one.name: one.text for one in rule.page.examples if one.language == "json"}
    settings = settings_in(rule, given)
    tokenizer = given.pop("tokenizer.json", "")
    with subject_of(
        text, tokenizer, **given, learned=rule.needs >= Stage.FORMAT or rule.category == "tokens"
    ) as subject:
        subject.settings = settings
        if rule.name == "required-capability":
            subject.capabilities = detect_capabilities(subject.trace, subject.syntax)
        return {one.fingerprint for one in run(subject, Selection((rule.name,))).findings}


def moved(text):
    """The same template with its lines elsewhere."""
    return "{#- a remark\nin two lines -#}\n{%- if false -%}\n\n{%- endif -%}\n" + text


JUDGED = [
    rule
    for rule in ON_TEMPLATES
    if rule.needs is not Stage.REPORT and any(one.name == "bad" for one in rule.page.examples)
]


@pytest.mark.parametrize("rule", JUDGED, ids=lambda rule: rule.name)
def test_fingerprints_survive_moved_lines(rule):
    text = rule.page.example("bad")
    before = fingerprints(rule, text)
    assert before
    assert fingerprints(rule, moved(text)) == before


def test_what_is_accepted_does_not_count(folder):
    Path("t.jinja").write_text(LOOP)
    report = report_on("t.jinja")
    assert report.exit_code == 1
    file = folder / "baseline.json"
    now, gone = update_baseline(report, file)
    assert (now, gone) == (len(report.targets[0].all_findings), 0)
    held = against_baseline(report, file, "baseline.json")
    assert held.exit_code == 0
    assert held.targets[0].all_findings == ()
    assert held.summary()["suppressed"] == held.baseline.suppressed == now
    assert held.baseline.stale == ()


def test_what_is_new_counts(folder):
    Path("t.jinja").write_text(LOOP + PROMPT)
    file = folder / "baseline.json"
    update_baseline(report_on("t.jinja"), file)
    Path("t.jinja").write_text(LOOP)
    held = against_baseline(report_on("t.jinja"), file, "baseline.json")
    assert [one.rule for one in held.targets[0].all_findings] == ["generation-prompt"]
    assert held.exit_code == 1


def test_what_is_mended_is_stale_until_it_is_updated(folder):
    Path("t.jinja").write_text(LOOP)
    file = folder / "baseline.json"
    update_baseline(report_on("t.jinja"), file)
    Path("t.jinja").write_text(moved(LOOP) + PROMPT)
    report = report_on("t.jinja")
    held = against_baseline(report, file, "baseline.json")
    assert [(one.rule, one.target) for one in held.baseline.stale] == [("generation-prompt", "t.jinja")]
    assert held.exit_code == 0
    _, gone = update_baseline(report, file)
    assert gone == 1
    assert against_baseline(report, file, "baseline.json").baseline.stale == ()


def test_what_was_not_looked_for_is_not_stale(folder):
    Path("t.jinja").write_text(LOOP)
    Path("u.jinja").write_text(LOOP)
    file = folder / "baseline.json"
    update_baseline(report_on("t.jinja", "u.jinja"), file)
    Path("t.jinja").write_text(LOOP + PROMPT)
    assert against_baseline(report_on("u.jinja"), file, "b").baseline.stale == ()
    assert against_baseline(report_on("t.jinja", ignore=("CT301",)), file, "b").baseline.stale == ()
    assert against_baseline(report_on("t.jinja", select=("CT9",)), file, "b").baseline.stale == ()
    assert len(against_baseline(report_on("t.jinja"), file, "b").baseline.stale) == 1


def test_an_update_leaves_other_targets_alone(folder):
    for name in ("t.jinja", "u.jinja"):
        Path(name).write_text(LOOP)
    file = folder / "baseline.json"
    update_baseline(report_on("t.jinja", "u.jinja"), file)
    whole = file.read_text()
    update_baseline(report_on("u.jinja"), file)
    assert file.read_text() == whole
    update_baseline(report_on("u.jinja", "no/such"), file)
    assert file.read_text() == whole


def test_an_update_leaves_alone_what_was_not_asked(folder):
    Path("t.jinja").write_text(LOOP)
    file = folder / "baseline.json"
    update_baseline(report_on("t.jinja"), file)
    whole = file.read_text()
    assert update_baseline(report_on("t.jinja", select=("CT9",)), file)[1] == 0
    assert file.read_text() == whole
    Path("t.jinja").write_text(LOOP + PROMPT)
    assert update_baseline(report_on("t.jinja", ignore=("CT301",)), file)[1] == 0
    assert update_baseline(report_on("t.jinja"), file)[1] == 1


def test_the_file_is_the_same_on_every_host_and_in_any_order(folder):
    for name in ("t.jinja", "u.jinja"):
        Path(name).write_text(LOOP)
    written = []
    for targets, host in (
        (("t.jinja", "u.jinja"), "transformers-5.24"),
        (("./u.jinja", "t.jinja"), "transformers-4.57"),
    ):
        file = folder / "baseline.json"
        update_baseline(report_on(*targets, host=host), file)
        written.append(file.read_bytes())
        file.unlink()
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("target", "kind", "name"),
    [
        ("org/model@1a2b", TargetKind.HUB, "org/model"),
        ("models/mine/", TargetKind.DIRECTORY, "models/mine"),
        ("./models/mine", TargetKind.DIRECTORY, "models/mine"),
        ("../elsewhere/t.jinja", TargetKind.FILE, "../elsewhere/t.jinja"),
        ("corpus:qwen3", TargetKind.CORPUS, "corpus:qwen3"),
        ("no/such", None, "no/such"),
    ],
)
def test_names_of_targets(folder, target, kind, name):
    assert named_in(folder / "baseline.json", target, kind) == name


def test_entries_are_read_as_they_were_written(folder):
    entries = [BaselineEntry("b", "", "r", "m\u202e", "2"), BaselineEntry("a", "default", "r", "m", "1")]
    file = folder / "baseline.json"
    write_baseline(file, entries)
    assert sorted(read_baseline(file).values(), key=lambda one: one.target) == entries[::-1]
    assert file.read_bytes().isascii()
    assert list(folder.iterdir()) == [file]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no file"),
        ("[", "is not JSON"),
        ("[]", "is no baseline in chatlint.baseline/1"),
        ('{"schema": "chatlint.baseline/9", "findings": []}', "is no baseline"),
        ('{"schema": "chatlint.baseline/1", "findings": [1]}', "must be an object"),
        ('{"schema": "chatlint.baseline/1", "findings": [{"target": "a"}]}', "a finding lacks"),
        ("[" * 5000, "is not JSON"),
    ],
)
def test_error_a_file_that_is_no_baseline(folder, text, said):
    file = folder / "baseline.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        read_baseline(file)
    assert "--update-baseline" in caught.value.hint


def test_error_a_place_that_cannot_be_written(folder):
    with pytest.raises(UsageError, match="cannot be written"):
        write_baseline(folder / "no" / "such" / "b.json", [])
    (folder / "b.json").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        write_baseline(folder / "b.json", [])
    assert [path.name for path in folder.iterdir()] == ["b.json"]


def test_a_finding_that_a_comment_accepts_needs_no_entry(folder):
    Path("t.jinja").write_text("{# chatlint: ignore[generation-prompt] never prompted #}\n" + LOOP)
    file = folder / "baseline.json"
    update_baseline(report_on("t.jinja"), file)
    listed = json.loads(file.read_text())["findings"]
    assert "generation-prompt" not in {one["rule"] for one in listed}


def test_findings_of_the_package_are_accepted_too(folder):
    model = folder / "model"
    model.mkdir()
    (model / "chat_template.jinja").write_text(LOOP + PROMPT)
    (model / "tokenizer_config.json").write_text(
        json.dumps({"chat_template": LOOP.replace("|>", "|] ") + PROMPT})
    )
    report = report_on("model")
    assert [one.rule for one in report.targets[0].findings] == ["sources-disagree"]
    file = folder / "baseline.json"
    update_baseline(report, file)
    held = against_baseline(report, file, "b")
    assert held.targets[0].findings == ()
    assert [one.rule for one in held.targets[0].suppressed] == ["sources-disagree"]
    assert replace(held, baseline=None).exit_code == 0
