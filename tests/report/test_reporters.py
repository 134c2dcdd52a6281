"""Every format, on one fixed report and on a hostile one."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from chatlint.report import REPORTERS
from chatlint.report.canvas import Canvas

ANSI = re.compile(r"\x1b\[[0-9;]*m")


class TextFile(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "txt"


def _steady(name, text):
    """Without a page's looks, which are for eyes to judge, and without rules' pages, which have tests of their
    own."""
    if name == "sarif":
        log = json.loads(text)
        for rule in log["runs"][0]["tool"]["driver"]["rules"]:
            del rule["fullDescription"], rule["help"]
        return json.dumps(log, indent=2) + "\n"
    return re.sub("<style>.*?</style>", "<style></style>", text, flags=re.S)


@pytest.fixture
def text_file(snapshot):
    return snapshot.use_extension(TextFile)


@pytest.mark.parametrize("name", sorted(REPORTERS))
def test_the_fixed_report(report, text_file, name):
    assert _steady(name, REPORTERS[name](report, Canvas(80))) == text_file(name=name)


def test_the_fixed_report_on_a_narrow_terminal(report, text_file):
    assert REPORTERS["terminal"](report, Canvas(40)) == text_file(name="terminal-40")


def test_the_fixed_report_with_everything(report, text_file):
    assert REPORTERS["terminal"](report, Canvas(100, verbose=True)) == text_file(name="terminal-verbose")


def test_the_fixed_report_in_ascii(report):
    assert REPORTERS["terminal"](report, Canvas(80, unicode=False)).isascii()


@pytest.mark.parametrize("width", [30, 40, 56, 80, 120])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_canvas(report, hostile, width, unicode):
    canvas = Canvas(width, unicode=unicode)
    for one in (report, hostile):
        for verbose in (False, True):
            lines = REPORTERS["terminal"](one, replace(canvas, verbose=verbose)).splitlines()
            assert [line for line in lines if canvas.cells(line) > width] == []


@pytest.mark.parametrize("name", sorted(REPORTERS))
@pytest.mark.parametrize("colour", [False, True])
def test_a_hostile_template_cannot_steer_a_terminal(hostile, name, colour):
    text = ANSI.sub("", REPORTERS[name](hostile, Canvas(80, colour=colour)))
    assert {character for character in text if not character.isprintable()} <= {"\n"}
    text.encode("utf-8")


@pytest.mark.parametrize("name", ["terminal", "concise"])
def test_markup_of_a_template_is_text(hostile, name):
    text = "".join(REPORTERS[name](hostile, Canvas(120)).split())
    assert "[/INST][red]" in text


def test_colour_changes_no_text(report):
    plain, coloured = (REPORTERS["terminal"](report, Canvas(80, colour=colour)) for colour in (False, True))
    stripped = "\n".join(line.rstrip() for line in ANSI.sub("", coloured).split("\n"))
    assert stripped == plain


def test_concise_names_files_that_can_be_opened(report):
    lines = REPORTERS["concise"](report, Canvas()).splitlines()
    assert lines[0].startswith("models/mine/chat_template.jinja:2:36: error[tool-calls-lost] of a call")
    assert lines[-1] == "models/theirs: no-template models/theirs has no chat template"


def test_json_lines_are_the_targets_of_the_report(report):
    whole = json.loads(REPORTERS["json"](report, Canvas()))
    lines = [json.loads(line) for line in REPORTERS["jsonl"](report, Canvas()).splitlines()]
    assert [{**target, "schema": whole["schema"]} for target in whole["targets"]] == lines
