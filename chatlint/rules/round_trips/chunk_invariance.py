"""chatlint's own parser reads a text in pieces as it reads it whole.

## What it does
Reads the text of every round trip one character at a time and in random pieces, and compares the messages.
A difference is a fault of chatlint: it is reported as a failure, never as a finding on the template.

## Why is this bad
Servers stream. A parser whose answer depends on where a network packet ended drops calls, or shows marks to
the user, once in a while and never in a test.

## Example
There is none: no template can cause it. The parser decides from left to right and takes nothing back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject


@rule("CT703", severity=Severity.ERROR, needs=Stage.ROUND_TRIPS, own=True)
def check(subject: Subject) -> Iterator[Cause]:
    seen = {one.case.id: one for one in subject.trace.observations}
    for trip in subject.round_trips.trips if subject.round_trips else ():
        if trip.chunks:
            yield Cause(
                key=trip.case,
                message=f"cut as {list(trip.chunks)[:8]!r}, the text is read as another message",
                consequence="",
                sights=(Sight(seen[trip.case]),),
                own=True,
            )
            return
