"""What the machine says while it reads, in the order of the text. Nothing is taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from chatlint.records import dataclass


@dataclass(frozen=True, slots=True, init=False)
class ReasoningDelta:
    """More of the reasoning."""

    text: str

    def __init__(self, text: str) -> None:
        _set_reasoning(self, text)


@dataclass(frozen=True, slots=True, init=False)
class ContentDelta:
    """More of the content."""

    text: str

    def __init__(self, text: str) -> None:
        _set_content(self, text)


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call whose name is certain. `index` counts the calls of the turn from 0; `id` is "" if the format has
    none, or if it stands after the arguments: then it comes with `ToolCallEnd`."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True, init=False)
class ArgumentsDelta:
    """More of a call's arguments, as JSON text."""

    index: int
    text: str

    def __init__(self, index: int, text: str) -> None:
        _set_index(self, index)
        _set_arguments(self, text)


# Deltas are made by the million; setting the slots is much faster than a frozen class's own `__init__`.
_set_reasoning = vars(ReasoningDelta)["text"].__set__
_set_content = vars(ContentDelta)["text"].__set__
_set_index = vars(ArgumentsDelta)["index"].__set__
_set_arguments = vars(ArgumentsDelta)["text"].__set__


_new = object.__new__


def arguments_of(index: int) -> Callable[[str], ArgumentsDelta]:
    """Makes the deltas of one call from their texts."""

    def delta(text: str) -> ArgumentsDelta:
        event = _new(ArgumentsDelta)
        _set_index(event, index)
        _set_arguments(event, text)
        return event

    return delta


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
