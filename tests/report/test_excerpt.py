"""What a marked line shows when it does not fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.report.canvas import Canvas
from chatlint.report.excerpt import excerpt, marked_source

LINE = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nUSERQ1<|im_end|>\n"


@pytest.mark.parametrize(
    ("room", "text", "under"),
    [
        (200, LINE.replace("\n", "⏎"), "USERQ1"),
        (40, "…d|>⏎<|im_start|>user⏎USERQ1<|im_end|>⏎", "USERQ1"),
        (16, "…r⏎USERQ1<|im_e…", "USERQ1"),
    ],
)
def test_the_mark_stands_under_its_text(room, text, under):
    start = LINE.index("USERQ1")
    shown = excerpt(Canvas(), LINE, start, start + 6, room)
    assert shown.text.endswith("…") == text.endswith("…")
    assert shown.text[shown.before : shown.before + shown.marked] == under
    assert Canvas().cells(shown.text) <= room


def test_a_control_character_is_spelled_and_counted():
    shown = excerpt(Canvas(), "ab\x00\x1bcd", 4, 6, 80)
    assert shown.text == "ab⟨U+0000⟩␛cd"
    assert shown.text[shown.before : shown.before + shown.marked] == "cd"


def test_of_a_mark_that_does_not_fit_the_beginning_is_kept():
    shown = excerpt(Canvas(), "x" * 50 + "MARKED" * 50, 50, 350, 30)
    assert shown.text.startswith("…")
    assert "MARKED" in shown.text
    assert shown.before + shown.marked <= 30


@given(st.text(), st.integers(-3, 300), st.integers(-3, 300), st.integers(16, 120), st.booleans())
def test_any_excerpt_fits(text, start, end, room, unicode):
    canvas = Canvas(unicode=unicode)
    shown = excerpt(canvas, text, start, end, room)
    assert canvas.cells(shown.text) <= room
    assert shown.marked >= 1
    assert shown.text.isprintable()


@pytest.mark.parametrize(
    ("line", "column", "marked"),
    [
        ("{% for m in messages %}{{ m.role }}", 1, "{% for m in messages %}"),
        ("{% for m in messages %}{{ m.role }}", 24, "{{ m.role }}"),
        ("{{ m.role }}", 4, "m.role"),
        ("{{ m", 1, "{{ m"),
        ("{{- '<think>' ~ x }}", 5, "'<think>'"),
        ("    indented", 1, "indented"),
        ("<|{{ m.role }}|>{{ m.content }}", 15, "|>"),
        ("<call>{{ c }}</call>", 1, "<call>"),
        ("text to the end  ", 1, "text to the end"),
        ("' %}{% set messages = x %}", 1, "' %}{% set messages = x %}"),
        ("end of a string' }}<|end|>", 1, "end"),
        ("end of a string' }}<|end|>", 20, "<|end|>"),
        ("x", 9, ""),
    ],
)
def test_what_a_column_marks(line, column, marked):
    start, end = marked_source(line, column)
    assert line[start:end] == marked
