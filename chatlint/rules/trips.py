"""Round trips as rules see them: what differs, by field, and the observation that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from chatlint.records import replace
from chatlint.rules.cause import Sight
from chatlint.rules.sights import at, at_end
from chatlint.text import visible

if TYPE_CHECKING:
    from chatlint.conversation import JSON
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject
    from chatlint.verify.trip import Difference, RoundTrip

_SHOWN = 60


class Loss(NamedTuple):
    """One field of one message that came back otherwise."""

    trip: RoundTrip
    difference: Difference
    observation: Observation

    @property
    def part(self) -> str:
        """What kind of field: `content`, `reasoning_content`, `call`, `name`, `id`, `arguments` or
        `argument`."""
        _, _, inside = self.difference.field.partition("/")
        if not inside:
            return self.difference.field
        words = inside.split("/")
        return "call" if len(words) == 1 else "argument" if len(words) > 2 else words[1]

    @property
    def has_calls(self) -> bool:
        """Whether the message has tool calls."""
        return bool(self.trip.sent.get("tool_calls"))

    def sight(self, note: str = "") -> Sight:
        """The value in the prompt, or what was made of it."""
        said = note or f"comes back as {spelled(self.difference.received)}"
        for pointer in self._pointers():
            found = _value_at(self.observation, pointer, said)
            if found.note and found.start < found.end and found != at_end(self.observation, said):
                return found
        return at_end(self.observation, said)

    def _pointers(self) -> Iterator[str]:
        messages = self.observation.case.conversation.messages
        index = next((place for place, one in enumerate(messages) if one == self.trip.sent), -1)
        field = re.sub(r"^tool_calls/(\d+)/", r"tool_calls/\1/function/", self.difference.field)
        if index >= 0:
            yield f"/messages/{index}/{field}"
            yield f"/messages/{index}"


def _value_at(observation: Observation, pointer: str, note: str) -> Sight:
    """The place of a value without the name it has; of both where only the name is there."""
    found = at(observation, pointer, note)
    values = observation.prompt.inputs(pointer, key=False) if observation.prompt else ()
    first = next(iter(values), None)
    return replace(found, start=first.start) if first and found.start < first.start else found


def losses(subject: Subject) -> Iterator[Loss]:
    """All differences of all round trips, in the order of the trips."""
    seen = {one.case.id: one for one in subject.trace.observations}
    for trip in subject.round_trips.failures if subject.round_trips else ():
        for difference in trip.differences:
            yield Loss(trip, difference, seen[trip.case])


def spelled(value: JSON) -> str:
    """A value in a sentence: short, and with nothing invisible."""
    text = visible(value if isinstance(value, str) else repr(value))
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
