"""What is only worth knowing takes a line for each rule, and few lines in all."""

from __future__ import annotations

import pytest

from chatlint.report.canvas import Canvas
from chatlint.report.infos import info_lines
from chatlint.rules.finding import Location, Severity
from tests.report.conftest import finding, template


def infos(*rules, line=2):
    place = Location("chat_template.jinja", line)
    return [
        (finding(Severity.INFO, rule=rule, message=f"says {rule}", location=place), template())
        for rule in rules
    ]


def test_a_line_for_each_rule():
    lines = list(info_lines(Canvas(80), infos("prefix-break", "clock", "prefix-break")))
    assert lines == [
        "3 infos (--verbose shows more)",
        "  prefix-break ×2  line 2  says prefix-break",
        "  clock            line 2  says clock",
    ]


def test_beyond_ten_rules_are_named():
    lines = list(info_lines(Canvas(80), infos(*(f"rule-{number}" for number in range(13)))))
    assert len(lines) == 12
    assert lines[-1] == "  and rule-10, rule-11, rule-12"


@pytest.mark.parametrize("width", [30, 40, 60, 120])
def test_messages_are_cut_to_the_line(width):
    found = [(one, None) for one, _ in infos("a-rule-with-a-long-name", "b")]
    lines = list(info_lines(Canvas(width), found))
    assert all(len(line) <= width for line in lines)
    assert len(lines) == 3
