"""Whether a file that somebody saved, or edited, has the shape that its JSON Schema asks for.

Only what our own schemas say is understood. More members than the schema names are fine; of those that it
requires, only the ones that the reader uses have to be there: a file of an older version has fewer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from chatlint.conversation import JSON

Schema = Mapping[str, JSON]

_KINDS: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def complaint(value: JSON, schema: Schema, needed: Collection[str]) -> str:
    """The first fault of a value, with its place in it; "" if it has none."""
    return next(_faults(value, schema, (schema, needed), ""), "").removeprefix(": ")


_Whole = tuple[Schema, Collection[str]]


def _faults(value: JSON, schema: JSON, whole: _Whole, place: str) -> Iterator[str]:
    schema = _followed(schema, whole[0])
    kinds = schema.get("type")
    named = [kinds] if isinstance(kinds, str) else list(kinds) if isinstance(kinds, list) else []
    if named and not any(_is(value, str(kind)) for kind in named):
        yield f"{place}: expected {' or '.join(_WORDS[str(kind)] for kind in named)}, found {_found(value)}"
        return
    yield from _choices(value, schema, whole, place)
    if isinstance(value, Mapping):
        yield from _members(value, schema, whole, place)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(item, schema.get("items", {}), whole, f"{place}[{index}]")


def _choices(value: JSON, schema: Schema, whole: _Whole, place: str) -> Iterator[str]:
    """Values that are not among those allowed, and texts of another form."""
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(allowed, list) and value not in allowed:
        yield f"{place}: expected {' or '.join(map(_shown, allowed))}, found {_shown(value)}"
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and isinstance(value, str) and not re.search(pattern, value):
        yield f"{place}: expected a text like {pattern}, found {_shown(value)}"
    options = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(options, list) and options:
        faults = [list(_faults(value, option, whole, place)) for option in options]
        if all(faults):
            # What is wrong inside the alternative that is meant says more than that no alternative fits.
            yield max((found[0] for found in faults), key=lambda fault: len(fault.partition(": ")[0]))


def _members(value: Mapping[str, JSON], schema: Schema, whole: _Whole, place: str) -> Iterator[str]:
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if name in whole[1] and name not in value:
            yield f"{place}: `{name}` is missing"
    known = schema.get("properties")
    properties = known if isinstance(known, Mapping) else {}
    for name, member in value.items():
        inner = properties.get(name, schema.get("additionalProperties", {}))
        yield from _faults(member, inner, whole, f"{place} › {name}" if place else name)


def _followed(schema: JSON, root: Schema) -> Schema:
    """A schema, or what it refers to; what is no object asks for nothing."""
    while isinstance(schema, Mapping) and isinstance(reference := schema.get("$ref"), str):
        target: JSON = root
        for name in reference.removeprefix("#/").split("/"):
            target = target[name] if isinstance(target, Mapping) else None
        schema = target
    return schema if isinstance(schema, Mapping) else {}


def _is(value: JSON, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _KINDS[kind])


def _found(value: JSON) -> str:
    """A value in a few words."""
    if value is None or isinstance(value, bool | int | float):
        return _shown(value)
    return next(words for kind, words in _WORDS.items() if _is(value, kind))


def _shown(value: JSON) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
