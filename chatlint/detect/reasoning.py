"""Reasoning in the history: which fields are read, and in which turns it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chatlint.detect.answer import noted, refused, unasked
from chatlint.detect.calls import CallForm
from chatlint.detect.capability import Capability, Support
from chatlint.detect.footing import Footing
from chatlint.detect.kwargs import reasoning_on, spelled
from chatlint.probe.case import Observation, Variant
from chatlint.probe.reading import SHOWN, fate, keeps, names_shown, texts
from chatlint.records import dataclass

ANSWER = "/messages/1"
FIELDS: Mapping[str, str] = {
    "reasoning_content": "/reasoning_content",
    "reasoning": "/reasoning",
    "thinking": "/thinking",
    "parts": "/content/0/thinking",
}
"""Value of the axis `reasoning` → where the text then stands in a message."""
UNPROMPTED: Variant = {"generation": "off"}
"""Some templates write the last answer whole only where no generation prompt follows: as text to train on."""
PLACES = (
    ("reasoning_last_turn", "reasoning/last"),
    ("reasoning_tool_loop", "reasoning/call-result"),
    ("reasoning_earlier_turns", "reasoning/two-followed"),
    ("reasoning_earlier_loops", "reasoning/call-followed"),
)
SPOKEN = {
    "reasoning_last_turn": "the last turn",
    "reasoning_tool_loop": "a running tool loop",
    "reasoning_earlier_turns": "earlier turns",
    "reasoning_earlier_loops": "earlier tool loops",
}


@dataclass(frozen=True, slots=True)
class ReasoningForm:
    """How this template takes reasoning: the field it stands in and the switches (or `UNPROMPTED`) that show
    it. `shown` says whether it was ever shown."""

    field: str
    switches: Variant
    shown: bool
    asked: tuple[Observation, ...]

    @property
    def variant(self) -> Variant:
        return {**({} if self.field == "reasoning_content" else {"reasoning": self.field}), **self.switches}


def find_reasoning_form(footing: Footing, calls: Variant | None) -> ReasoningForm:
    """The first field and switches with which reasoning reaches a prompt. `calls` is the form of tool calls,
    None where there are none."""
    asked: list[Observation] = []
    for field, switches in _forms(footing):
        loops = calls is not None and UNPROMPTED.keys().isdisjoint(switches)
        for probe in ("reasoning/last", "reasoning/call-result")[: 1 + loops]:
            variant = {"reasoning": field} if field != "reasoning_content" else {}
            seen = footing.look(probe, calls or {} if "call" in probe else {}, variant, switches)
            asked.append(seen)
            if _kept(seen, field):
                fewest = _fewest(footing, seen, field, switches)
                return ReasoningForm(field, fewest, True, tuple(asked))
        if not footing.mentions(r"reason|think|thought"):
            break  # the source never names it, and nothing was shown: no other way will
    return ReasoningForm("reasoning_content", {}, False, tuple(asked))


def _fewest(footing: Footing, seen: Observation, field: str, switches: Variant) -> Variant:
    """One switch that shows reasoning by itself, if there is one: the others may write text of their own."""
    rest = {axis: value for axis, value in seen.case.variant if axis not in switches}
    for axis, value in switches.items() if len(switches) > 1 else ():
        if _kept(footing.look(seen.case.probe, rest, {axis: value}), field):
            return {axis: value}
    return switches


def _forms(footing: Footing) -> Iterator[tuple[str, Variant]]:
    on = reasoning_on(footing)
    yield "reasoning_content", {}
    if on:
        yield "reasoning_content", on
    for field, mention in (("thinking", r"\bthinking\b"), ("reasoning", r"\breasoning\b")):
        if footing.mentions(mention):
            yield field, {}
    if footing.mentions(r"['\"]thinking['\"]|\.thinking\b"):
        yield "parts", {}
        yield "parts", on
    yield "reasoning_content", UNPROMPTED
    if on:
        yield "reasoning_content", {**on, **UNPROMPTED}


def _kept(seen: Observation, field: str, message: str = ANSWER) -> bool:
    """Shown, and not merely as a part of a list that was printed as data."""
    if seen.prompt is None or fate(seen, message + FIELDS[field]) not in SHOWN:
        return False
    return field != "parts" or not names_shown(seen, f"{message}/content")


NO_CALLS = "no tool calls"


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks about reasoning in the form that shows it; tool loops in the form that shows calls."""

    footing: Footing
    form: ReasoningForm
    calls: CallForm

    def look(self, probe: str, *variants: Variant) -> Observation:
        calls = self.calls.variant if "call" in probe else {}
        return self.footing.look(probe, calls, *variants)

    def kept(self, seen: Observation, message: str = ANSWER) -> bool:
        return _kept(seen, self.form.field, message)


def detect_reasoning(footing: Footing, form: ReasoningForm, calls: CallForm) -> Iterator[Capability]:
    """Where reasoning is kept, under which names, and what becomes of thoughts inside the content."""
    asker = _Asker(footing, form, calls)
    places = [_place(asker, name, probe) for name, probe in PLACES]
    yield _summary(form, places)
    yield from places
    yield _fields(asker)
    yield _inline(footing)


def _place(asker: _Asker, name: str, probe: str) -> Capability:
    form, calls = asker.form, asker.calls
    if not form.shown:
        return unasked(name, form.asked) or Capability(name, Support.NO, _ids(form.asked))
    if "call" in probe and not calls.there:
        return unasked(name, (calls.seen,)) or Capability(name, Support.NO, (calls.seen.case.id,), NO_CALLS)
    seen = asker.look(probe, form.variant)
    if answer := refused(name, seen):
        return answer
    if asker.kept(seen):
        return noted(Capability(name, Support.YES, (seen.case.id,)), _with(form.switches))
    if name == "reasoning_earlier_turns" and asker.kept(seen, "/messages/3"):
        return Capability(name, Support.NO, (seen.case.id,), "only that of the last answer")
    return _kept_by_switch(asker, name, probe, seen)


def _kept_by_switch(asker: _Asker, name: str, probe: str, seen: Observation) -> Capability:
    """Dropped as it stands: does some switch keep it?"""
    answer = Capability(name, Support.NO, (seen.case.id,))
    on = reasoning_on(asker.footing)
    if not on or on == asker.form.switches:
        return answer
    kept = asker.look(probe, asker.form.variant, on)
    if not asker.kept(kept):
        return noted(answer, evidence=(kept,))
    return Capability(name, Support.PARTIAL, (seen.case.id, kept.case.id), _with(on))


def _with(switches: Variant) -> str:
    rest = {axis: value for axis, value in switches.items() if axis not in UNPROMPTED}
    ways = [f"with {spelled(rest)}"] if rest else []
    ways += [] if rest == switches else ["without a generation prompt"]
    return f"only {', '.join(ways)}" if ways else ""


def _summary(form: ReasoningForm, places: Sequence[Capability]) -> Capability:
    evidence = tuple(dict.fromkeys(case for place in places for case in place.evidence))
    kept = [SPOKEN[place.name] for place in places if place.support is Support.YES]
    asked = [place for place in places if place.note != NO_CALLS]
    lost = [SPOKEN[place.name] for place in asked if place.support is not Support.YES]
    if not form.shown:
        never = Capability("reasoning", Support.NO, _ids(form.asked), "never kept in the history")
        return unasked("reasoning", form.asked) or never
    always = all(place.support is Support.YES for place in asked) and not form.switches
    note = f"kept in {', '.join(kept) or 'no turn by default'}" + (
        f"; dropped from {', '.join(lost)}" if lost else ""
    )
    return Capability("reasoning", Support.YES if always else Support.PARTIAL, evidence, note)


def _fields(asker: _Asker) -> Capability:
    """Under which names the same reasoning is shown, asked where it was shown first."""
    form = asker.form
    if not form.shown:
        never = Capability("reasoning_fields", Support.NO, _ids(form.asked))
        return unasked("reasoning_fields", form.asked) or never
    accepted, asked = [], []
    for field in FIELDS:
        if field == "parts" and not (form.field == field or asker.footing.mentions(r"['\"]thinking['\"]")):
            continue
        axis: Variant = {"reasoning": field} if field != "reasoning_content" else {}
        seen = asker.look(form.asked[-1].case.probe, axis, form.switches)
        asked.append(seen)
        if _kept(seen, field):
            accepted.append(field)
    return Capability("reasoning_fields", Support.YES, _ids(asked), ", ".join(accepted))


def _inline(footing: Footing) -> Capability:
    """What becomes of a thought that a client left in the content of an earlier answer."""
    seen = footing.look("content/inline-thought-followed")
    if answer := refused("inline_reasoning", seen):
        return answer
    (pointer,) = texts(seen, f"{ANSWER}/content")
    case = (seen.case.id,)
    if keeps(seen, pointer, "Pebbles"):
        return Capability("inline_reasoning", Support.YES, case, "kept")
    if fate(seen, pointer) in SHOWN:
        return Capability("inline_reasoning", Support.YES, case, "kept, altered")
    return Capability("inline_reasoning", Support.NO, case, "cut from an earlier answer")


def _ids(observations: Sequence[Observation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(observation.case.id for observation in observations))
