"""Markdown: rendered as GitHub renders it, and never too large for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatlint import check
from chatlint.report import REPORTERS
from chatlint.report.canvas import Canvas
from chatlint.report.markdown import LARGEST
from chatlint.report.markup import md_prose
from tests.report.test_card import rendered


def written(report):
    return REPORTERS["markdown"](report, Canvas())


@pytest.mark.parametrize(
    ("text", "code"),
    [("'⏎```‹end›' after 1, '⏎`‹end›' after 2", []), ("```` is a fence, `code` is code", ["code"])],
)
def test_backticks_of_a_template_are_no_code(text, code):
    assert rendered(md_prose(text)).code == code


def test_what_a_reader_wants_to_know(report):
    text = written(report)
    assert text.startswith("## chatlint: 1 error, 1 warning, 1 info, 1 not checked\n")
    page = rendered(text)
    assert "tool-calls-lost" in page.code
    assert "models/mine/chat_template.jinja:2:36" in page.code
    assert "no-template: models/theirs has no chat template" in text
    assert any("not evaluated" in cell for cell in page.cells)
    assert "2 suppressed findings" in text
    assert "by a comment in line 1: as it was trained" in text


@pytest.mark.parametrize("target", ["corpus:qwen3", "corpus:harmony"])
def test_tables_stay_tables(target):
    page = rendered(written(check(target, cache=False)))
    assert page.tags.count("details") >= 1
    assert {"img", "a", "script"}.isdisjoint(page.tags)
    assert not any("|---" in cell for cell in page.cells)


def test_a_hostile_report_stays_text(hostile):
    page = rendered(written(hostile))
    assert {"script", "img", "a", "red", "pre"}.isdisjoint(page.tags)
    assert page.tags.count("details") == page.tags.count("summary") == 3


def test_a_summary_that_github_would_refuse_is_cut_and_says_so(report):
    many = [replace(report.targets[0], target=f"models/{number:04}") for number in range(900)]
    text = written(replace(report, targets=tuple(many)))
    assert len(text) < LARGEST + 200_000
    assert "more targets: the other formats have them all." in text
    assert text.count("| `models/") >= 900
