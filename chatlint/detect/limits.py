"""What a template itself refuses, and how much of it was seen: both of a whole trace, so best asked last."""

from __future__ import annotations

from chatlint.detect.capability import Coverage, Limit
from chatlint.probe.trace import Trace
from chatlint.render.rendered import FailureKind


def limits(trace: Trace) -> tuple[Limit, ...]:
    """The template's own `raise_exception` messages with the cases they refused, in the order first met."""
    refused: dict[tuple[str, int], list[str]] = {}
    for observation in trace.observations:
        failure = observation.failure
        if failure is not None and failure.kind is FailureKind.DECLINED:
            refused.setdefault((failure.message, failure.line), []).append(observation.case.id)
    return tuple(Limit(message, line, tuple(cases)) for (message, line), cases in refused.items())


def coverage(trace: Trace) -> Coverage:
    """Cases asked so far, and the template lines that none of them reached."""
    cases = trace.observations
    rendered = sum(observation.prompt is not None for observation in cases)
    return Coverage(len(cases), rendered, len(cases) - rendered, trace.unreached)
