"""Whether two templates say the same: their prompts are compared, not their texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.records import dataclass
from chatlint.rules.cause import Sight
from chatlint.rules.turns import agree
from chatlint.text import visible

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
    from chatlint.probe.trace import Trace
    from chatlint.rules.subject import Subject
    from chatlint.source.package import Template

PLAIN = (
    "roles/user",
    "roles/system-user",
    "roles/user-assistant",
    "roles/user-assistant-user",
    "sequences/uaua",
)
TOOLS = ("tools/given", "tools/with-system", "calls/one", "calls/one-result", "calls/two-result")
_SHOWN = 60
_BEGUN = regex(r"[<\[][^<>\[\]\s]*$")


@dataclass(frozen=True, slots=True)
class Drift:
    """Two prompts for one conversation that are not the same. `note` shows the other one where they part."""

    ours: Observation
    theirs: Observation

    @property
    def sight(self) -> Sight:
        """Where ours parts from theirs."""
        start = min(self._place, max(len(self.ours.text) - 1, 0))
        return Sight(self.ours, start, min(start + 1, len(self.ours.text)), self.note)

    @property
    def note(self) -> str:
        """What the other one has there."""
        if self.theirs.failure:
            return f"the other one: {self.theirs.failure.message}"[:200]
        rest = self.theirs.text[self._place : self._place + _SHOWN]
        return f"the other one goes on with {visible(rest)}" if rest else "the other one ends here"

    @property
    def _place(self) -> int:
        """Where they part; the beginning of a mark that both have begun."""
        place = agree(self.ours.text, self.theirs.text)
        begun = _BEGUN.search(self.ours.text[max(place - _SHOWN, 0) : place])
        return place - len(begun.group()) if begun else place


@dataclass(frozen=True, slots=True)
class Compared:
    """The conversations, of `asked`, for which two templates give two prompts. They are `ordinary`, or, where
    those give the same, any other case."""

    found: tuple[Drift, ...]
    asked: int
    ordinary: bool = True

    @property
    def sights(self) -> tuple[Sight, ...]:
        return tuple(drift.sight for drift in self.found)


def compare(subject: Subject, other: Template, probes: Iterable[str]) -> Compared:
    """The prompts of the subject's template and another one: for `probes`, and where these give the same, for
    all that the subject's template was asked before. Capabilities and formats rest on that: who copies a
    template badly may have kept all but one form of arguments."""
    from chatlint.probe.trace import Trace

    with Trace(other, subject.trace.settings, probes=subject.trace.probes) as trace:
        ordinary = [subject.see(probe) for probe in probes]
        if found := _drifts(ordinary, trace):
            return Compared(found, len(ordinary))
        asked = subject.trace.observations
        return Compared(_drifts(asked, trace), len(asked), ordinary=False)


def _drifts(observations: Iterable[Observation], trace: Trace) -> tuple[Drift, ...]:
    pairs = [Drift(ours, trace.ask(ours.case)) for ours in observations]
    return tuple(drift for drift in pairs if _said(drift.ours) != _said(drift.theirs))


def _said(observation: Observation) -> tuple[str, str]:
    """The prompt, or that there is none: two refusals are the same, whatever their words."""
    return observation.text, observation.failure.kind if observation.failure else ""
