"""JSON Schemas as grammars, against jsonschema."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.errors import UsageError
from chatlint.export.gbnf import render_gbnf
from chatlint.export.grammar import Rules
from chatlint.export.lark import render_lark
from chatlint.export.schemas import Dialect, Literals
from tests.export.gbnf_machine import Machine
from tests.export.judges import JUDGES


def grammar_of(schema, dialect=Dialect.JSON):
    rules = Rules()
    return rules.finish(Literals(rules, dialect, schema).value(schema, "value"))


def accepts(schema, text, dialect=Dialect.JSON):
    answers = {name: judge(grammar_of(schema, dialect), text) == "accepted" for name, judge in JUDGES.items()}
    assert len(set(answers.values())) == 1, answers
    return answers["gbnf"]


NODE = {
    "$defs": {"node": {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}},
    "$ref": "#/$defs/node",
}  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string"}, ["", "a\n\"b\"", "ü"], [1, None, ["a"]]),
        ({"type": "integer"}, [0, -12, 10**12], [1.5, "1", True]),
        ({"type": "number"}, [0, -1.25, 1e30], ["1", None]),
        ({"type": ["boolean", "null"]}, [True, False, None], [0, "true"]),
        ({"type": "string", "nullable": True}, ["a", None], [1]),
        ({"enum": ["a", 1, None, {"b": [2]}]}, ["a", 1, None, {"b": [2]}], ["b", 2]),
        ({"const": "x"}, ["x"], ["y"]),
        ({"type": "array", "items": {"type": "integer"}}, [[], [1], [1, 2, 3]], [["a"], [1, "a"], 1]),
        ({"type": "array", "minItems": 2, "maxItems": 3}, [[1, "a"], [1, 2, 3]], [[], [1], [1, 2, 3, 4]]),
        ({"type": "array", "maxItems": 0}, [[]], [[1]]),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
         [["a", 1]], [["a"], [1, "a"], ["a", 1, 2]]),
        ({"type": "object"}, [{}, {"a": 1, "b": {"c": [None]}}], [[], "a"]),
        ({"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]},
         [{"a": 1}, {"a": 1, "b": "x"}, {"b": [1], "a": 2}], [{}, {"b": 1}, {"a": "x"}, {"a": 1, "c": 1}]),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}},
         [{}, {"a": "x", "c": 1}], [{"c": "x"}]),
        ({"type": "object", "properties": {k: {"type": "integer"} for k in "abcdefgh"}, "required": ["h", "a"]},
         [{"h": 1, "a": 2}, {"b": 1, "a": 1, "c": 2, "h": 3}], [{"a": 1}, {"h": 1, "b": 2}]),
        ({"type": "object", "properties": {k: {"type": "integer"} for k in "abcdefgh"}, "required": list("abcdef")},
         [dict.fromkeys("abcdef", 1), dict.fromkeys("gabcdhef", 1)], [dict.fromkeys("abcde", 1)]),
        ({"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"x": {"type": "string"}}}]},
         [1, {}, {"x": "y"}], ["a", {"x": 1}]),
        ({"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}]},
         [{"a": 1, "b": "x"}, {"b": "x"}], [{"a": 1}, {"b": 1}]),
        (NODE, [{}, {"next": None}, {"next": {"next": {"next": None}}}], [{"next": 1}]),
        ({}, [1, "a", None, [1, {"a": []}]], []),
        (True, [1, "a"], []),
    ],
)  # fmt: skip
def test_values(schema, good, bad):
    for value in good:
        assert accepts(schema, json.dumps(value)), value
        assert accepts(schema, json.dumps(value, ensure_ascii=False, indent=2)), value
    for value in bad:
        assert not accepts(schema, json.dumps(value)), value


def test_python_literals():
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "string"}, "c": {}}}
    for text in ("{'a': True, 'b': 'it', 'c': [None, False]}", '{"a": true, "b": "it\'s"}'):
        assert accepts(schema, text, Dialect.PYTHON), text
    for text in ("{'a': 'True'}", "{'b': True}"):
        assert not accepts(schema, text, Dialect.PYTHON), text


def test_what_is_not_enforced_is_said():
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^x$", "maxLength": 3}}}
    grammar = grammar_of(schema)
    assert grammar.looser == ("pattern", "maxLength")
    assert "# not enforced: pattern, maxLength" in render_gbnf(grammar)
    assert "// not enforced: pattern, maxLength" in render_lark(grammar)
    Machine(render_gbnf(grammar))


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/nowhere"},
        {"$ref": "https://example.com/schema"},
        {"anyOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "integer"}], "$defs": {"b": {"anyOf": [{"$ref": "#"}]}}},
        {"allOf": [{"$ref": "#"}]},
        {"type": "object", "properties": 1, "required": "a", "anyOf": "x"},
        {"type": 7, "enum": {}, "items": [1]},
        "no schema",
        None,
    ],
)
def test_odd_schemas_give_grammars(schema):
    machine = Machine(render_gbnf(grammar_of(schema)))
    assert machine.read("1") in ("accepted", "refused at 0")


def test_too_many_rules_are_refused(monkeypatch):
    monkeypatch.setattr("chatlint.export.grammar.GRAMMAR_RULES", 50)
    properties = {f"k{index}": {"anyOf": [{"const": index}]} for index in range(60)}
    with pytest.raises(UsageError, match="rules"):
        grammar_of({"type": "object", "properties": properties})


scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.sampled_from(["", "a", "b c", '"', "\n"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
types = st.sampled_from(["string", "integer", "boolean", "null", "array", "object"])
leaves = st.fixed_dictionaries({"type": types}) | st.fixed_dictionaries(
    {"enum": st.lists(scalars, min_size=1, max_size=3)}
)
schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({
            "type": st.just("object"),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        }),
    ),
    max_leaves=4,
)  # fmt: skip


def closed(schema):
    """The schema as tool definitions mean it: what names its members has no others, and requires only those."""
    if not isinstance(schema, dict):
        return [closed(part) for part in schema] if isinstance(schema, list) else schema
    made = {key: closed(value) if key != "enum" else value for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict):
        made["properties"] = {key: closed(value) for key, value in schema["properties"].items()}
        made["additionalProperties"] = False
        made["required"] = [key for key in schema.get("required", []) if key in schema["properties"]]
    return made


@settings(max_examples=60, deadline=None)
@given(schemas, values)
def test_the_grammar_accepts_what_is_valid(schema, value):
    valid = jsonschema.Draft202012Validator(closed(schema)).is_valid(value)
    assert accepts(schema, json.dumps(value)) == valid
