"""From observations to answers: one wording for everything that is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatlint.detect.capability import Capability, Support
from chatlint.probe.case import Observation
from chatlint.probe.reading import SHOWN, Fate, fate, texts
from chatlint.render.rendered import FailureKind, RenderFailure

NOTES = {
    Fate.TRIMMED: "trimmed",
    Fate.ESCAPED: "escaped",
    Fate.ALTERED: "altered",
    Fate.REPEATED: "written more than once",
    Fate.TRUNCATED: "cut",
    Fate.SCATTERED: "walked through character by character",
    Fate.DROPPED: "lost",
}


def refused(name: str, observation: Observation) -> Capability | None:
    """The answer where there is no prompt: the template declined or broke, or could not be asked."""
    failure = observation.failure
    if failure is None:
        return None
    support = Support.RAISES
    if failure.kind in (FailureKind.SYNTAX, FailureKind.BOUND, FailureKind.HOST):
        support = Support.UNKNOWN
    return Capability(name, support, (observation.case.id,), _said(failure))


def _said(failure: RenderFailure) -> str:
    if not failure.exception:  # it was not rendered, and the message says so
        return failure.message
    if failure.kind is FailureKind.DECLINED:
        return f"declined: {failure.message}"
    return f"broke: {failure.exception}: {failure.message}"


def unasked(name: str, observations: Iterable[Observation]) -> Capability | None:
    """The answer where what was looked for was not found, and one of these could not be asked: nobody
    knows."""
    stopped = [one for one in observations if one.failure and one.failure.kind is FailureKind.BOUND]
    return refused(name, stopped[0]) if stopped else None


def unanswered(observation: Observation) -> Capability | None:
    """The answer to everything, if the template cannot be asked: it does not compile, or hits a bound."""
    answer = refused("", observation)
    return answer if answer and answer.support is Support.UNKNOWN else None


def of_values(name: str, observation: Observation, pointers: Sequence[str], note: str = "") -> Capability:
    """Whether the values at these pointers (of lists of parts: their texts) can be read in the prompt."""
    if answer := refused(name, observation):
        return answer
    fates = {pointer: fate(observation, pointer) for pointer in texts(observation, *pointers)}
    readable = [pointer for pointer, one in fates.items() if one in SHOWN]
    support = Support.YES if len(readable) == len(fates) else Support.PARTIAL if readable else Support.NO
    said = [note] if note else []
    if support is not Support.NO:
        said += [f"{pointer} {NOTES[one]}" for pointer, one in fates.items() if one in NOTES]
    return Capability(name, support, (observation.case.id,), "; ".join(said))


def noted(answer: Capability, *notes: str, evidence: Sequence[Observation] = ()) -> Capability:
    """The same answer with more to say and more evidence."""
    said = "; ".join(note for note in (answer.note, *notes) if note)
    cases = dict.fromkeys((*answer.evidence, *(observation.case.id for observation in evidence)))
    return Capability(answer.name, answer.support, tuple(cases), said)
