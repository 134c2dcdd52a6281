"""The turns a format is learned from, asked for in the manner that the template was found to take.

Every question is one probe; detection has already found how the template wants to be addressed, which form
of a call it writes whole, and which field and switches show reasoning. Turns that end the conversation are
rendered without a generation prompt, for some templates close the last turn differently when one follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatlint.detect.calls import CallForm, find_call_form
from chatlint.detect.footing import Footing, find_footing
from chatlint.detect.reasoning import ReasoningForm, find_reasoning_form
from chatlint.infer.bodies import Body, Grade, bodies_of, grade_of
from chatlint.infer.turns import Turn, turn_of
from chatlint.probe.case import Observation, Variant
from chatlint.probe.trace import Trace
from chatlint.records import dataclass, field
from chatlint.render.syntax import Syntax

OFF: Variant = {"generation": "off"}


@dataclass(slots=True)
class Samples:
    """A template in the manner it answers to: `calls` and `reasoning` are the variants in which it shows
    them, None where it never does; `number` is what its call probes are called (`calls/one`,
    `calls/two-result` …); `seen` is all that was asked."""

    footing: Footing
    calls: Variant | None = None
    grade: Grade = Grade.NOTHING
    suffix: str = ""
    reasoning: Variant | None = None
    seen: list[Observation] = field(default_factory=list)

    def look(self, probe: str, *variants: Variant) -> Observation:
        """A probe in the template's manner, with what its group needs."""
        group = probe.partition("/")[0]
        needs: list[Variant] = []
        if self.calls is not None and (group in ("calls", "arguments") or "call" in probe):
            needs.append(self.calls)
        if self.reasoning is not None and (group == "reasoning" or any("reasoning" in v for v in variants)):
            needs.append(self.reasoning)
        seen = self.footing.look(probe, *needs, *variants)
        self.seen.append(seen)
        return seen

    def turn(self, probe: str, *variants: Variant, index: int = -1) -> Turn | None:
        """The last assistant turn (or that of the message at `index`) of a probe."""
        return turn_of(self.look(probe, *variants), index)

    def call_turn(self, number: str, *variants: Variant) -> Turn | None:
        """The turn with `one`, `two` or `three` calls."""
        return self.turn(f"calls/{number}{self.suffix}", *variants, *(() if self.suffix else (OFF,)), index=1)


def find_samples(trace: Trace, syntax: Syntax) -> Samples:
    """How this template shows calls and reasoning, as far as it does."""
    footing = find_footing(trace, syntax)
    samples = Samples(footing)
    form = find_call_form(footing)
    if form.name or form.arguments:
        _choose_calls(samples, form)
    reasoning = find_reasoning_form(footing, samples.calls)
    samples.reasoning = reasoning.variant if reasoning.shown else None
    return samples


def _choose_calls(samples: Samples, form: CallForm) -> None:
    """The form in which a call can be read back best. What detection found goes first; a text instead of an
    object is tried where the object comes out as Python prints it."""
    best: tuple[Grade, Variant, str] = (Grade.NOTHING, form.variant, "")
    for variant, suffix in _call_forms(form):
        samples.calls, samples.suffix = variant, suffix
        turn = samples.call_turn("one")
        grade = grade_of(bodies_of(turn)) if turn else Grade.NOTHING
        if grade > best[0]:
            best = grade, variant, suffix
        if grade is Grade.WHOLE:
            break
    samples.grade, samples.calls, samples.suffix = best


def _call_forms(form: CallForm) -> Iterator[tuple[Variant, str]]:
    text: Mapping[str, str] = {"arguments": "string"}
    whole = form.probe.removeprefix("calls/one")
    suffixes = [""] if whole == "" else ["", whole]
    for suffix in suffixes:
        yield form.variant, suffix
    if form.variant.get("arguments") != "string":
        yield {**form.variant, **text}, ""
        yield {**form.variant, **text}, whole
    if form.variant.get("ids") != "named":
        yield {**form.variant, "ids": "named"}, ""


__all__ = ["OFF", "Body", "ReasoningForm", "Samples", "find_samples"]
