"""Turns between marks: what opens one, what closes one, and where the two do not alternate."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from chatlint.probe.axes import SWITCH
from chatlint.rules.ends import written
from chatlint.rules.sights import bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatlint.conversation import Message
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PLAIN = (
    ("roles/user-assistant-user", "off"),
    ("roles/user-assistant-user", "on"),
    ("roles/user-assistant", "off"),
    ("roles/user", "on"),
    ("roles/user", "off"),
)
_GROUPS = ("roles/", "calls/", "sequences/", "tools/", "reasoning/")
"""Probes about who speaks in which order; the others change what is said."""
_NEXT = {
    "": ("system", "user"),
    "system": ("user",),
    "user": ("assistant", "call"),
    "assistant": ("user",),
    "call": ("tool",),
    "tool": ("tool", "assistant", "call"),
}
"""Who may speak after whom; "call" is an assistant message with tool calls."""


class TurnMarks(NamedTuple):
    """What opens turns and what closes them."""

    opener: str
    closers: tuple[str, ...]


@lru_cache(maxsize=8)
def _either(marks: TurnMarks) -> re.Pattern[str]:
    """Any of them, the longest first."""
    every = sorted((marks.opener, *marks.closers), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, every)))


class Fault(StrEnum):
    """What is wrong with a mark, or with the end of a prompt."""

    UNCLOSED = "unclosed"
    UNOPENED = "unopened"
    OUTSIDE = "outside"
    HEAD = "head"


class Misplaced(NamedTuple):
    """A fault and where it stands in the prompt."""

    kind: Fault
    start: int
    end: int


def turn_marks(subject: Subject) -> TurnMarks | None:
    """The marks between which turns stand in plain conversations; None where they stand between none, or
    each role has marks of its own."""
    from chatlint.infer.markers import marks as tags

    seen = [subject.see(probe, generation=generation) for probe, generation in _PLAIN]
    places = [bounds(seen[0], f"/messages/{index}/content") for index in range(3)]
    gaps = [tags(seen[0].text[one[1] : two[0]])[:2] for one, two in pairwise(places) if one and two]
    if len(gaps) < 2 or any(len(gap) < 2 for gap in gaps) or gaps[0][1] != gaps[1][1]:
        return None
    opener = gaps[0][1]
    ends = [gap[0] for gap in gaps] + [mark for mark in _ends(subject) if tags(mark) == (mark,)]
    closers = [mark for mark in dict.fromkeys(ends) if mark != opener and _before(subject, mark, opener)]
    found = TurnMarks(opener, tuple(closers))
    holds = bool(closers) and all(one.prompt and fault_in(one, found) is None for one in seen)
    return found if holds else None


def _ends(subject: Subject) -> tuple[str, ...]:
    return (*subject.format.end_of_turn, *subject.format.end_of_message) if subject.format else ()


def _before(subject: Subject, mark: str, opener: str) -> bool:
    """Whether a turn is ever opened right behind a mark: others hand over inside a turn."""
    sequence = re.compile(rf"{re.escape(mark)}\s*{re.escape(opener)}")
    known = (seen for seen in subject.trace.observations if usual(subject, seen, with_calls=True))
    return any(sequence.search(written(seen)) for seen in known)


def fault_in(seen: Observation, marks: TurnMarks) -> Misplaced | None:
    """The first mark behind the first question that stands where it cannot. A mark that is written twice in a
    row is left to `double-terminator`."""
    text, place = written(seen), _first_question(seen)
    if place is None:
        return None
    is_open, last = True, place[1]
    for match in _either(marks).finditer(text, place[1]):
        opens = match.group() == marks.opener
        if opens and is_open:
            return Misplaced(Fault.UNCLOSED, *match.span())
        if not opens and not is_open and text[last : match.start()].strip():
            return Misplaced(Fault.UNOPENED, *match.span())
        is_open, last = opens, match.end()
    outside = not is_open and _asks(seen)
    return Misplaced(Fault.OUTSIDE, max(len(text) - 1, 0), len(text)) if outside else None


def unclosed_head(seen: Observation, marks: TurnMarks) -> Misplaced | None:
    """The end of a turn before the first question that is not closed where the question's is opened. One that
    ends in another mark may be closed by that."""
    text, place = written(seen), _first_question(seen)
    found = [*_either(marks).finditer(text, 0, place[0])] if place else []
    for before, match in pairwise(found):
        head = text[before.end() : match.start()].rstrip()
        if before.group() == match.group() == marks.opener and head and not _ends_in_a_mark(head):
            end = before.end() + len(head)
            return Misplaced(Fault.HEAD, end, max(match.start(), end + 1))
    return None


def _ends_in_a_mark(text: str) -> bool:
    from chatlint.infer.markers import marks as tags

    return any(text.endswith(mark) for mark in tags(text)[-1:])


def _first_question(seen: Observation) -> tuple[int, int] | None:
    """Where the first question stands, None where it is lost."""
    messages = seen.case.conversation.messages
    first = next(index for index, message in enumerate(messages) if message.get("role") == "user")
    return bounds(seen, f"/messages/{first}/content")


def _asks(seen: Observation) -> bool:
    """Whether the prompt asks for an answer."""
    return seen.case.add_generation_prompt and not _answered(seen)


def _answered(seen: Observation) -> bool:
    """Whether the last message is the assistant's."""
    return seen.case.conversation.messages[-1].get("role") == "assistant"


def usual(subject: Subject, seen: Observation, *, with_calls: bool) -> bool:
    """A conversation as any client sends it, calls only where the template writes them. A switch may replace
    the marks themselves."""
    case = seen.case
    messages = case.conversation.messages
    switched = {axis for axis, _ in case.variant if axis.startswith(SWITCH)} - subject.footing.variant.keys()
    return (
        seen.prompt is not None
        and case.probe.startswith(_GROUPS)
        and not switched
        and not case.continue_final_message
        and not (case.add_generation_prompt and _answered(seen))
        and _in_turns(messages)
        and (with_calls or not any(message.get("tool_calls") for message in messages))
    )


def _in_turns(messages: Sequence[Message]) -> bool:
    """Whether question and answer alternate, and each call is followed by its results."""
    before = ""
    for message in messages:
        role = "call" if message.get("tool_calls") else str(message.get("role"))
        if role not in _NEXT[before]:
            return False
        before = role
    return any(message.get("role") == "user" for message in messages)
