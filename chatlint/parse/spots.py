"""Where a value stands among the members of a call, and what that says about it."""

from __future__ import annotations

from typing import NamedTuple

from chatlint.parse.layouts import Layout, Way
from chatlint.parse.markers import Found, MarkerSet, fit
from chatlint.parse.schemas import STRING, Schema
from chatlint.parse.stream import Stream

LONGEST_KEY = 512
"""Longest key, in characters."""
_spot = tuple.__new__
"""As `Spot(…)`, but quicker: there is one for every value."""


class Outer(NamedTuple):
    """What ends the value around: its closing mark, for its key."""

    ends: MarkerSet[None]
    key: str

    def match(self, stream: Stream, at: int) -> Found[None] | int:
        """The outer value's closing mark at a place; NO, or MORE."""
        return fit(self.ends, stream, at, self.key)


NOWHERE = Outer(MarkerSet(()), "")


class Spot(NamedTuple):
    """Where a value stands."""

    layout: Layout
    way: Way
    key: str
    schema: Schema
    around: Schema
    """That of the object or array the value is in."""
    outer: Outer
    depth: int

    def next(self, way: Way, key: str) -> Spot:
        """Where the next member's value stands."""
        schema = self.around.member(key)
        return _spot(Spot, (self.layout, way, key, schema, self.around, self.outer, self.depth))

    @property
    def streams(self) -> bool:
        """Whether the value can be nothing but a raw string."""
        way, types = self.way, self.schema.types
        return way.raw and (types == STRING or (way.types == STRING and (types is None or "string" in types)))

    def holds_literal(self, char: str) -> bool:
        """Whether a value that begins with `char` is a container or quoted, not raw."""
        if char in "{[(":
            types = self.schema.types
            return not (self.way.raw and (types is None or "string" in types))
        return char in "\"'" and not self.way.raw


def unquoted(key: str) -> str:
    """A key without whitespace and quotes around it."""
    key = key.strip()
    return key[1:-1] if len(key) > 1 and key[0] in "\"'" and key[-1] == key[0] else key
