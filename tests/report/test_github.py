"""Annotations: read back as the runner of GitHub Actions reads them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from chatlint.config import Settings
from chatlint.report import REPORTERS
from chatlint.report.canvas import Canvas
from chatlint.rules.finding import Confidence, Location, Severity
from chatlint.source.package import TargetKind
from chatlint.verdict import Report, TargetReport
from tests.report.conftest import finding, template_report

COMMAND = re.compile(r"^::(error|warning|notice) (.*?)::(.*)$")


def unescaped(text, *more):
    for written, meant in (*more, ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(written, meant)
    return text


def annotations(report):
    """(level, properties, text) of each command, and the other lines."""
    read, rest = [], []
    for line in REPORTERS["github"](report, Canvas()).splitlines():
        match = COMMAND.match(line)
        if not match:
            rest.append(line)
            continue
        pairs = (pair.split("=", 1) for pair in match[2].split(","))
        read.append(
            (
                match[1],
                {name: unescaped(value, ("%3A", ":"), ("%2C", ",")) for name, value in pairs},
                unescaped(match[3]),
            )
        )
    return read, rest


def reported(*findings):
    template = template_report(findings=findings, failures=(), unevaluated=())
    return Report(Settings(), (TargetReport("m", TargetKind.DIRECTORY, templates=(template,)),))


def test_the_fixed_report_is_annotated(report):
    read, rest = annotations(report)
    assert rest == []
    levels = [level for level, _, _ in read]
    assert levels == ["error", "error", "error", "error", "warning", "notice"]
    (first,) = [one for one in read if "tool-calls-lost" in one[1]["title"]]
    assert first[1] == {
        "file": "models/mine/chat_template.jinja",
        "line": "2",
        "col": "36",
        "title": "tool-calls-lost (CT402)",
    }
    assert first[2].startswith("of a call in the history, the function's name")


@pytest.mark.parametrize("text", ["100 %", "a%0Ab", "a,b:c::d", "::error::x", "%3A%2C%25"])
def test_any_text_comes_back(text):
    found = finding(message=text, consequence="", fix="", location=Location(text, 1, 1))
    ((_, properties, said),), rest = annotations(reported(found))
    assert rest == []
    assert said == f"{text}."
    assert properties["file"] == f"m/{text}"


def test_a_hostile_report_gives_no_orders(hostile):
    lines = REPORTERS["github"](hostile, Canvas()).splitlines()
    assert all(COMMAND.match(line) for line in lines)
    assert not any(re.search(r"(?<!:):stop-commands::", line.partition("::")[0]) for line in lines)


def test_the_ten_surest_of_a_level_and_how_many_there_are():
    doubtful = [finding(Severity.WARNING, message=f"d{i}", confidence=Confidence.LOW) for i in range(8)]
    sure = [finding(Severity.WARNING, message=f"s{i}") for i in range(6)]
    read, rest = annotations(reported(*doubtful, *sure))
    assert [said[:2] for _, _, said in read] == [f"s{i}" for i in range(6)] + [f"d{i}" for i in range(4)]
    assert rest == ["10 of 14 warnings are annotated: GitHub shows 10 of a level in a step"]


def test_faults_leave_room_for_no_more_than_ten_errors(report):
    many = replace(report.targets[1])
    report = replace(report, targets=(report.targets[0], *[many] * 12))
    read, rest = annotations(report)
    assert sum(level == "error" for level, _, _ in read) == 10
    assert len(rest) == 2
