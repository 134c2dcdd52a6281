"""Widths, wrapping, colour decisions, and what stands in for characters an output cannot hold."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.report.canvas import Canvas, canvas_for

ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


class Pipe(io.StringIO):
    encoding = "utf-8"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.mark.parametrize(
    ("stream", "environment", "choice", "colour"),
    [
        (Terminal, {}, "auto", True),
        (Pipe, {}, "auto", False),
        (Terminal, {"NO_COLOR": "1"}, "auto", False),
        (Terminal, {"NO_COLOR": ""}, "auto", True),
        (Terminal, {"TERM": "dumb"}, "auto", False),
        (Pipe, {"FORCE_COLOR": "1"}, "auto", True),
        (Pipe, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, "auto", False),
        (Pipe, {"NO_COLOR": "1"}, "always", True),
        (Terminal, {"FORCE_COLOR": "1"}, "never", False),
    ],
)
def test_when_there_is_colour(monkeypatch, stream, environment, choice, colour):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert canvas_for(stream(), choice).colour is colour


@pytest.mark.parametrize(
    ("encoding", "unicode"), [("utf-8", True), ("UTF8", True), ("ascii", False), ("cp1252", False)]
)
def test_unicode_where_the_encoding_has_it(encoding, unicode):
    stream = Pipe()
    stream.encoding = encoding
    assert canvas_for(stream).unicode is unicode


@pytest.mark.parametrize(("columns", "width"), [("40", 40), ("5", 30), ("500", 120)])
def test_the_width_is_kept_within_reason(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    assert canvas_for(Pipe()).width == width


def test_wide_and_combining_characters_take_their_cells():
    canvas = Canvas()
    assert [canvas.cells(text) for text in ("ab", "模型", "e\u0301", "😀")] == [2, 4, 1, 2]


@pytest.mark.parametrize(
    ("room", "cut"), [(10, "模型abcdef"), (9, "模型abcd…"), (4, "模…"), (3, "模…"), (2, "…")]
)
def test_fit_cuts_with_an_ellipsis(room, cut):
    assert Canvas().fit("模型abcdef", room) == cut


def test_ascii_spells_what_it_cannot_hold():
    assert Canvas(unicode=False).spell("a⏎…模\ud800") == "a\\n...\\u6a21<U+D800>"


WORDS = st.lists(
    st.tuples(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1), st.just("")), min_size=1
)


@given(WORDS, st.integers(30, 120))
def test_wrapped_lines_fit_and_lose_nothing(words, width):
    canvas = Canvas(width=width)
    lines = list(canvas.wrap(words, indent="    ", first=[("head ", "")]))
    assert all(canvas.cells(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == "head" + "".join(text for text, _ in words)


def test_colour_adds_nothing_but_sequences():
    line = [("error", "error"), (" ", ""), ("text", "")]
    assert ANSI.sub("", Canvas(colour=True).draw(line)) == Canvas().draw(line) == "error text"
