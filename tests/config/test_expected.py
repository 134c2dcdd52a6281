"""Expected facts and settings for one of several targets."""

from __future__ import annotations

import json

import pytest

import chatlint
from chatlint.config import Settings
from chatlint.config.expected import Expected, read_expected
from chatlint.errors import UsageError

GOOD = """{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
"""


def test_a_report_is_read_without_what_is_no_fact(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(chatlint.check("corpus:chatml", cache=False).to_dict()))
    expected = read_expected(str(path))
    assert expected.file == "report.json"
    facts = expected.targets["corpus:chatml"]["default"]
    assert {"capabilities", "format", "stops", "sha256"} <= set(facts)
    assert not {"findings", "coverage", "not_evaluated"} & set(facts)


def test_a_line_of_json_lines_is_a_report_too(tmp_path):
    path = tmp_path / "report.json"
    report = chatlint.check("corpus:chatml", cache=False).to_dict()
    path.write_text(json.dumps({"schema": report["schema"], **report["targets"][0]}))
    assert list(read_expected(str(path)).targets) == ["corpus:chatml"]


def test_a_report_on_one_target_holds_whatever_it_is_called():
    one = Expected("f", "", {"a": {"default": {}}})
    assert one.of_target("b").templates == {"default": {}}
    two = Expected("f", "", {"a": {"default": {}}, "b": {"x": {}}})
    assert two.of_target("b").templates == {"x": {}}
    assert two.of_target("c").templates is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no file"),
        ("{", "is not JSON"),
        ("3", "is no report"),
        ("{}", "is no report in chatlint.report/1"),
        ('{"schema": "chatlint.report/2"}', "is no report in chatlint.report/1"),
        ('{"schema": "chatlint.report/1", "targets": []}', "reports on no target that was checked"),
        ('{"schema": "chatlint.report/1", "targets": [{"status": "failed"}]}', "reports on no target"),
    ],
)
def test_error_what_is_no_report(tmp_path, text, said):
    path = tmp_path / "report.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        read_expected(str(path))
    assert caught.value.message.startswith("expect: ")
    assert "--format json" in caught.value.hint


def drifts(tmp_path, then, now):
    """What the gate says of a template now that was another then."""
    path, report = tmp_path / "t.jinja", tmp_path / "report.json"
    path.write_text(then)
    report.write_text(json.dumps(chatlint.check(path, cache=False).to_dict()))
    path.write_text(now)
    found = chatlint.check(path, cache=False, expect=report, select="CT122").targets[0].all_findings
    return [one.message for one in found]


def test_nothing_changed(tmp_path):
    assert drifts(tmp_path, GOOD, "{#- the same -#}\n" + GOOD) == []


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (GOOD.replace("<|assistant|>", "<|bot|>"), "generation prompt differs from report.json"),
        (GOOD.replace("<|end|>", "<|over|>"), "stops differ from report.json"),
        (GOOD.replace("{%- for", "{%- if tools %}{{ tools }}{% endif %}{%- for"), "capabilities differ"),
        (GOOD.replace("{%- for", "{%- if loud %}LOUD{% endif %}{%- for"), "switches differ"),
    ],
)
def test_every_part_counts(tmp_path, now, said):
    assert any(message.startswith(said) for message in drifts(tmp_path, GOOD, now))


def test_a_capability_that_an_older_report_does_not_know_is_no_drift(tmp_path):
    path, report = tmp_path / "t.jinja", tmp_path / "report.json"
    path.write_text(GOOD)
    saved = chatlint.check(path, cache=False).to_dict()
    for name in ("tools", "history"):
        del saved["targets"][0]["templates"][0]["capabilities"][name]
    report.write_text(json.dumps(saved))
    assert chatlint.check(path, cache=False, expect=report, select="CT122").targets[0].all_findings == ()


def test_templates_that_come_and_go(tmp_path):
    model, report = tmp_path / "model", tmp_path / "report.json"
    model.mkdir()

    def save(*names):
        named = [{"name": name, "template": GOOD} for name in names]
        (model / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))

    save("default", "tool_use")
    report.write_text(json.dumps(chatlint.check(model, cache=False).to_dict()))
    save("default", "rag")
    found = chatlint.check(model, cache=False, expect=report, select="CT122").targets[0].all_findings
    assert [one.message.partition(": ")[2] for one in found] == [
        "tool_use there → nothing",
        "rag nothing → there",
    ]


@pytest.mark.parametrize(
    ("glob", "target", "file", "fits"),
    [
        ("org/legacy-*", "org/legacy-7b", "", True),
        ("org/legacy-*", "org/legacy-7b@main", "", True),
        ("org/legacy-*", "org/other", "", False),
        ("org/m", "org/m:Q4_K_M", "", True),
        ("models/*", "./models/a", "", True),
        ("./models/*", "models/a", "", True),
        ("*/tokenizer_config.json", "models/a", "tokenizer_config.json", True),
        ("models/a/chat_template.jinja", "models/a/", "chat_template.jinja", True),
        ("*.jinja", "models/a", "tokenizer_config.json", False),
    ],
)
def test_globs_of_targets(glob, target, file, fits):
    settings = Settings(ignore=("a",), per_target_ignores={glob: ("CT5", "b")}).for_target(target, file)
    assert settings.ignore == (("a", "CT5", "b") if fits else ("a",))
    assert settings.per_target_ignores == {}
