"""chatlint's own parser drops nothing that it is given.

## What it does
Cuts the text of round trips short, and adds text behind it, as models do that run out of tokens or go on
after a call. Every word of the message that stands in such a text must come back: as content, as reasoning
or in a call. One that does not is a fault of chatlint: a failure, never a finding on the template.

## Why is this bad
A client that gets an empty answer asks again, and again. What a parser cannot place is still what the model
said.

## Example
There is none: no template can cause it. What is neither reasoning nor a call is content.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from chatlint.conversation import JSON
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject
    from chatlint.verify.trip import RoundTrip

_PROBES = ("calls/two", "reasoning/last", "roles/user-assistant")
"""One text with calls, one with reasoning, one with an answer."""
_WORD = regex(r"[A-Z][a-z]{3,}")
"""What needles look like."""
_BEHIND = "Zeppelin"


@rule("CT704", severity=Severity.ERROR, needs=Stage.ROUND_TRIPS, own=True)
def check(subject: Subject) -> Iterator[Cause]:
    seen = {one.case.id: one for one in subject.trace.observations}
    trips = [trip for trip in (subject.round_trips.trips if subject.round_trips else ()) if trip.passed]
    for probe in _PROBES:
        trip = next((one for one in trips if one.case.startswith(probe)), None)
        found = _dropped(subject, seen[trip.case], trip) if trip else None
        if trip and found:
            text, word = found
            yield Cause(
                key=trip.case,
                message=f"{word!r} of the text {text[-80:]!r} comes back nowhere",
                consequence="",
                sights=(Sight(seen[trip.case]),),
                own=True,
            )
            return


def _dropped(subject: Subject, seen: Observation, trip: RoundTrip) -> tuple[str, str] | None:
    """A text, and a word of it that was dropped."""
    output = subject.format
    words = set(_WORD.findall(json.dumps(_said(trip.sent))))
    for text in (*_cuts(trip.text), f"{trip.text}\n{_BEHIND}"):
        parser = output.parser(tools=seen.case.conversation.tools) if output else None
        received = parser.parse(text) if parser else {}
        back = json.dumps(received, ensure_ascii=False)
        lost = next((word for word in (*words, _BEHIND) if word in text and word not in back), None)
        if lost:
            return text, lost
    return None


def _said(message: Mapping[str, JSON]) -> JSON:
    return {name: value for name, value in message.items() if name != "role"}


def _cuts(text: str) -> Iterator[str]:
    """The text without its end: right behind words, and in the middle of what follows."""
    for match in list(_WORD.finditer(text))[::2]:
        yield text[: match.end()]
        yield text[: match.end() + 2]
