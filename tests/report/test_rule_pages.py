"""`docs/rules/` says what the rules' docstrings say."""

from __future__ import annotations

import re

import pytest

from chatlint.report.rule_pages import COMMAND, INDEX, rule_pages, write_pages
from chatlint.rules.catalogue import all_rules
from tests.conftest import ROOT
from tests.report.test_card import rendered

DOCS = ROOT / "docs" / "rules"


def test_the_pages_are_those_of_the_rules():
    written = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
    assert written == dict(rule_pages()), f"renew them: {COMMAND}"


def test_every_rule_is_in_the_index():
    index = rule_pages()[INDEX]
    links = re.findall(r"\[([\w-]+)\]\(([\w-]+)\.md\)", index)
    assert sorted(links) == sorted((rule.name, rule.name) for rule in all_rules())
    page = rendered(index)
    assert page.tags.count("td") == 4 * len(all_rules()), "no summary breaks its table"


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.name)
def test_a_page_is_markdown_with_its_examples_as_code(rule):
    page = rendered(rule_pages()[f"{rule.name}.md"])
    shown = [code.strip() for code in page.code]
    assert all(example.text.strip() in shown for example in rule.page.examples)
    assert "h1" in page.tags


def test_pages_of_rules_that_are_no_more_go(tmp_path):
    (tmp_path / "gone.md").write_text("x")
    (tmp_path / "kept.txt").write_text("x")
    write_pages(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*rule_pages(), "kept.txt"}
