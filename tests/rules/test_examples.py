"""Every rule's page is a test: its bad example is found by it, its good one by no rule as an error."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from chatlint.config import Settings
from chatlint.config.expected import Expected
from chatlint.config.file import read_config
from chatlint.conversation import Conversation
from chatlint.detect.capabilities import detect_capabilities
from chatlint.pipeline import judge
from chatlint.probe.own import OwnConversation
from chatlint.rules.catalogue import all_rules
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Rule, Stage
from chatlint.rules.run import Judged, run
from tests.rules.subjects import subject_of

RULES = all_rules()
ON_TEMPLATES = [rule for rule in RULES if not rule.own]
"""Rules that some template breaks; the others watch chatlint itself."""
CORNERS = sorted(Path(__file__).parent.glob("*/*.jinja"))


def judged(source: str, rule: Rule) -> Judged:
    given = {one.name: one.text for one in rule.page.examples if one.language == "json"}
    settings = settings_in(rule, given)
    tokenizer = given.pop("tokenizer.json", "")
    with subject_of(source, tokenizer, **given) as subject:
        if rule.needs is Stage.REPORT:
            report = judge(subject.template, subject.package, settings)
            return Judged(report.findings, report.failures, report.unevaluated)
        subject.settings = settings
        subject.capabilities = detect_capabilities(subject.trace, subject.syntax)
        return run(subject)


def settings_in(rule: Rule, given: dict[str, str]) -> Settings:
    """What a page's examples say of the user's configuration and files."""
    settings = Settings(cache=False)
    for one in rule.page.examples:
        if one.language == "toml":
            with TemporaryDirectory() as folder:
                file = Path(folder, one.name)
                file.write_text(one.text, encoding="utf-8")
                settings = read_config(file, settings)
    if "expected" in given:
        facts = {"default": json.loads(given.pop("expected"))}
        settings = replace(settings, expected=Expected("report.json", "", {"": facts}))
    if "reference" in given:
        own = json.loads(given.pop("reference"))
        conversation = Conversation(tuple(own["messages"]))
        settings = replace(
            settings, conversations=(OwnConversation("a", "own/a.json", conversation, prompt=own["prompt"]),)
        )
    return settings


def names(result: Judged) -> set[str]:
    return {finding.rule for finding in result.findings}


def errors(result: Judged) -> list[str]:
    return [
        f"{finding.rule}: {finding.message}"
        for finding in result.findings
        if finding.severity is Severity.ERROR
    ]


@pytest.mark.parametrize("rule", ON_TEMPLATES, ids=lambda rule: rule.name)
def test_the_bad_example_is_found(rule: Rule) -> None:
    result = judged(rule.page.example("bad"), rule)
    assert result.failures == ()
    assert rule.name in names(result)


@pytest.mark.parametrize("rule", ON_TEMPLATES, ids=lambda rule: rule.name)
def test_the_good_example_is_clean(rule: Rule) -> None:
    result = judged(rule.page.example("good"), rule)
    assert result.failures == ()
    assert rule.name not in names(result)
    assert errors(result) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_page_is_whole(rule: Rule) -> None:
    page = rule.page
    headings = [heading for heading, _ in page.sections]
    assert headings[:3] == ["What it does", "Why is this bad", "Example"]
    assert headings[3:] in ([], ["Fix"])
    assert page.summary.endswith(".")
    assert all(text for _, text in page.sections)


@pytest.mark.parametrize("path", CORNERS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_corner_cases(path: Path) -> None:
    rule = next(rule for rule in RULES if rule.name.replace("-", "_") == path.parent.name)
    result = judged(path.read_text(encoding="utf-8"), rule)
    assert result.failures == ()
    assert (rule.name in names(result)) == path.stem.startswith("bad")
