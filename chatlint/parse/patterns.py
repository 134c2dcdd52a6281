"""Patterns: what the machine looks for, as one readable string with named gaps.

A pattern is literal text with placeholders in it: `<arg_key>⟨key⟩</arg_key>`. It is how every mark of an
`OutputFormat` is written, so that a person, a report and the machine read the same thing.

    ⟨name⟩       the tool's name; a second one in the same call is the same name again
    ⟨id⟩         the call's id
    ⟨arguments⟩  all arguments of the call
    ⟨key⟩        an argument's name; a second one in the same member is the same key again
    ⟨value⟩      an argument's value
    ⟨n⟩          a counter: one or more digits

A literal `⟨` is written `⟨⟨⟩` (`literal` does it).
"""

from __future__ import annotations

import json
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

from chatlint.errors import UsageError
from chatlint.lazy import regex
from chatlint.records import dataclass


class Slot(Enum):
    """The gaps a pattern can have. No StrEnum: a slot must not pass for literal text."""

    NAME = "name"
    ID = "id"
    ARGUMENTS = "arguments"
    KEY = "key"
    VALUE = "value"
    COUNTER = "n"

    @property
    def placeholder(self) -> str:
        """The slot as it stands in a pattern: `⟨name⟩`."""
        return f"⟨{self.value}⟩"


Piece: TypeAlias = str | Slot

NAME = Slot.NAME.placeholder
ID = Slot.ID.placeholder
ARGUMENTS = Slot.ARGUMENTS.placeholder
KEY = Slot.KEY.placeholder
VALUE = Slot.VALUE.placeholder
COUNTER = Slot.COUNTER.placeholder

_PLACEHOLDER = regex("⟨([^⟨⟩]*|⟨)⟩")


def literal(text: str) -> str:
    """`text` as a pattern that means exactly this text."""
    return text.replace("⟨", "⟨⟨⟩")


@lru_cache(maxsize=4096)
def pieces(pattern: str) -> tuple[Piece, ...]:
    """A pattern as literal texts and slots, in order; literals are never empty and never adjacent.

    Raises UsageError for a placeholder that is none.
    """
    found: list[Piece] = []
    text = ""
    at = 0
    for match in _PLACEHOLDER.finditer(pattern):
        text += pattern[at : match.start()]
        at = match.end()
        if match[1] == "⟨":
            text += "⟨"
            continue
        slot = _slot(match[1], pattern)
        found += [text, slot] if text else [slot]
        text = ""
    text += pattern[at:]
    return (*found, text) if text else tuple(found)


def _slot(name: str, pattern: str) -> Slot:
    try:
        return Slot(name)
    except ValueError:
        raise UsageError(
            f"unknown placeholder ⟨{name}⟩ in the pattern {pattern!r}",
            hint=f"known are {', '.join(slot.placeholder for slot in Slot)}; a literal ⟨ is written ⟨⟨⟩",
        ) from None


def slots(pattern: str) -> tuple[Slot, ...]:
    """The slots of a pattern, in order, repeats included."""
    return tuple(piece for piece in pieces(pattern) if isinstance(piece, Slot))


def split_at(pattern: str, slot: Slot) -> tuple[str, str]:
    """The pattern before and after its first `slot`; ("", "") around a pattern that lacks it."""
    before, _, after = pattern.partition(slot.placeholder)
    return before, after


def check(pattern: str, field: str, *, allowed: tuple[Slot, ...] = (), once: tuple[Slot, ...] = ()) -> None:
    """Raises UsageError unless `pattern` holds no other slots than `allowed` and each of `once` once."""
    found = slots(pattern)
    for slot in found:
        if slot not in allowed:
            known = ", ".join(slot.placeholder for slot in allowed) or "none"
            raise UsageError(
                f"{field}: {slot.placeholder} has no meaning there (in {pattern!r})",
                hint=f"placeholders allowed there: {known}; plain text goes through patterns.literal()",
            )
    for slot in once:
        if found.count(slot) != 1:
            raise UsageError(
                f"{field}: expected one {slot.placeholder} in {pattern!r}, found {found.count(slot)}"
            )


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Where things stand in an object literal: keys from the outside in. A key ⟨name⟩ is the tool's name."""

    arguments: tuple[str, ...]
    name: tuple[str, ...] | None
    id: tuple[str, ...] | None
    arguments_quoted: bool
    """Whether the arguments are a string that holds JSON."""
    id_first: bool
    """Whether the id stands before the arguments."""
    arguments_first: bool
    """Whether the arguments stand before the name."""


_BARE = regex(r'"(?:[^"\\]|\\.)*"|⟨\w+⟩')


@lru_cache(maxsize=512)
def skeleton(body: str) -> Skeleton:
    """Reads the skeleton of a json or python body.

    Raises UsageError if it is no object literal, or the arguments stand inside an array.
    """
    bare = "⟨bare⟩"
    text = _BARE.sub(lambda m: m[0] if m[0][0] == '"' else f'"{bare}{m[0]}"', body)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"tool_calls.body: {body!r} is not an object literal: {error}",
            hint='such as {"name": "⟨name⟩", "arguments": ⟨arguments⟩}; any other body has the syntax "text"',
        ) from None
    found: dict[str, tuple[str, ...]] = {}
    _walk(value, (), found)
    quoted = ARGUMENTS in found
    arguments = found.get(ARGUMENTS) or found.get(bare + ARGUMENTS)
    if not isinstance(value, dict) or arguments is None:
        raise UsageError(f"tool_calls.body: no member of {body!r} holds ⟨arguments⟩")
    name = found.get(NAME) or found.get(bare + NAME)
    identity = found.get(ID) or found.get(bare + ID)
    if name is None and NAME not in arguments and identity is None:
        raise UsageError(f"tool_calls.body: neither ⟨name⟩ nor ⟨id⟩ in {body!r}")
    before = body[: body.index(ARGUMENTS)]
    name_behind = NAME in body and NAME not in before
    return Skeleton(arguments, name, identity, quoted, ID in before, name_behind)


def _walk(value: object, path: tuple[str, ...], found: dict[str, tuple[str, ...]]) -> None:
    """Notes the path of every string inside objects."""
    if isinstance(value, str):
        found.setdefault(value, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            _walk(item, (*path, key), found)
