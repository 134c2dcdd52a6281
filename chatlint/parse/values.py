"""Values that have come to their end: what literals and raw text stand for, written as JSON."""

from __future__ import annotations

import json
from functools import lru_cache

from chatlint.conversation import JSON
from chatlint.lazy import regex
from chatlint.parse.literals import WORDS, Literal, number, quoted
from chatlint.parse.schemas import STRING, Types, type_of

_SHORT = 24
"""Longest text, in characters, of which it is remembered what it stands for."""
_whole = regex(r"-?(?:0|[1-9][0-9]{0,99})")


def literal(text: str) -> str | None:
    """`text` as JSON, if it is one JSON or Python literal and nothing else."""
    text = text.strip()
    if text.lower() in WORDS and text in ("true", "false", "null", "True", "False", "None"):
        return WORDS[text.lower()]
    if number(text):
        return text
    if text[:1] not in ("{", "[", "(", '"', "'"):
        return None
    if decoded(text) is not NOTHING:
        return text
    reader = Literal()
    end = reader.read(text, 0, True)
    whole = reader.ended and end == len(text)
    return reader.json if whole and decoded(reader.json) is not NOTHING else None


NOTHING = object()
"""What `decoded` gives where there is no value."""


def decoded(text: str) -> object:
    """The value of JSON text; NOTHING if it is not valid JSON."""
    try:
        return _decode(text)
    except (ValueError, RecursionError):
        return NOTHING


def _refuse(word: str) -> JSON:
    raise ValueError(f"{word} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse).decode


def typed(text: str, types: Types | None) -> str:
    """The JSON value that raw `text` stands for, where `types` are allowed (None: any, unknown).

    No string allowed: a literal, in JSON or Python, however written; else the text itself, as a string.
    String alone: the text itself. String among others, or unknown: a literal of another allowed type, else
    the text.
    """
    return _typed_short(text, types) if len(text) <= _SHORT else _typed(text, types)


def _typed(text: str, types: Types | None) -> str:
    """See `typed`."""
    if types == STRING:
        return quoted(text)
    found = literal(text)
    if types is None:
        return found if found and found[0] != '"' else quoted(text)
    if found and _whole.fullmatch(found) and "integer" in types:
        return found
    value = decoded(found) if found else NOTHING
    if value is not NOTHING and type_of(value) in types and not isinstance(value, str):  # type: ignore[arg-type]
        return found or ""
    word = WORDS.get(text.strip().lower())
    if word and ({"true": "boolean", "false": "boolean"}.get(word, "null")) in types:
        return word
    if "string" in types:
        return quoted(text)
    if isinstance(value, str):
        return typed(value, types)
    if found:
        return found
    empty = {"object": "{}", "array": "[]", "null": "null"}
    return next(
        (empty[t] for t in ("object", "array", "null") if t in types and not text.strip()), quoted(text)
    )


_typed_short = lru_cache(maxsize=8192)(_typed)
"""Short values are few and ever the same."""
