"""Observations as sights: where in a prompt the thing is that a rule talks about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from chatlint.conversation import Conversation, value_at
from chatlint.probe.reading import bounds as bounds
from chatlint.probe.reading import leaves, shown
from chatlint.probe.reading import texts as content_texts
from chatlint.rules.cause import Cause, Gathering, Sight, failure_key
from chatlint.rules.finding import Severity
from chatlint.text import Computed, Literal, Prompt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


ENDLESS = "RecursionError"
"""Macros that call themselves without end are the business of `unbounded-work`."""


def faulted(observation: Observation) -> bool:
    """The template broke: not its own `raise_exception`, not a bound (of Python's own stack neither), not the
    host's refusal."""
    from chatlint.render.rendered import FailureKind

    failure = observation.failure
    return failure is not None and failure.kind is FailureKind.FAULT and failure.exception != ENDLESS


def declined(observation: Observation) -> bool:
    """The template or the host refused the conversation in words: a limit."""
    from chatlint.render.rendered import FailureKind

    kinds = (FailureKind.DECLINED, FailureKind.HOST)
    return observation.failure is not None and observation.failure.kind in kinds


def texts(conversation: Conversation, pointer: str) -> list[str]:
    """Pointers of the texts (not the empty ones) at and below `pointer`; none where there is nothing."""
    try:
        value = value_at(conversation, pointer)
    except KeyError:
        return []
    places = [(place, value_at(conversation, place)) for place in leaves(value, pointer)]
    return [place for place, leaf in places if isinstance(leaf, str) and leaf]


def content_shown(observation: Observation, *pointers: str) -> bool:
    """Whether all text of these contents can be read in the prompt, be they texts or lists of parts."""
    return observation.prompt is not None and shown(observation, *content_texts(observation, *pointers))


def at(observation: Observation, pointer: str, note: str = "") -> Sight:
    """The place of a value in the prompt; the prompt's end where it is lost."""
    found = bounds(observation, pointer)
    return Sight(observation, *found, note) if found else at_end(observation, note, lost=pointer)


def at_end(observation: Observation, note: str = "", *, lost: str = "", asked: str = "") -> Sight:
    """The last character of the prompt; `lost` and `asked` are as in `Sight`."""
    length = len(observation.text)
    return Sight(observation, max(length - 1, 0), length, note, lost=lost, asked=asked)


def after(observation: Observation, pointer: str, note: str = "") -> Sight:
    """The character after a value: where something ought to be. The end where the value is lost."""
    found = bounds(observation, pointer)
    if found is None or found[1] >= len(observation.text):
        return at_end(observation, note)
    return Sight(observation, found[1], found[1] + 1, note)


def written_at(prompt: Prompt, position: int) -> tuple[int, int]:
    """The template place that wrote the character at `position`, or the last one before it that is known."""
    place = (0, 0)
    for span in prompt.spans:
        if span.start > position and place != (0, 0):
            break
        if isinstance(span.origin, Literal):
            place = (span.origin.line, span.origin.column)
        elif isinstance(span.origin, Computed):
            place = (span.origin.line, 0)
    return place


def said(observation: Observation) -> str:
    """Why there is no prompt, in the words of the exception."""
    failure = observation.failure
    return f"{failure.exception}: {failure.message}" if failure else ""


_REFUSED = "SecurityError"
"""What the sandbox refuses is the business of the rules about that (`mutates-input`)."""
_PLAIN = ("roles/user", "roles/system-user", "roles/user-assistant-user")
"""Conversations without anything that a rule about something else is about."""


def crashes(
    subject: Subject,
    observations: Iterable[Observation],
    what: str,
    consequence: str,
    severity: Severity | None = None,
    *,
    without: Iterable[Observation] = (),
) -> Iterator[Cause]:
    """One cause for each way in which the template broke among `observations`, but not in plain conversations
    and not in those `without` what is blamed. `what` names that. `without` is only asked where something
    broke."""
    broken = Gathering()
    for observation in observations:
        if observation.failure and faulted(observation) and observation.failure.exception != _REFUSED:
            broken.add(failure_key(observation.failure), Sight(observation))
    plain = (*map(subject.see, _PLAIN), *without) if broken else ()
    known = {failure_key(seen.failure) for seen in plain if seen.failure}
    for key, sights in broken:
        if key not in known:
            message = f"breaks on {what}: {said(sights[0].observation)}"
            yield Cause(key.partition(" @")[0], message, consequence, sights, severity=severity)
