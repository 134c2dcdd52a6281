"""In which other hosts a finding holds.

Theory of operation. Other hosts are asked about what there is, never whether there is more: for each error
and warning, the smallest case that shows it. Where the other host gives the template the same as this one
(`probe.likeness`), it writes the same, and nothing is rendered: the finding holds. Else the case is rendered
there. Where this host's render failed, the finding holds if that one fails the same way and is hidden if it
does not. Where a value is nowhere in this host's prompt, the finding holds if it is nowhere in that one;
where there is marked text, it holds if that stands there between its neighbours, and is hidden if the marked
text is nowhere. Anything else is not known, and said of neither. A template refuses several things with one
sentence, of which a host may hide one: hidden is such a finding only where the next cases are hidden, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from chatlint.records import replace
from chatlint.rules.cause import Cause, Sight, failure_key, smallest_first
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Rule
from chatlint.rules.sights import bounds, content_shown, declined

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
    from chatlint.probe.trace import Trace
    from chatlint.rules.subject import Subject

COMPARED = ("transformers-5.24", "transformers-4.57", "vllm", "llama.cpp")
"""The hosts that findings are looked for in."""
_NEIGHBOURS = 12
"""Characters on each side of a mark that must be the same."""
_CASES = 4
"""So many refusals of one cause are asked of a host that hides the ones before."""


def settled(subject: Subject, rule: Rule, causes: Iterable[Cause]) -> list[Cause]:
    """The causes with every host in which they are known to hold, and those on which they are hidden. What
    says itself where it holds is left alone, and what no render shows."""
    return [
        _settled(subject, cause)
        if _matters(rule, cause) and not cause.hosts and _seen_here(subject, cause)
        else cause
        for cause in causes
    ]


def _seen_here(subject: Subject, cause: Cause) -> bool:
    """What was seen without trimming, without a clock or at another size says nothing of other hosts."""
    return all(subject.trace.saw(sight.observation) for sight in cause.sights)


def _matters(rule: Rule, cause: Cause) -> bool:
    return bool(cause.sights) and not cause.own and (cause.severity or rule.severity) is not Severity.INFO


def _settled(subject: Subject, cause: Cause) -> Cause:
    own = subject.trace.settings.host
    sights = smallest_first(cause.sights)[:_CASES]
    told = {host: _any_holds(subject.elsewhere(host), sights) for host in COMPARED if host != own}
    return replace(
        cause,
        hosts=(own, *(host for host, holds in told.items() if holds)),
        hidden_on=tuple(host for host, holds in told.items() if holds is False),
    )


def _any_holds(other: Trace, sights: tuple[Sight, ...]) -> bool | None:
    """None where it cannot be told; what a template refuses is asked further where the first is hidden."""
    asked = (sight for number, sight in enumerate(sights) if number == 0 or declined(sight.observation))
    return next((told for sight in asked if (told := _holds(other, sight)) is not False), False)


def _holds(other: Trace, sight: Sight) -> bool | None:
    """None where it cannot be told."""
    here, there = sight.observation, other.ask(sight.observation.case)
    if here.failure:
        same = there.failure and failure_key(there.failure) == failure_key(here.failure)
        return bool(same) if same or there.prompt else None
    if here.text == there.text:
        return True
    if there.prompt is None:
        return None
    if sight.lost and not _reaches(here, sight.lost):
        return not _reaches(there, sight.lost)
    if sight.end <= sight.start:
        return None
    around = slice(max(sight.start - _NEIGHBOURS, 0), sight.end + _NEIGHBOURS)
    if here.text[around] in there.text:
        return True
    return None if here.text[sight.start : sight.end] in there.text else False


def _reaches(observation: Observation, pointer: str) -> bool:
    """Whether a value is in the prompt: all texts of a content, something of anything else."""
    if pointer.endswith("/content"):
        return content_shown(observation, pointer)
    return bounds(observation, pointer) is not None
