"""Marks: their atoms and units, the tolerance in matching, the search for several at once."""

from __future__ import annotations

import pytest

from chatlint.parse.markers import MORE, NO, Found, MarkerSet, is_strong, marker


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [
        ("<a>\n<b=", "<a>\n<b=", 7),
        ("<a>\n<b=", "<a><b=", 6),
        ("<a>\n<b=", "<a> \n\t <b=x", 10),
        ("<a>\n<b=", "<a> x", NO),
        ("<a>\n<b=", "<a>\n<", MORE),
        ("<a>\n<b=", "<", MORE),
        ("<a>\n<b=", "", MORE),
        ("<a><b>", "<a>\n<b>", 7),
        ("call:f{", "call : f {", 10),
        ('{"name":"', '{ "name" : "', 12),
        ("<do this='", "<do  this='", 11),
        ('<a no="⟨n⟩">', '<a no="42">', 11),
        ('<a no="⟨n⟩">', '<a no="4', MORE),
        ('<a no="⟨n⟩">', '<a no="x">', NO),
        ("<m>⟨name⟩<j>", "<m>get_x<j>", 11),
        ("<a>" + " " * 3, "<a>", 3),
    ],
)
def test_match(pattern: str, text: str, end: int) -> None:
    mark = marker(pattern)
    assert mark is not None
    assert mark.match(text, 0) == end


def test_key_again() -> None:
    mark = marker("</⟨key⟩>")
    assert mark is not None
    assert mark.match("</city>", 0, "city") == 7
    assert mark.match("</days>", 0, "city") == NO
    assert mark.match("</ci", 0, "city") == MORE


@pytest.mark.parametrize(
    ("pattern", "units"),
    [
        ("</f>\n</t>", ["</f>\n</t>", "</t>"]),
        ("<cs><c1>f<x>", ["<cs><c1>f<x>", "<c1>f<x>"]),
        ('<|+|>calls<|:|><|+|>call of="', ['<|+|>calls<|:|><|+|>call of="', '<|+|>call of="']),
        ("]<]m[>[</a>]<]m[>[</b>", ["]<]m[>[</a>]<]m[>[</b>", "]<]m[>[</b>"]),
        ("Here is my answer:", ["Here is my answer:"]),
    ],
)
def test_units(pattern: str, units: list[str]) -> None:
    mark = marker(pattern)
    assert mark is not None
    assert [unit.text.replace(" ", "") for unit in mark.units()] == [unit.replace(" ", "") for unit in units]


def test_nothing_but_whitespace_is_no_mark() -> None:
    assert marker(" \n") is None
    assert marker("") is None


@pytest.mark.parametrize(
    ("text", "strong"),
    [
        ("<call>", True),
        ("[CALLS]", True),
        ("◁t▷", True),
        (">>>", False),
        (" to=", False),
        ("[", False),
        ("{", False),
    ],
)
def test_strong(text: str, strong: bool) -> None:
    assert is_strong(text) is strong


def marks(*patterns: str) -> MarkerSet[str]:
    return MarkerSet([(mark, pattern) for pattern in patterns if (mark := marker(pattern))])


def test_the_longest_counts_and_is_waited_for() -> None:
    found = marks("<a>", "<a>\n<b>", "<c>")
    assert found.find("x<a>\n<b>", 0, False) == Found(1, 8, "<a>\n<b>")
    assert found.find("x<a>\n<", 0, False) == 1
    assert found.find("x<a>\n<", 0, True) == Found(1, 4, "<a>")
    assert found.find("x<a>y", 0, False) == Found(1, 4, "<a>")


def test_the_first_counts_of_two_that_are_equal() -> None:
    first, second = marker("<a>"), marker("<a>\n")
    assert first
    assert second
    assert MarkerSet([(first, 1), (second, 2)]).match("<a>", 0) == Found(0, 3, 1)


def test_an_end_that_may_begin_a_mark() -> None:
    found = marks("<call>", "</think>", "<|end|>")
    assert found.find("abc", 0, False) == 3
    assert found.find("abc<", 0, False) == 3
    assert found.find("abc</th", 0, False) == 3
    assert found.find("a</thx<", 0, False) == 6
    assert found.find("abc<", 0, True) == 4
    assert found.find("", 0, False) == 0
    assert found.match("abc", 0) == NO


def test_an_earlier_beginning_comes_before_a_later_mark() -> None:
    found = marks("]<]m[>[<call>", "<]m[>")
    assert found.find("x]<]m[>", 0, False) == 1


def test_no_marks() -> None:
    none: MarkerSet[str] = MarkerSet(())
    assert none.find("abc<", 0, False) == 4
    assert none.match("abc", 0) == NO
    assert none.alarm("abc") is None
