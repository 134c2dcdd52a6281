"""What the tools' JSON Schemas say about types, as far as it decides how a text is read.

Sources: JSON Schema 2020-12 (`type`, `enum`, `const`, `anyOf`, `oneOf`, `allOf`, `$ref` inside the document),
OpenAPI's `nullable`, and the short type names that tool definitions in the wild use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from chatlint.conversation import JSON, Tool, objects

Types: TypeAlias = frozenset[str]

STRING: Final[Types] = frozenset({"string"})
ALL: Final[Types] = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})
_SHORT = {
    "str": "string", "text": "string", "int": "integer", "float": "number", "double": "number",
    "bool": "boolean", "list": "array", "tuple": "array", "dict": "object", "none": "null",
}  # fmt: skip
_HOPS = 32
"""How many references and combinations are followed before a schema counts as saying nothing."""
_REMEMBERED = 1000
"""How many members of one schema are kept; a model may write any key."""


def type_of(value: JSON) -> str:
    """The JSON type of a decoded value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) else "number"
    return "object" if isinstance(value, Mapping) else "array"


class Schema:
    """One schema inside a document, read on demand."""

    def __init__(self, node: JSON, root: JSON) -> None:
        self._node = node
        self._root = root
        self._members: dict[str, Schema] = {}

    @cached_property
    def types(self) -> Types | None:
        """The JSON types it allows ("number" implies "integer"); None if it does not say."""
        types = _types(self._node, self._root, _HOPS)
        return types | {"integer"} if types and "number" in types else types

    def member(self, key: str) -> Schema:
        """The schema of a member of an object."""
        if key not in self._members and len(self._members) < _REMEMBERED:
            self._members[key] = self._member(key)
        return self._members.get(key) or self._member(key)

    def _member(self, key: str) -> Schema:
        for node in self._branches(self._node, _HOPS):
            properties = node.get("properties")
            if isinstance(properties, Mapping) and key in properties:
                return Schema(properties[key], self._root)
        for node in self._branches(self._node, _HOPS):
            if isinstance(node.get("additionalProperties"), Mapping):
                return Schema(node["additionalProperties"], self._root)
        return ANYTHING

    @cached_property
    def item(self) -> Schema:
        """The schema of the items of an array."""
        for node in self._branches(self._node, _HOPS):
            if isinstance(node.get("items"), Mapping):
                return Schema(node["items"], self._root)
        return ANYTHING

    def _branches(self, node: JSON, hops: int) -> Iterator[Mapping[str, JSON]]:
        """The schema itself and all that it refers to or combines."""
        if not isinstance(node, Mapping) or hops == 0:
            return
        yield node
        if isinstance(node.get("$ref"), str):
            yield from self._branches(_resolve(node["$ref"], self._root), hops - 1)
        for word in ("allOf", "anyOf", "oneOf"):
            for branch in _list(node.get(word)):
                yield from self._branches(branch, min(hops - 1, 4))


def _types(node: JSON, root: JSON, hops: int) -> Types | None:
    """The types a schema allows, None if it does not restrict them."""
    if not isinstance(node, Mapping) or hops == 0:
        return None
    limits = [_declared(node), _listed(node)]
    if isinstance(node.get("$ref"), str):
        limits.append(_types(_resolve(node["$ref"], root), root, hops - 1))
    for word in ("anyOf", "oneOf"):
        branches = [_types(branch, root, min(hops - 1, 4)) for branch in _list(node.get(word))]
        known = [types for types in branches if types is not None]
        if branches and len(known) == len(branches):
            limits.append(frozenset().union(*known))
    limits += [_types(branch, root, min(hops - 1, 4)) for branch in _list(node.get("allOf"))]
    known = [types for types in limits if types is not None]
    if not known:
        return _implied(node)
    types = frozenset.intersection(*known) or known[0]
    return types | {"null"} if node.get("nullable") is True else types


def _declared(node: Mapping[str, JSON]) -> Types | None:
    """What `type` says."""
    declared = node.get("type")
    names = [declared] if isinstance(declared, str) else [t for t in _list(declared) if isinstance(t, str)]
    types = frozenset(_SHORT.get(name.lower(), name.lower()) for name in names) & ALL
    return types or None


def _listed(node: Mapping[str, JSON]) -> Types | None:
    """What `enum` and `const` say."""
    values = _list(node.get("enum")) or ([node["const"]] if "const" in node else [])
    return frozenset(type_of(value) for value in values) or None


def _implied(node: Mapping[str, JSON]) -> Types | None:
    if "properties" in node:
        return frozenset({"object"})
    return frozenset({"array"}) if "items" in node else None


def _list(value: JSON) -> Sequence[JSON]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _resolve(reference: JSON, root: JSON) -> JSON:
    """What a `$ref` inside the document points to; None if nothing."""
    node = root
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    for token in reference[1:].split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, Mapping) or name not in node:
            return None
        node = node[name]
    return node


ANYTHING: Final = Schema(None, None)


class Tools:
    """The tools of a request: who is declared, and what their arguments are."""

    def __init__(self, tools: Sequence[Tool] | None) -> None:
        self._parameters: dict[str, Schema] = {}
        for tool in () if tools is None else objects(tools, "tools"):
            function = tool.get("function", tool)
            if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
                continue
            schema = function.get("parameters", function.get("input_schema"))
            self._parameters[str(function["name"])] = Schema(schema, schema)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Declared names, longest first."""
        return tuple(sorted(self._parameters, key=len, reverse=True))

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def parameters(self, name: str) -> Schema:
        """The schema of a tool's arguments."""
        return self._parameters.get(name, ANYTHING)
