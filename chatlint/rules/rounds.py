"""Rounds of tool calls: the marks that stand around a later call and its result are those of the first.

What is written around the first call is what the template means to write, so it is compared with itself. Only
marks that are missing count: before the last question thoughts are left out, and a loop may begin with more.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from chatlint.rules.calls import RESULT
from chatlint.rules.cause import Sight
from chatlint.rules.sights import after, bounds
from chatlint.text import Input

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.subject import Subject

_QUESTION, _CALL = "/messages/0/content", "/messages/1/tool_calls"


class Gap(NamedTuple):
    """What a template writes from one value to another: marks of its own, wherever they were given."""

    seen: Observation
    first: str
    last: str

    @property
    def marks(self) -> tuple[str, ...] | None:
        """The tags between the values; None where one of them is lost, or they stand in another order."""
        from chatlint.infer.markers import marks

        found, prompt = self._bounds(), self.seen.prompt
        if found is None or prompt is None:
            return None
        own = (
            prompt.piece(span)
            for span in prompt.spans
            if span.start >= found[0] and span.end <= found[1] and not isinstance(span.origin, Input)
        )
        return marks("".join(own))

    def _bounds(self) -> tuple[int, int] | None:
        before, behind = bounds(self.seen, self.first), bounds(self.seen, self.last)
        return (before[1], behind[0]) if before and behind and before[1] <= behind[0] else None

    def sight(self, note: str) -> Sight:
        """The text that stands right before the second value, after the first where there is none."""
        found, prompt = self._bounds(), self.seen.prompt
        own = [span for span in prompt.spans if span.end <= found[1]] if found and prompt else []
        if not own or isinstance(own[-1].origin, Input):
            return after(self.seen, self.first, note)
        return Sight(self.seen, own[-1].start, own[-1].end, note)


class Lack(NamedTuple):
    """Marks that a later round does not have, where they would stand, and what shows it."""

    marks: tuple[str, ...]
    where: str
    sight: Sight


def lacks(subject: Subject, way: Variant) -> Iterator[Lack]:
    """What the second call of a conversation, and its result, lack of the marks around the first."""
    loops, steps = subject.see("calls/two-loops", way), subject.see("calls/two-steps", way)
    again = Gap(loops, "/messages/4/content", "/messages/5/tool_calls")
    yield from _lack("before the call", Gap(loops, _QUESTION, _CALL).marks, again)
    again = Gap(loops, "/messages/5/tool_calls", "/messages/6/content")
    yield from _lack("before the result", Gap(loops, _CALL, RESULT).marks, again)
    yield from _between_steps(subject, steps, way)
    again = Gap(steps, "/messages/3/tool_calls", "/messages/4/content")
    yield from _lack("before the result", Gap(steps, _CALL, RESULT).marks, again)


def _between_steps(subject: Subject, steps: Observation, way: Variant) -> Iterator[Lack]:
    """From a result to the next call: what closes results comes before an answer as well, and what opens
    calls behind a question. What both a question and a result have before an answer is that of the answer."""
    plain = Gap(subject.see("roles/user-assistant", generation="off"), _QUESTION, "/messages/1/content").marks
    if plain is None:
        return
    answered = Gap(subject.see("calls/one-answered", way, generation="off"), RESULT, "/messages/3/content")
    again = Gap(steps, RESULT, "/messages/3/tool_calls")
    yield from _lack("after the result", _without(answered.marks, plain), again)
    yield from _lack("before the call", _without(Gap(steps, _QUESTION, _CALL).marks, plain), again)


def _lack(where: str, first: tuple[str, ...] | None, again: Gap) -> Iterator[Lack]:
    second = again.marks
    missing = _without(first, second) if second is not None else ()
    if missing:
        yield Lack(missing, where, again.sight(f"{' '.join(missing)} {where} is missing"))


def _without(marks: tuple[str, ...] | None, others: tuple[str, ...]) -> tuple[str, ...]:
    """The marks that are not among the others, each as often as it is missing there."""
    left = Counter(marks or ()) - Counter(others)
    return tuple(left.elements())
