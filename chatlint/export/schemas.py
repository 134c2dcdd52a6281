"""JSON Schemas as grammars of JSON text, or of Python literals.

What is followed: `type` (also a list), `properties`, `required`, `additionalProperties`, `items`,
`prefixItems`, `minItems`, `maxItems`, `enum`, `const`, `anyOf`, `oneOf`, `allOf` (its parts laid over one
another), `$ref` inside the document, `nullable`. Other restrictions are not enforced; the grammar says so in
`looser`. An object that names its properties has no others unless the schema allows them, as tool definitions
mean it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

from chatlint.conversation import JSON, JSONObject
from chatlint.export.grammar import GAP, Many, Node, Ref, Rules, Text, choice, seq
from chatlint.export.objects import Shape, members_of
from chatlint.parse.schemas import ALL, Schema, type_of

_UNENFORCED = (
    "pattern", "format", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "uniqueItems", "contains", "minProperties", "maxProperties",
    "propertyNames", "patternProperties", "not", "if", "dependentRequired", "dependentSchemas",
)  # fmt: skip
_ITEMS = 64
"""Largest `minItems` and `maxItems` that are enforced."""
_HOPS = 16


class Dialect(StrEnum):
    """How literals are written."""

    JSON = "json"
    PYTHON = "python"


_WORDS: Mapping[Dialect, Mapping[JSON, tuple[str, ...]]] = {
    Dialect.JSON: {True: ("true",), False: ("false",), None: ("null",)},
    Dialect.PYTHON: {True: ("True", "true"), False: ("False", "false"), None: ("None", "null")},
}


def words(value: JSON, dialect: Dialect) -> Node:
    """A constant value, in every spelling that the dialect has for it."""
    if value is None or isinstance(value, bool):
        return choice(*(Text(word) for word in _WORDS[dialect][value]))
    if isinstance(value, int | float):
        return Text(json.dumps(value))
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return choice(Text(text), Text(repr(value))) if dialect is Dialect.PYTHON else Text(text)
    if isinstance(value, Mapping):
        rows = [
            seq(words(key, dialect), GAP, Text(":"), GAP, words(item, dialect)) for key, item in value.items()
        ]
        return _row("{", rows, "}")
    return _row("[", [words(item, dialect) for item in value], "]")


def _row(start: str, rows: Sequence[Node], end: str) -> Node:
    comma = seq(GAP, Text(","), GAP)
    spaced = [part for index, row in enumerate(rows) for part in ((comma, row) if index else (row,))]
    return seq(Text(start), GAP, *spaced, GAP, Text(end))


def resolve(node: JSON, root: JSON, hops: int = _HOPS) -> JSONObject:
    """A schema with its references followed and its `allOf` laid over one another; {} if it says nothing."""
    if not isinstance(node, Mapping) or hops == 0:
        return {}
    found: dict[str, JSON] = {}
    reference = node.get("$ref")
    if isinstance(reference, str):
        found.update(resolve(target(reference, root), root, hops - 1))
    for part in _list(node.get("allOf")):
        _lay_over(found, resolve(part, root, hops - 1))
    _lay_over(found, {key: value for key, value in node.items() if key not in ("$ref", "allOf")})
    return found


def _lay_over(found: dict[str, JSON], more: JSONObject) -> None:
    for key, value in more.items():
        known = found.get(key)
        if key == "properties" and isinstance(known, Mapping) and isinstance(value, Mapping):
            found[key] = {**known, **value}
        elif key == "required":
            names = [name for name in (*_list(known), *_list(value)) if isinstance(name, str)]
            found[key] = list(dict.fromkeys(names))
        else:
            found[key] = value


def target(reference: str, root: JSON) -> JSON:
    """What a reference inside the document points to; None if nothing."""
    node = root
    if not reference.startswith("#"):
        return None
    for token in reference[1:].split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or name not in node:
            return None
        node = node[name]
    return node


def _list(value: JSON) -> Sequence[JSON]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def branches(schema: JSONObject) -> list[JSONObject]:
    """The alternatives of a schema (`anyOf`, `oneOf`), what stands beside them laid over each."""
    found = [*_list(schema.get("anyOf")), *_list(schema.get("oneOf"))]
    around = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
    made: list[JSONObject] = []
    for branch in found:
        merged = dict(around)
        _lay_over(merged, branch if isinstance(branch, Mapping) else {})
        made.append(merged)
    return made


def types_of(schema: JSONObject, root: JSON) -> frozenset[str]:
    """The JSON types a schema allows; all if it does not say. "number" alone stands for integers too."""
    types = Schema(schema, root).types or ALL
    return types - {"integer"} if "number" in types else types


def constants(schema: JSONObject) -> list[JSON] | None:
    """The values of `enum` or `const`, None if there are none."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return list(_list(listed)) if _list(listed) else None


def properties_of(schema: JSONObject) -> Mapping[str, JSON]:
    """The members an object names."""
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def required_of(schema: JSONObject) -> tuple[str, ...]:
    """The members an object must have, of those it names, in the order in which it names them."""
    listed = _list(schema.get("required"))
    return tuple(key for key in properties_of(schema) if key in listed)


def extra_of(schema: JSONObject) -> JSON:
    """The schema of further members; False if there are none."""
    if "additionalProperties" in schema:
        return schema["additionalProperties"]
    return not properties_of(schema)


class Literals:
    """Grammars of literals in one dialect, for the schemas of one document."""

    def __init__(self, rules: Rules, dialect: Dialect, root: JSON) -> None:
        self._rules = rules
        self._dialect = dialect
        self._root = root
        self._named: dict[str, Ref] = {}

    def value(self, node: JSON, name: str) -> Node:
        """A value that the schema allows."""
        return self._value(node, name, frozenset()) or self.anything()

    def _value(self, node: JSON, name: str, above: frozenset[str]) -> Node | None:
        """`above`: the schemas of which this one is an alternative. One that is its own alternative adds
        nothing."""
        if not isinstance(node, Mapping) or not ("$ref" in node or branches(node)):
            return self._one(resolve(node, self._root), name)
        key = json.dumps(node, sort_keys=True, ensure_ascii=False)
        if key in above:
            return None
        if key not in self._named:
            self._rules.recursive(name, lambda own: self._alternatives(node, name, above | {key}, own))
        return self._named[key]

    def _alternatives(self, node: JSONObject, name: str, above: frozenset[str], own: Ref) -> Node:
        """The body of a rule for a schema that refers to others, or has alternatives."""
        self._named[json.dumps(node, sort_keys=True, ensure_ascii=False)] = own
        schema = resolve(node, self._root)
        options = branches(schema)
        if not options:
            return self._one(schema, name)
        found = [self._value(option, name, above) for option in options]
        return choice(*([node for node in found if node is not None] or [self.anything()]))

    def _one(self, schema: JSONObject, name: str) -> Node:
        for word in _UNENFORCED:
            if word in schema:
                self._rules.looser(word)
        listed = constants(schema)
        if listed is not None:
            return choice(*(words(value, self._dialect) for value in listed))
        if not schema:
            return self.anything()
        types = types_of(schema, self._root)
        return choice(*(self._typed(json_type, schema, name) for json_type in _ordered(types)))

    def _typed(self, json_type: str, schema: JSONObject, name: str) -> Node:
        match json_type:
            case "string":
                return Ref("pystring" if self._dialect is Dialect.PYTHON else "string")
            case "integer" | "number":
                return Ref(json_type)
            case "boolean":
                return choice(words(True, self._dialect), words(False, self._dialect))
            case "array":
                return self._array(schema, name)
            case "object":
                return self.object(schema, name)
            case _:
                return words(None, self._dialect)

    def anything(self) -> Node:
        """Any value."""
        return self._once("any", lambda own: choice(*self._any_values(own)))

    def _any_values(self, own: Node) -> Iterator[Node]:
        for json_type in ("string", "number", "boolean", "null"):
            yield self._typed(json_type, {}, "any")
        yield self._bracketed("[", _listed(own), "]")
        yield self._bracketed("{", _listed(self._member(self._typed("string", {}, "any"), own)), "}")

    def _bracketed(self, start: str, inner: Node, end: str) -> Node:
        return seq(Text(start), GAP, Many(seq(inner, GAP), 0, 1), Text(end))

    def _once(self, name: str, made: Callable[[Ref], Node]) -> Ref:
        name = f"{name}-{self._dialect}"
        if name not in self._named:

            def noted(own: Ref) -> Node:
                self._named[name] = own
                return made(own)

            self._rules.recursive(name, noted)
        return self._named[name]

    def _member(self, key: Node, value: Node) -> Node:
        return seq(key, GAP, Text(":"), GAP, value)

    def _array(self, schema: JSONObject, name: str) -> Node:
        """An array; leading items of their own schemas, then all of one."""
        leading = [
            self.value(item, f"{name}-{index}") for index, item in enumerate(_list(schema.get("prefixItems")))
        ]
        items = schema.get("items")
        other = self.value(items if isinstance(items, Mapping) else {}, f"{name}-item")
        low, high = (_bound(schema.get(word)) for word in ("minItems", "maxItems"))
        comma = seq(GAP, Text(","), GAP)
        if leading:
            tail = () if items is False else (Many(seq(comma, other)),)
            rows = [seq(leading[0], *(seq(comma, one) for one in leading[1:]), *tail)]
        elif high == 0:
            rows = []
        else:
            rows = [
                seq(
                    other, Many(seq(comma, other), max((low or 0) - 1, 0), None if high is None else high - 1)
                )
            ]
        inner = seq(*rows, GAP) if rows else GAP
        return seq(Text("["), GAP, inner if low or leading else Many(inner, 0, 1), Text("]"))

    def object(self, schema: JSONObject, name: str) -> Node:
        """An object, its members in any order (see `objects`)."""
        shape = Shape(
            {
                key: self._member(words(key, self._dialect), self.value(member, f"{name}-{key}"))
                for key, member in properties_of(schema).items()
            },
            required_of(schema),
            self._extra(schema, name),
        )
        separator = seq(GAP, Text(","), GAP)
        inner = members_of(self._rules, name, shape, separator)
        return seq(Text("{"), GAP, inner, GAP, Text("}"))

    def _extra(self, schema: JSONObject, name: str) -> Node | None:
        extra = extra_of(schema)
        if extra is False:
            return None
        value = self.value(extra, f"{name}-extra") if isinstance(extra, Mapping) else self.anything()
        return self._member(self._typed("string", {}, name), value)


def _bound(value: JSON) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= _ITEMS else None


def _listed(item: Node) -> Node:
    return seq(item, Many(seq(GAP, Text(","), GAP, item)))


_ORDER = ("string", "integer", "number", "boolean", "null", "array", "object")


def _ordered(types: frozenset[str]) -> list[str]:
    return [json_type for json_type in _ORDER if json_type in types]


def literal_types(values: Sequence[JSON]) -> frozenset[str]:
    """The types of constant values."""
    return frozenset(type_of(value) for value in values)
