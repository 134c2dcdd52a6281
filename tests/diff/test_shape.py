"""The shape of files, against jsonschema."""

from __future__ import annotations

import json
from copy import deepcopy

from jsonschema import Draft202012Validator

from chatlint.diff.shape import complaint
from chatlint.pipeline import check
from tests.conftest import ROOT

SCHEMA = json.loads((ROOT / "chatlint" / "report" / "report.schema.json").read_text(encoding="utf-8"))
VALUES = (None, "x", 3, 0.5, True, [], {}, [3])


def members(schema):
    """Every name that the schema requires anywhere."""
    if isinstance(schema, list):
        return {name for item in schema for name in members(item)}
    if not isinstance(schema, dict):
        return set()
    required = schema.get("required")
    own = set(required) if isinstance(required, list) else set()
    return own | {name for value in schema.values() for name in members(value)}


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def put(report, path, value):
    changed = deepcopy(report)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def test_a_value_of_another_kind_is_found_wherever_jsonschema_finds_it():
    report = json.loads(json.dumps(check("corpus:chatml", cache=False).to_dict()))
    validator, needed = Draft202012Validator(SCHEMA), members(SCHEMA)
    assert complaint(report, SCHEMA, needed) == ""
    paths = [path for path in places(report) if path and "unreached" not in path]  # pairs, which nobody reads
    for number, path in enumerate(paths[:: max(len(paths) // 120, 1)]):
        changed = put(report, path, VALUES[number % len(VALUES)])
        assert (complaint(changed, SCHEMA, needed) == "") is validator.is_valid(changed), path


def test_what_is_missing_is_missed_where_it_is_needed():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a", "b"]}
    assert complaint({"b": 1}, schema, ["a"]) == "`a` is missing"
    assert complaint({"a": 1}, schema, ["a"]) == ""
    assert complaint({"a": "x", "c": 1}, schema, ["a"]) == "a: expected a whole number, found a text"


def test_of_several_alternatives_the_one_that_is_meant_says_what_is_wrong():
    one = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    assert complaint(
        {"x": {"a": ["b", 3]}}, {"properties": {"x": {"anyOf": [{"type": "null"}, one]}}}, []
    ) == ("x › a[1]: expected a text, found 3")
