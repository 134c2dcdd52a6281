"""Assistant turns, cut out of prompts by where their characters came from.

Theory of operation. Everything between the last input before an assistant message and the first input after it is
that message's turn: its own inputs are *slots* (reasoning, content, and per call name, id, argument names and
values), all else is what the template writes around them. Structure counts as template text: `role` and `type`,
and the names of members that are not arguments.

Three things inside markers stand for something and become one placeholder character each, so that literals of
different turns compare equal: a counter (digits that an expression computed), the name of the same call again,
and the key of the same argument again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from chatlint.conversation import JSON, Message
from chatlint.probe.case import Observation
from chatlint.text import Computed, Input, Span

COUNTER, SAME_NAME, SAME_KEY = "\ue0a0", "\ue0a1", "\ue0a2"
_RUN = re.compile(f"({COUNTER}|{SAME_NAME}|{SAME_KEY})\\1+")
_STRUCTURE = frozenset(("role", "type", "index"))
_REASONED = re.compile(r"think|reason")


class Part(Enum):
    """What an input of an assistant message is."""

    REASONING = auto()
    CONTENT = auto()
    NAME = auto()
    ID = auto()
    ARGUMENTS = auto()
    """All arguments of a call as one text."""
    KEY = auto()
    VALUE = auto()
    """A value, or a part of one, below the argument that `path` begins with."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Characters `start` to `end` of a turn's text that came from one input of the message.

    `call` is the call's index, -1 outside calls; `path` the names below `arguments`; `key` says that these are
    characters of the path's last name rather than of its value; `exact` that they are the input's own.
    """

    start: int
    end: int
    part: Part
    call: int = -1
    path: tuple[str, ...] = ()
    key: bool = False
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant message in a prompt.

    `text` runs from the last input before the message to the next input after it (or the prompt's end), with
    placeholders of the same length in place of what they stand for; `raw` is the same without placeholders.
    """

    case: str
    message: Message
    raw: str
    text: str
    slots: tuple[Slot, ...]
    last: bool
    after_user: bool
    """Whether a user's message stands before it."""

    @property
    def lead(self) -> str:
        """What the template wrote before the first slot."""
        return self.literal(0, self.slots[0].start)

    @property
    def tail(self) -> str:
        """What it wrote after the last."""
        return self.literal(self.slots[-1].end, len(self.text))

    def literal(self, start: int, end: int) -> str:
        """Template text between two places, each placeholder as one character."""
        return _RUN.sub(r"\1", self.text[start:end])

    def calls(self) -> int:
        """How many calls the message has."""
        return len(calls_of(self.message))

    def has(self, part: Part) -> bool:
        """Whether that part of the message was printed."""
        return any(slot.part is part for slot in self.slots)

    def of_call(self, index: int) -> tuple[Slot, ...]:
        """The slots of one call, in order."""
        return tuple(slot for slot in self.slots if slot.call == index)


def calls_of(message: Message) -> Sequence[Mapping[str, JSON]]:
    """The calls of an assistant message."""
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []


def turn_of(observation: Observation, index: int = -1) -> Turn | None:
    """The turn of the message at `index` (by default the last assistant message), None if nothing of it shows."""
    prompt, messages = observation.prompt, observation.case.conversation.messages
    index = index if index >= 0 else _last_assistant(messages)
    if prompt is None or index < 0:
        return None
    own = [number for number, span in enumerate(prompt.spans) if _part(span, index, messages[index])]
    if not own:
        return None
    first, last = own[0], _last_own(prompt.spans, own, index)
    start = _last_foreign(prompt.spans[:first], index)
    end = _first_foreign(prompt.spans[last + 1 :], index, len(prompt.text))
    return _cut(observation, index, (start, end))


def _last_assistant(messages: Sequence[Message]) -> int:
    assistants = [index for index, message in enumerate(messages) if message.get("role") == "assistant"]
    return assistants[-1] if assistants else -1


def _last_own(spans: Sequence[Span], own: Sequence[int], index: int) -> int:
    """The last own span before any input of a later message: later ones are echoes of the turn."""
    later = next((n for n, span in enumerate(spans) if n > own[0] and _message(span) > index), len(spans))
    return max(number for number in own if number < later)


def _message(span: Span) -> int:
    """The index of the message an input belongs to, -1 if it is structure or not of a message."""
    pointer = _pointer(span)
    if pointer[:1] != ["messages"] or len(pointer) < 3 or pointer[2] in _STRUCTURE:
        return -1
    return int(pointer[1])


def _pointer(span: Span) -> list[str]:
    return span.origin.pointer.split("/")[1:] if isinstance(span.origin, Input) else []


def _last_foreign(spans: Sequence[Span], index: int) -> int:
    return max((span.end for span in spans if _is_foreign(span, index)), default=0)


def _first_foreign(spans: Sequence[Span], index: int, end: int) -> int:
    return next((span.start for span in spans if _is_foreign(span, index)), end)


def _is_foreign(span: Span, index: int) -> bool:
    pointer = _pointer(span)
    return bool(pointer) and pointer[-1] not in _STRUCTURE and pointer[:2] != ["messages", str(index)]


def _part(span: Span, index: int, message: Message) -> Part | None:
    """What an input of the message is to its turn; None for structure and for all other text."""
    pointer = _pointer(span)
    if pointer[:2] != ["messages", str(index)] or len(pointer) < 3:
        return None
    origin = span.origin
    key = isinstance(origin, Input) and origin.key
    if pointer[2] == "tool_calls":
        return _call_part(pointer[4:], key)
    if key or pointer[-1] in _STRUCTURE:
        return None
    if any(_REASONED.search(name) for name in pointer[2:]):
        return Part.REASONING
    return Part.CONTENT if pointer[2] == "content" else None


def _call_part(pointer: Sequence[str], key: bool) -> Part | None:
    inner = pointer[1:] if pointer[:1] == ["function"] else pointer
    if inner[:1] == ["arguments"]:
        if len(inner) == 1:
            return None if key else Part.ARGUMENTS
        return Part.KEY if key and len(inner) == 2 else Part.VALUE
    if key or len(inner) != 1:
        return None
    return {"name": Part.NAME, "id": Part.ID}.get(inner[0])


def _cut(observation: Observation, index: int, where: tuple[int, int]) -> Turn:
    prompt, messages = observation.prompt, observation.case.conversation.messages
    assert prompt is not None
    message = messages[index]
    start, end = where
    text = list(prompt.text[start:end])
    slots: list[Slot] = []
    for span in prompt.spans:
        if span.end <= start or span.start >= end:
            continue
        part = _part(span, index, message)
        if part is not None:
            _place(slots, text, _slot(span, start, part))
        elif isinstance(span.origin, Computed) and prompt.piece(span).strip().isdigit():
            _stand(text, span.start - start, span.end - start, COUNTER)
    after_user = index > 0 and messages[index - 1].get("role") == "user"
    last = index == len(messages) - 1
    return Turn(
        observation.case.id, message, prompt.text[start:end], "".join(text), tuple(slots), last, after_user
    )


def _slot(span: Span, start: int, part: Part) -> Slot:
    pointer = _pointer(span)
    origin = span.origin
    assert isinstance(origin, Input)
    call = int(pointer[3]) if pointer[2] == "tool_calls" else -1
    path = tuple(name.replace("~1", "/").replace("~0", "~") for name in _below_arguments(pointer))
    return Slot(span.start - start, span.end - start, part, call, path, origin.key, origin.offset is not None)


def _below_arguments(pointer: Sequence[str]) -> Iterable[str]:
    return pointer[pointer.index("arguments") + 1 :] if "arguments" in pointer else ()


def _place(slots: list[Slot], text: list[str], new: Slot) -> None:
    """Add a slot, join it with the one before, or put a placeholder where it repeats."""
    previous = slots[-1] if slots else None
    if previous and previous.end == new.start and _same(previous, new):
        slots[-1] = Slot(
            previous.start,
            new.end,
            new.part,
            new.call,
            previous.path,
            previous.key,
            previous.exact and new.exact,
        )
    elif new.part is Part.NAME and any(_same(slot, new) for slot in slots):
        _stand(text, new.start, new.end, SAME_NAME)
    elif new.key and any(_same(slot, new) for slot in slots):
        _stand(text, new.start, new.end, SAME_KEY)
    else:
        slots.append(new)


def _same(one: Slot, other: Slot) -> bool:
    return (one.part, one.call, one.path, one.key) == (other.part, other.call, other.path, other.key)


def _stand(text: list[str], start: int, end: int, placeholder: str) -> None:
    text[start:end] = placeholder * (end - start)
