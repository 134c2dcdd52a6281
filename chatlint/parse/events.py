"""What the machine says while it reads, in the order of the text. Nothing is taken back."""

from __future__ import annotations

from typing import TypeAlias

from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ContentDelta:
    """More of the content."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call whose name is certain. `index` counts the calls of the turn from 0; `id` is "" if the format has
    none, or if it stands after the arguments: then it comes with `ToolCallEnd`."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """More of a call's arguments, as JSON text."""

    index: int
    text: str


class _Text:
    """A delta of prose before it is one."""

    __slots__ = ("text",)
    text: str


class Draft:
    """A delta of arguments before it is one."""

    __slots__ = ("index", "text")
    index: int
    text: str


# Deltas are made by the million: to fill the same slots where nothing is frozen, and then to be frozen, takes
# half as long as `__init__`.


def content_of(text: str) -> ContentDelta:
    """As `ContentDelta(text)`."""
    event = _Text()
    event.text = text
    event.__class__ = ContentDelta  # type: ignore[assignment]
    return event  # type: ignore[return-value]


def reasoning_of(text: str) -> ReasoningDelta:
    """As `ReasoningDelta(text)`."""
    event = _Text()
    event.text = text
    event.__class__ = ReasoningDelta  # type: ignore[assignment]
    return event  # type: ignore[return-value]


def arguments_of(index: int, text: str) -> ArgumentsDelta:
    """As `ArgumentsDelta(index, text)`."""
    event = Draft()
    event.index = index
    event.text = text
    event.__class__ = ArgumentsDelta  # type: ignore[assignment]
    return event  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class ToolCallEnd:
    """The call is over. `complete` is False where the text ended, or broke off, inside its arguments; they
    are then no valid JSON."""

    index: int
    id: str
    complete: bool = True


@dataclass(frozen=True, slots=True)
class EndOfTurn:
    """The model handed over, with this mark."""

    marker: str


Event: TypeAlias = ReasoningDelta | ContentDelta | ToolCallStart | ArgumentsDelta | ToolCallEnd | EndOfTurn


class Scribe:
    """Collects what the readers find; neighbouring texts of one kind become one event.

    Readers write in pieces; `take` hands over what has come together since the last time.
    """

    __slots__ = ("_events", "_kind", "_pieces", "calls")

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._pieces: list[str] = []
        self._kind: type[ReasoningDelta | ContentDelta | ArgumentsDelta] = ContentDelta
        self.calls = 0
        """Calls begun so far."""

    def _write(self, kind: type[ReasoningDelta | ContentDelta | ArgumentsDelta], text: str) -> None:
        if kind is not self._kind:
            self._flush()
            self._kind = kind
        self._pieces.append(text)

    def reasoning(self, text: str) -> None:
        """More reasoning."""
        self._write(ReasoningDelta, text)

    def content(self, text: str) -> None:
        """More content."""
        self._write(ContentDelta, text)

    def arguments(self, text: str) -> None:
        """More of the last call's arguments."""
        self._write(ArgumentsDelta, text)

    def start(self, identity: str, name: str) -> None:
        """A call begins."""
        self._flush()
        self._events.append(ToolCallStart(self.calls, identity, name))
        self.calls += 1

    def end(self, identity: str, complete: bool) -> None:
        """The last call ends."""
        self._flush()
        self._events.append(ToolCallEnd(self.calls - 1, identity, complete))

    def end_of_turn(self, marker: str) -> None:
        """The model handed over."""
        self._flush()
        self._events.append(EndOfTurn(marker))

    def _flush(self) -> None:
        if not self._pieces:
            return
        text = "".join(self._pieces)
        self._pieces.clear()
        if not text:
            return
        if self._kind is ArgumentsDelta:
            self._events.append(ArgumentsDelta(self.calls - 1, text))
        elif self._kind is ContentDelta:
            self._events.append(ContentDelta(text))
        else:
            self._events.append(ReasoningDelta(text))

    def take(self) -> list[Event]:
        """The events since the last `take`."""
        self._flush()
        events, self._events = self._events, []
        return events
