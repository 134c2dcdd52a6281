"""In which other hosts a finding holds.

Theory of operation. Other hosts are asked about what there is, never whether there is more: for each error
and warning, the smallest case that shows it. Where the other host gives the template the same as this one
(`probe.likeness`), it writes the same, and nothing is rendered: the finding holds. Else the case is rendered
there. Where this host's render failed, the finding holds if that one fails the same way and is hidden if it
does not; where there is a prompt, it holds if the marked text stands there between its neighbours, and is
hidden if the marked text is nowhere. Anything else is not known, and said of neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause, Sight, failure_key, smallest_first
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Rule

if TYPE_CHECKING:
    from chatlint.probe.trace import Trace
    from chatlint.rules.subject import Subject

COMPARED = ("transformers-5.24", "transformers-4.57", "vllm", "llama.cpp")
"""The hosts that findings are looked for in."""
_NEIGHBOURS = 12
"""Characters on each side of a mark that must be the same."""


def settled(subject: Subject, rule: Rule, causes: Iterable[Cause]) -> list[Cause]:
    """The causes with every host in which they are known to hold, and those on which they are hidden. What
    says itself where it holds is left alone, and what no render shows."""
    return [
        _settled(subject, cause) if _matters(rule, cause) and not cause.hosts else cause for cause in causes
    ]


def _matters(rule: Rule, cause: Cause) -> bool:
    return bool(cause.sights) and not cause.own and (cause.severity or rule.severity) is not Severity.INFO


def _settled(subject: Subject, cause: Cause) -> Cause:
    own = subject.trace.settings.host
    sight = smallest_first(cause.sights)[0]
    told = {host: _holds(subject.elsewhere(host), sight) for host in COMPARED if host != own}
    return replace(
        cause,
        hosts=(own, *(host for host, holds in told.items() if holds)),
        hidden_on=tuple(host for host, holds in told.items() if holds is False),
    )


def _holds(other: Trace, sight: Sight) -> bool | None:
    """None where it cannot be told."""
    here, there = sight.observation, other.ask(sight.observation.case)
    if here.failure:
        same = there.failure and failure_key(there.failure) == failure_key(here.failure)
        return bool(same) if same or there.prompt else None
    if here.text == there.text:
        return True
    if sight.end <= sight.start or there.prompt is None:
        return None
    around = slice(max(sight.start - _NEIGHBOURS, 0), sight.end + _NEIGHBOURS)
    if here.text[around] in there.text:
        return True
    return None if here.text[sight.start : sight.end] in there.text else False
