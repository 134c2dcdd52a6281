"""What came of sending messages there and back, as values: a report needs no more to show it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from chatlint.conversation import JSON, Message
from chatlint.records import dataclass


class Cause(StrEnum):
    """Who lost a field on the way."""

    LOST = "template-lost"
    """None of it stands in the turn."""
    ALTERED = "template-altered"
    """It stands there changed: trimmed, escaped, printed as Python, or beside blanks of the template's own
    that nothing tells from blanks of its own."""
    MERGED = "template-merged"
    """It stands where another part does, and reads as that."""
    AMBIGUOUS = "format-ambiguous"
    """The format has no way to write this value apart from others."""
    PARSER = "parser"
    """The text holds it, and it was read wrong."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that came back otherwise. `field` is a path in the message: `tool_calls/0/arguments/city`."""

    field: str
    sent: JSON
    received: JSON
    cause: Cause


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One message there and back: what was sent, the text a model would have written, what was read."""

    case: str
    sent: Message
    text: str
    received: Mapping[str, JSON]
    differences: tuple[Difference, ...]
    prefix: bool
    """Whether the history begins with prompt and text: what the model was shown, then what it wrote."""
    chunks: tuple[str, ...] = ()
    """A chunking that gave another message, () if all agree."""

    @property
    def passed(self) -> bool:
        """Everything came back, in every chunking."""
        return not self.differences and not self.chunks

    @property
    def template_only(self) -> bool:
        """Everything that did not come back was lost or altered before the parser saw it."""
        mine = (Cause.PARSER, Cause.AMBIGUOUS)
        return not self.chunks and all(difference.cause not in mine for difference in self.differences)

    @property
    def misread(self) -> bool:
        """Something was read wrong, or otherwise in chunks, that the text told."""
        return bool(self.chunks) or any(one.cause is Cause.PARSER for one in self.differences)


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """All round trips of one template; `not_applicable` are case ids with nothing to read back."""

    trips: tuple[RoundTrip, ...] = ()
    not_applicable: tuple[str, ...] = ()

    @property
    def passed(self) -> int:
        """How many came back whole."""
        return sum(trip.passed for trip in self.trips)

    @property
    def failed(self) -> int:
        """How many the parser read wrong, though the text told everything."""
        return sum(trip.misread for trip in self.trips)

    @property
    def lost(self) -> int:
        """How many the template or its format cannot express: lost, altered, or not to be told apart."""
        return sum(not trip.passed and not trip.misread for trip in self.trips)

    @property
    def failures(self) -> tuple[RoundTrip, ...]:
        """Those that did not come back whole, for whatever cause."""
        return tuple(trip for trip in self.trips if not trip.passed)
