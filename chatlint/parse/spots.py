"""Where a value stands among the members of a call, and what that says about it."""

from __future__ import annotations

from typing import NamedTuple

from chatlint.parse.layouts import Layout, Way
from chatlint.parse.literals import quoted
from chatlint.parse.markers import Found, MarkerSet, fit
from chatlint.parse.schemas import STRING, Schema
from chatlint.parse.stream import Stream
from chatlint.records import dataclass

LONGEST_KEY = 512
"""Longest key, in characters."""
_SIBLINGS = 256
"""So many keys are remembered."""


class Outer(NamedTuple):
    """What ends the value around: its closing mark, for its key."""

    ends: MarkerSet[None]
    key: str

    def match(self, stream: Stream, at: int) -> Found[None] | int:
        """The outer value's closing mark at a place; NO, or MORE."""
        return fit(self.ends, stream, at, self.key)


NOWHERE = Outer(MarkerSet(()), "")


@dataclass(slots=True)
class Spot:
    """Where a value stands."""

    layout: Layout
    way: Way
    key: str
    schema: Schema
    around: Schema
    """That of the object or array the value is in."""
    outer: Outer
    depth: int
    streams: bool
    """Whether the value can be nothing but a raw string."""
    siblings: dict[str, tuple[Spot, str]]
    """See `next`, by the key as it stands."""

    @staticmethod
    def of(
        layout: Layout, way: Way, key: str, schema: Schema, around: Schema, outer: Outer, depth: int
    ) -> Spot:
        """A spot with nothing known of its siblings."""
        return Spot(layout, way, key, schema, around, outer, depth, _streams(way, schema), {})

    def next(self, way: Way, written: str) -> tuple[Spot, str]:
        """Where the next member's value stands, and the JSON between this one's and it."""
        found = self.siblings.get(written)
        if found is None or found[0].way is not way:
            key = unquoted(written)
            schema = self.around.member(key)
            spot = Spot(
                self.layout, way, key, schema, self.around, self.outer, self.depth, _streams(way, schema),
                self.siblings,
            )  # fmt: skip
            found = spot, f", {quoted(key)}: "
            if len(self.siblings) < _SIBLINGS:
                self.siblings[written] = found
        return found

    def holds_literal(self, char: str) -> bool:
        """Whether a value that begins with `char` is a container or quoted, not raw."""
        if char in "{[(":
            types = self.schema.types
            return not (self.way.raw and (types is None or "string" in types))
        return char in "\"'" and not self.way.raw


def _streams(way: Way, schema: Schema) -> bool:
    types = schema.types
    return way.raw and (types == STRING or (way.types == STRING and (types is None or "string" in types)))


def unquoted(key: str) -> str:
    """A key without whitespace and quotes around it."""
    key = key.strip()
    return key[1:-1] if len(key) > 1 and key[0] in "\"'" and key[-1] == key[0] else key
