"""Whether two templates say the same: their prompts are compared, not their texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from chatlint.records import dataclass
from chatlint.rules.cause import Sight
from chatlint.rules.turns import agree
from chatlint.text import visible

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
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
_BEGUN = re.compile(r"[<\[][^<>\[\]\s]*$")


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


def drifts(subject: Subject, other: Template, probes: Iterable[str]) -> list[Drift]:
    """The conversations among `probes` for which the subject's template and another one give two prompts."""
    from chatlint.probe.trace import Trace

    found = []
    with Trace(other, subject.trace.settings, probes=subject.trace.probes) as trace:
        for probe in probes:
            ours = subject.see(probe)
            theirs = trace.ask(ours.case)
            if _said(ours) != _said(theirs):
                found.append(Drift(ours, theirs))
    return found


def _said(observation: Observation) -> tuple[str, str]:
    """The prompt, or that there is none: two refusals are the same, whatever their words."""
    return observation.text, observation.failure.kind if observation.failure else ""
