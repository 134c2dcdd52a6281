"""What JSON Schemas say about types."""

from __future__ import annotations

import pytest

from chatlint.parse.schemas import Schema, Tools

REFERRED = {"$defs": {"a": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}, "far/x": {"type": "null"}}}


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"type": "number"}, {"number", "integer"}),
        ({"type": "STR"}, {"string"}),
        ({"type": "int"}, {"integer"}),
        ({"type": "any"}, None),
        ({}, None),
        (True, None),
        (None, None),
        ({"enum": ["a", 1, None]}, {"string", "integer", "null"}),
        ({"const": True}, {"boolean"}),
        ({"type": "string", "enum": ["a", 1]}, {"string"}),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"string", "integer"}),
        ({"oneOf": [{"type": "string"}, {}]}, None),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": "integer"}]}, {"integer"}),
        ({"type": "string", "nullable": True}, {"string", "null"}),
        ({"properties": {}}, {"object"}),
        ({"items": {}}, {"array"}),
        ({"$ref": "#/$defs/a"}, {"integer"}),
        ({"$ref": "#/$defs/far~1x"}, {"null"}),
        ({"$ref": "#/$defs/loop"}, None),
        ({"$ref": "#/$defs/none"}, None),
        ({"$ref": "https://example.org/schema"}, None),
        ({"type": 3, "enum": 3, "anyOf": 3}, None),
    ],
)
def test_types(schema, types: set | None) -> None:
    root = {**REFERRED, "properties": {"x": schema}}
    assert Schema(root, root).member("x").types == types


def test_members_and_items() -> None:
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"type": "integer"}},
            "open": {"additionalProperties": {"type": "boolean"}},
        },
        "anyOf": [{"properties": {"late": {"type": "null"}}}],
    }
    root = Schema(schema, schema)
    assert root.member("list").item.types == {"integer"}
    assert root.member("open").member("anything").types == {"boolean"}
    assert root.member("late").types == {"null"}
    assert root.member("nothing").types is None
    assert root.member("nothing").member("x").item.types is None


def test_a_bomb_is_bounded() -> None:
    schema = {
        "$defs": {"x": {"anyOf": [{"$ref": "#/$defs/x"}] * 50}},
        "properties": {"a": {"$ref": "#/$defs/x"}},
    }
    root = Schema(schema, schema)
    assert root.member("a").types is None
    assert root.member("a").member("b").types is None


def test_tools() -> None:
    flat = {"name": "flat", "input_schema": {"properties": {"a": {"type": "string"}}}}
    tools = Tools(
        [{"type": "function", "function": {"name": "f"}}, flat, {"function": {}}, {"type": "web_search"}]
    )
    assert tools.names == ("flat", "f")
    assert "f" in tools
    assert tools.parameters("flat").member("a").types == {"string"}
    assert tools.parameters("nobody").member("a").types is None
    assert Tools(None).names == ()
