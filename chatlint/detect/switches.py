"""Variables that callers may set: what leaving them unset means, and what each value changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from chatlint.conversation import JSON
from chatlint.detect.capability import CALLS_TO, GenerationPrompt, Switch
from chatlint.detect.footing import Footing
from chatlint.detect.generation_prompt import added
from chatlint.detect.kwargs import ABOUT_REASONING, CALLED, NEEDLE, names_of, reasoning_on, spelled, values_of
from chatlint.detect.media import FORMS
from chatlint.detect.second_form import second_form
from chatlint.probe.axes import switched
from chatlint.probe.case import Observation, Variant
from chatlint.probe.reading import SHOWN, fate
from chatlint.records import dataclass, replace
from chatlint.render.rendered import FailureKind
from chatlint.text import Input

UNSET = "unset"
_BESIDE = 8
"""Renders of one template after which switches without effect are not asked beside anything else."""
MOST = 12
"""Variables of one template that are tried; real templates have fewer, but for a few that are whole
programs."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """A value, and what the template did with it in each context (None: it was not asked)."""

    value: JSON
    seen: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class Contexts:
    """Probes in which a switch may show: one question, and a long conversation with everything it takes."""

    variants: tuple[tuple[str, Variant], ...]
    unset: tuple[Observation, ...]

    @property
    def shortest(self) -> Contexts:
        """Only the one question."""
        return Contexts(self.variants[:1], self.unset[:1])


def find_contexts(footing: Footing, reasoning: Variant | None, calls: Variant | None) -> Contexts:
    """One user message; and the longest of the usual conversations that the template takes."""
    variants: list[tuple[str, Variant]] = [("roles/user", {})]
    unset = [footing.base]
    for probe, variant in _long(reasoning, calls):
        seen = footing.look(probe, variant)
        if seen.prompt:
            variants.append((probe, variant))
            unset.append(seen)
            break
    return Contexts(tuple(variants), tuple(unset))


def _long(reasoning: Variant | None, calls: Variant | None) -> Iterator[tuple[str, Variant]]:
    thought: Variant = {"reasoning": "reasoning_content", **(reasoning or {})}
    if calls is not None:
        yield "roles/everything", {**calls, **thought}
    yield "reasoning/two-followed", reasoning or {}
    yield "roles/system-user", {}


def detect_switches(footing: Footing, contexts: Contexts) -> tuple[Switch, ...]:
    """Every variable of the template's own, in the order of the source; those beyond `MOST` are only
    named."""
    names = names_of(footing)
    tried = [_switch(footing, contexts, name) for name in names[:MOST]]
    most = footing.trace.renders + _BESIDE
    found = (one if one.effect else _beside_others(footing, contexts, one, most) for one in tried)
    return (*found, *(Switch(name, UNSET, (), "not tried") for name in names[MOST:]))


def _switch(footing: Footing, contexts: Contexts, name: str) -> Switch:
    """Asked in one question first; where that shows nothing, or reasoning or calls may be concerned, in all
    contexts; where those show nothing, beside reasoning."""
    if not ABOUT_REASONING.search(name) and values_of(footing, name) != ([CALLED],):
        found = _judged(footing, contexts.shortest, name)
        if found.effect:
            return found
    found = _judged(footing, contexts, name)
    return found if found.effect else _beside_reasoning(footing, contexts, found)


def _judged(footing: Footing, contexts: Contexts, name: str) -> Switch:
    tried = [_try(footing, contexts, name, value) for value in values_of(footing, name)]
    broken = [one for one in tried if _breaks(one, contexts)]
    if broken and tried[0].value != NEEDLE:
        tried = [one for one in tried if one not in broken]
        tried.append(_try(footing, contexts, name, NEEDLE))
    same = [one for one in tried if _texts(one.seen) == _texts(contexts.unset)]
    changed = [one for one in tried if one not in same]
    effects = dict.fromkeys(effect for one in changed for effect in _effects(contexts.unset, one.seen))
    form = second_form(contexts.unset[-1], tried[0].seen[-1]) if tried[:1] and _names(tried[0]) else ""
    if form:
        effects.pop("turns", None)
        effects[f"{CALLS_TO}{form}"] = None
    default = json.dumps(same[0].value) if same and changed else UNSET
    evidence = dict.fromkeys(seen.case.id for one in tried for seen in one.seen)
    values = tuple(json.dumps(one.value) for one in tried)
    return Switch(name, default, values, ", ".join(effects), tuple(evidence))


def _names(tried: _Tried) -> bool:
    """Whether it names functions whose calls may be written in another way."""
    return tried.value == [CALLED]


def _breaks(tried: _Tried, contexts: Contexts) -> bool:
    """Whether the value breaks what worked without it: it is of the wrong kind. (A refusal is an answer.)"""
    failures = [seen.failure for seen, unset in zip(tried.seen, contexts.unset, strict=True) if unset.prompt]
    return any(failure is not None and failure.kind is FailureKind.FAULT for failure in failures)


def _beside_reasoning(footing: Footing, contexts: Contexts, inert: Switch) -> Switch:
    """A switch without effect may have one once reasoning is turned on."""
    on = {axis: value for axis, value in reasoning_on(footing).items() if axis != f"kwargs.{inert.name}"}
    if not on or on.keys() & _kwargs_of(contexts) or not ABOUT_REASONING.search(inert.name):
        return inert
    variants = tuple((probe, {**variant, **on}) for probe, variant in contexts.variants)
    beside = Contexts(variants, tuple(footing.look(probe, variant) for probe, variant in variants))
    found = _judged(footing, beside, inert.name)
    return replace(found, effect=f"{found.effect} (only with {spelled(on)})" if found.effect else "")


INLINE = "thoughts in the text"
_OTHERS = (
    ("images", "image", "media/two-images"),
    ("audio", "audio", "media/two-audios"),
    ("video", "video", "media/two-videos"),
    ("tools", "tool", "tools/with-system"),
    ("tool results in parts", "tool", "content/two-parts-result"),
    ("documents", "document", "documents/given"),
    (INLINE, "</", "content/inline-thought-followed"),
)
"""What a switch may be about beside texts, calls and reasoning, how a source names it, and a probe that has
it."""


def _beside_others(footing: Footing, contexts: Contexts, inert: Switch, most: int) -> Switch:
    """A switch without effect may have one where a conversation has something else in it. It is not asked
    after so many renders of the template."""
    known = any(seen.case.conversation.tools for seen in contexts.unset)
    read = {line for one in footing.syntax.variables if one.name == inert.name for line in one.lines}
    for what, word, probe in _OTHERS if inert.values else ():
        if what == "tools" and known:
            continue
        for there in _taken(footing, contexts, probe) if footing.mentions(word) else ():
            if read.isdisjoint(footing.trace.rendered(there.unset[0].case).lines):
                continue
            if footing.trace.renders >= most:
                return inert
            found = _judged(footing, there, inert.name)
            if found.effect:
                return replace(found, effect=f"{found.effect} (only with {what})")
    return inert


def _taken(footing: Footing, contexts: Contexts, probe: str) -> Iterator[Contexts]:
    """The probe in each form that the template takes."""
    calls = contexts.variants[-1][1] if probe == "content/two-parts-result" else {}
    for form in [{"parts": "given", **form} for form in FORMS] if probe.startswith("media/") else [calls]:
        seen = footing.look(probe, form)
        if seen.prompt:
            yield Contexts(((probe, form),), (seen,))


def _kwargs_of(contexts: Contexts) -> set[str]:
    return {axis for _, variant in contexts.variants for axis in variant}


def _try(footing: Footing, contexts: Contexts, name: str, value: JSON) -> _Tried:
    kwarg = switched({name: value})
    return _Tried(value, tuple(footing.look(probe, variant, kwarg) for probe, variant in contexts.variants))


def _texts(seen: Sequence[Observation]) -> list[tuple[str, bool]]:
    return [(observation.text, observation.prompt is None) for observation in seen]


def _effects(unset: Sequence[Observation], seen: Sequence[Observation]) -> Iterator[str]:
    for before, after in zip(unset, seen, strict=True):
        yield from _effect(before, after)


def _effect(before: Observation, after: Observation) -> Iterator[str]:
    """What changed between two prompts of one conversation."""
    if before.prompt is None or after.prompt is None:
        if (before.prompt is None) != (after.prompt is None):
            yield "refuses" if after.prompt is None else "accepts"
        return
    if before.text == after.text:
        return
    if _tail(before) != _tail(after):
        yield "generation prompt"
    lost, won = _reasoning(before) - _reasoning(after), _reasoning(after) - _reasoning(before)
    if lost or won:
        yield "reasoning in the history"
    if _head(before) != _head(after):
        yield "opening text"
    if _middle(before) != _middle(after) and not (lost or won):
        yield "turns"


def _reasoning(seen: Observation) -> frozenset[str]:
    messages = enumerate(seen.case.conversation.messages)
    pointers = [
        f"/messages/{position}/reasoning_content"
        for position, one in messages
        if one.get("reasoning_content")
    ]
    return frozenset(pointer for pointer in pointers if fate(seen, pointer) in SHOWN)


def _bounds(seen: Observation) -> tuple[int, int]:
    """Where the first message's own characters begin and the last one's end."""
    spans = [span for span in (seen.prompt.spans if seen.prompt else ()) if _of_message(span.origin)]
    return (spans[0].start, spans[-1].end) if spans else (len(seen.text), len(seen.text))


def _of_message(origin: object) -> bool:
    return (
        isinstance(origin, Input)
        and origin.pointer.startswith("/messages/")
        and not origin.pointer.endswith("/role")
    )


def _head(seen: Observation) -> str:
    return seen.text[: _bounds(seen)[0]]


def _tail(seen: Observation) -> str:
    return seen.text[_bounds(seen)[1] :]


def _middle(seen: Observation) -> str:
    start, end = _bounds(seen)
    return seen.text[start:end]


def generation_by_switch(footing: Footing, switches: Sequence[Switch]) -> Mapping[str, str]:
    """The generation prompt for every value of a switch that changes it, by `name=value`."""
    off = footing.look("roles/user", {"generation": "off"})
    found: dict[str, str] = {}
    for switch in switches:
        if "generation prompt" not in switch.effect:
            continue
        for value in switch.values:
            on = footing.look("roles/user", {f"kwargs.{switch.name}": value})
            if on.prompt:
                found[f"{switch.name}={value}"] = _added(on, off)
    return found


def _added(on: Observation, off: Observation) -> str:
    """The switch may change earlier text too, so only what stands after the question is compared."""
    return added(on, off)[0]


def with_switches(prompt: GenerationPrompt, by_switch: Mapping[str, str]) -> GenerationPrompt:
    """The generation prompt with what switches make of it."""
    return GenerationPrompt(prompt.text, by_switch, prompt.evidence, prompt.note)
