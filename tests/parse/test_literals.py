"""JSON and Python literals: passed through as they stand, repaired where they are no JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.parse.literals import Literal, quoted
from chatlint.parse.values import literal, typed

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
CONTAINERS = st.lists(VALUES, max_size=4) | st.dictionaries(st.text(max_size=6), VALUES, max_size=4)


def read(text: str, size: int) -> tuple[str, bool]:
    """The JSON of a container that comes in chunks, and whether it ended."""
    reader, out, rest = Literal(), "", ""
    for i in range(0, len(text), size):
        rest += text[i : i + size]
        rest = rest[reader.read(rest, 0, False) :]
        out += reader.json
    reader.read(rest, 0, True)
    return out + reader.json, reader.ended


@settings(max_examples=150, deadline=None)
@given(CONTAINERS, st.booleans(), st.sampled_from([None, 0, 2]))
def test_json_passes_through(value, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    for size in (1, 3, 1_000_000):
        assert read(text, size) == (text, True)


@settings(max_examples=150, deadline=None)
@given(CONTAINERS)
def test_python_becomes_json(value) -> None:
    for size in (1, 3, 1_000_000):
        found, ended = read(repr(value), size)
        assert ended
        assert json.loads(found) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': True, 'b': None}", {"a": True, "b": None}),
        ("[1, 2, ]", [1, 2]),
        ("{\"a\": 1,\n}", {"a": 1}),
        ("[(1, 2,), 'x']", [[1, 2], "x"]),
        ('{"code": "print("hi")"}', {"code": 'print("hi")'}),
        ('{"a": "x\ny\tz"}', {"a": "x\ny\tz"}),
        ("{a: b, c: 3}", {"a": "b", "c": 3}),
        (r"['\x41\u00e9\'\q\U0001F600']", ["Aé'\\q😀"]),
        ("{'it': 'it\\'s \"so\"'}", {"it": "it's \"so\""}),
        ("[007, 1_000, NaN]", ["007", "1_000", "NaN"]),
    ],
)  # fmt: skip
def test_repairs(text: str, value) -> None:
    for size in (1, 2, 5, 1_000_000):
        found, ended = read(text, size)
        assert ended
        assert json.loads(found) == value


@pytest.mark.parametrize("text", ["[" * 101 + "1," + "]" * 101, "[1, <", '{"a": 1', '["a', "[1 2 <tag>]"])
def test_no_literal(text: str) -> None:
    assert not read(text, 1)[1]
    assert literal(text) is None


def test_a_number_too_long_to_be_one_is_text() -> None:
    digits = "1" * 5000
    assert typed(f"[{digits}]", frozenset({"array"})) == quoted(f"[{digits}]")


@pytest.mark.parametrize(
    ("text", "types", "value"),
    [
        ("3", None, 3), ("3", {"string"}, "3"), ("3", {"string", "integer"}, 3), ("3", {"string", "null"}, "3"),
        ("null", {"string", "null"}, None), ("None", {"string", "null"}, None), ("TRUE", {"boolean"}, True),
        ("true", {"string"}, "true"), ("", {"object"}, {}), ("", {"array"}, []), ("", {"string"}, ""), ("", None, ""),
        ('"3"', {"integer"}, 3), ("three", {"integer"}, "three"), ('"q"', None, '"q"'), ("[1, 'a']", {"array"}, [1, "a"]),
        ("{'a': None}", None, {"a": None}), (" 3 ", {"integer"}, 3), (" 3 ", {"string"}, " 3 "), ("1.5e10", {"number"}, 1.5e10),
    ],
)  # fmt: skip
def test_typed(text: str, types, value) -> None:
    assert json.loads(typed(text, frozenset(types) if types else None)) == value


def test_quoted_is_json() -> None:
    assert json.loads(quoted('"\\\n\x00é')) == '"\\\n\x00é'
