"""Assistant turns, cut out of prompts by where their characters came from.

Theory of operation. Everything between the last input before an assistant message and the first input after
it is that message's turn: its own inputs are *slots* (reasoning, content, and per call name, id, argument
names and values), all else is what the template writes around them. Structure counts as template text:
`role` and `type`, and the names of members that are not arguments.

Three things inside markers stand for something and become one placeholder character each, so that literals
of different turns compare equal: a counter (digits that an expression computed), the name of the same call
again, and the key of the same argument again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from functools import lru_cache

from chatlint.conversation import JSON, Message
from chatlint.lazy import regex
from chatlint.probe.case import Observation
from chatlint.records import dataclass
from chatlint.text import Computed, Input, Prompt, Span

COUNTER, SAME_NAME, SAME_KEY = "\ue0a0", "\ue0a1", "\ue0a2"
LONGEST_TURN = 20_000
"""Characters of a turn that is looked at; real ones have a few hundred on a probe."""
_RUN = regex(f"({COUNTER}|{SAME_NAME}|{SAME_KEY})\\1+")
_STRUCTURE = frozenset(("role", "type", "index"))
_REASONED = regex(r"think|reason")


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

    `call` is the call's index, -1 outside calls; `path` the names below `arguments`; `key` says that these
    are characters of the path's last name rather than of its value; `exact` that they are the input's own.
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
        text = self.text[start:end]
        return _RUN.sub(r"\1", text) if not text.isascii() else text

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
    """The turn of the message at `index` (by default the last assistant message), None if nothing of it
    shows."""
    prompt, messages = observation.prompt, observation.case.conversation.messages
    index = index if index >= 0 else _last_assistant(messages)
    if prompt is None or index < 0:
        return None
    known = prompt.known.get(f"turn {index}")
    if isinstance(known, Turn) and known.case == observation.case.id:
        return known
    found = _turn_of(observation, prompt, index)
    prompt.known[f"turn {index}"] = found
    return found


def _turn_of(observation: Observation, prompt: Prompt, index: int) -> Turn | None:
    inputs = _inputs(prompt, f"/messages/{index}/")
    first = next((number for number, (_, role) in enumerate(inputs) if isinstance(role, Part)), None)
    if first is None:
        return None
    start = max((span.end for span, role in inputs[:first] if role is _Other.FOREIGN), default=0)
    # behind a later message's input, own ones are echoes of the turn
    end = next((span.start for span, role in inputs[first:] if role is _Other.FOREIGN), len(prompt.text))
    if end - start > LONGEST_TURN:
        return None
    return _cut(observation, index, inputs[first:], (start, end))


class _Other(Enum):
    """What an input is that is no slot of the turn."""

    FOREIGN = auto()
    """Of another message, or of the tools: the turn ends there."""
    STRUCTURE = auto()


def _last_assistant(messages: Sequence[Message]) -> int:
    assistants = [index for index, message in enumerate(messages) if message.get("role") == "assistant"]
    return assistants[-1] if assistants else -1


def _inputs(prompt: Prompt, own: str) -> list[tuple[Span, Part | _Other]]:
    """The spans of inputs, each with what it is to the turn whose pointers begin with `own`."""
    return [
        (span, _role(origin.pointer, origin.key, own))
        for span in prompt.spans
        if type(origin := span.origin) is Input
    ]


@lru_cache(maxsize=8192)
def _role(pointer: str, key: bool, own: str) -> Part | _Other:
    """What an input at a pointer is to the turn whose pointers begin with `own`."""
    if not pointer.startswith(own):
        return _Other.STRUCTURE if pointer.rpartition("/")[2] in _STRUCTURE else _Other.FOREIGN
    path = pointer[len(own) :].split("/")
    if path[0] == "tool_calls":
        return _call_part(path[2:], key) or _Other.STRUCTURE
    if key or path[-1] in _STRUCTURE:
        return _Other.STRUCTURE
    if any(_REASONED.search(name) for name in path):
        return Part.REASONING
    return Part.CONTENT if path[0] == "content" else _Other.STRUCTURE


def _call_part(pointer: Sequence[str], key: bool) -> Part | None:
    inner = pointer[1:] if pointer[:1] == ["function"] else pointer
    if inner[:1] == ["arguments"]:
        if len(inner) == 1:
            return None if key else Part.ARGUMENTS
        return Part.KEY if key and len(inner) == 2 else Part.VALUE
    if key or len(inner) != 1:
        return None
    return {"name": Part.NAME, "id": Part.ID}.get(inner[0])


def _cut(
    observation: Observation, index: int, inputs: Sequence[tuple[Span, Part | _Other]], where: tuple[int, int]
) -> Turn:
    """The turn between two places of a prompt; `inputs` are the spans of inputs from its first slot on."""
    prompt, messages = observation.prompt, observation.case.conversation.messages
    assert prompt is not None
    start, end = where
    text = list(prompt.text[start:end])
    slots: list[Slot] = []
    for span in prompt.spans:
        if (
            start <= span.start < end
            and type(span.origin) is Computed
            and prompt.piece(span).strip().isdigit()
        ):
            _stand(text, span.start - start, span.end - start, COUNTER)
    for span, role in inputs:
        if span.start < end and isinstance(role, Part):
            _place(slots, text, _slot(span, start, role))
    after_user = index > 0 and messages[index - 1].get("role") == "user"
    last = index == len(messages) - 1
    raw = prompt.text[start:end]
    return Turn(observation.case.id, messages[index], raw, "".join(text), tuple(slots), last, after_user)


def _slot(span: Span, start: int, part: Part) -> Slot:
    origin = span.origin
    assert isinstance(origin, Input)
    call, path = _address(origin.pointer)
    exact = origin.offset is not None
    return Slot(span.start - start, span.end - start, part, call, path, origin.key, exact)


@lru_cache(maxsize=8192)
def _address(pointer: str) -> tuple[int, tuple[str, ...]]:
    """Which call an input belongs to (-1: none), and the names below its arguments."""
    path = pointer.split("/")
    call = int(path[4]) if len(path) > 4 and path[3] == "tool_calls" else -1
    below = path[path.index("arguments") + 1 :] if call >= 0 and "arguments" in path else ()
    return call, tuple(name.replace("~1", "/").replace("~0", "~") for name in below)


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
    text[start:end] = [placeholder] * (end - start)
