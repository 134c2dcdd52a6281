"""Generation prompts: what the template adds so that the model answers, and what that leaves open.

Theory of operation. Behind the header a generation prompt may open reasoning, open and close it (or only
close it), or open content. Which it did last is the state the model starts in. A tail that opens nothing
known, closes nothing and is no content opener is itself an opener of reasoning that turns in the history
never show.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from chatlint.conversation import JSON
from chatlint.detect.footing import Footing
from chatlint.detect.generation_prompt import added
from chatlint.detect.kwargs import ABOUT_REASONING, names_of, values_of
from chatlint.infer.markers import atoms, is_tag
from chatlint.lazy import regex
from chatlint.parse.formats import GenerationPrompt, Marks, ReasoningState, SwitchedPrompt
from chatlint.probe.axes import switched
from chatlint.probe.case import Variant
from chatlint.records import dataclass
from chatlint.render.constants import TextKind

OFF: Variant = {"generation": "off"}
_DEGREES = ("none", "low", "medium", "high", "off", "on", "disabled", "enabled", "adaptive")
_ABOUT_AMOUNT = regex(r"budget|tokens|max_", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Printed:
    """A generation prompt as printed, the switches that make it so, and the case."""

    switches: Mapping[str, JSON]
    text: str
    case: str


def find_prompts(footing: Footing) -> tuple[Printed, ...]:
    """The generation prompt without switches, then with each value of each switch that changes it."""
    off = footing.look("roles/user", OFF)
    plain = Printed(
        {}, added(footing.base, off)[0] if footing.base.prompt and off.prompt else "", footing.base.case.id
    )
    found = [plain]
    for name in names_of(footing):
        tried = [_with(footing, name, value) for value in _values(footing, name)]
        if any(one.text != plain.text for one in tried if one):
            found += [one for one in tried if one]
    return tuple(found)


def _values(footing: Footing, name: str) -> tuple[JSON, ...]:
    """What detection would try and, of variables about reasoning, the degrees that the template spells
    anywhere (it may look them up instead of comparing) and amounts, none of it among them."""
    values = values_of(footing, name)
    if not ABOUT_REASONING.search(name):
        return values
    spelled = {text.text for text in footing.syntax.texts if text.kind is TextKind.STRING}
    degrees = tuple(degree for degree in _DEGREES if degree in spelled and degree not in values)
    amounts = (0, 512) if _ABOUT_AMOUNT.search(name) else ()
    return (*values, *degrees, *amounts)


def _with(footing: Footing, name: str, value: JSON) -> Printed | None:
    seen = footing.look("roles/user", switched({name: value}))
    if seen.prompt is None:
        return None
    return Printed({name: value}, added(seen, footing.look("roles/user", OFF))[0], seen.case.id)


def state_of(tail: str, reasoning: Sequence[Marks]) -> ReasoningState:
    """What a generation prompt (behind its header) leaves behind: whichever mark of reasoning stands last
    in it."""
    opened = max((tail.rfind(marks.start.strip()) for marks in reasoning if marks.start.strip()), default=-1)
    closed = max((tail.rfind(marks.end.strip()) for marks in reasoning if marks.end.strip()), default=-1)
    if opened < 0 and closed < 0:
        return ReasoningState.NONE
    return ReasoningState.OPEN if opened > closed else ReasoningState.CLOSED


def tail_of(prompt: str, header: str) -> str:
    """A generation prompt without its header."""
    at = prompt.rfind(header) if header else -1
    return prompt[at + len(header) :] if at >= 0 else prompt


def opens_otherwise(tail: str, known: Sequence[str]) -> bool:
    """Whether a tail opens something that none of the known marks is: a tag at its end that begins none of
    them."""
    tags = [atom for atom in atoms(tail) if is_tag(atom)]
    return bool(tags) and tail.rstrip().endswith(tags[-1]) and not any(tags[-1] in mark for mark in known)


def generation_prompt(
    printed: Sequence[Printed], header: str, reasoning: Sequence[Marks]
) -> GenerationPrompt:
    """What the format says about generation prompts; of switches, those that change what follows the
    header."""
    plain = printed[0]
    tail = tail_of(plain.text, header)
    changing = {name for one in printed[1:] for name in one.switches if tail_of(one.text, header) != tail}
    by_switch = tuple(
        SwitchedPrompt(
            one.switches, header + tail_of(one.text, header), state_of(tail_of(one.text, header), reasoning)
        )
        for one in printed[1:]
        if changing & set(one.switches)
    )
    return GenerationPrompt(plain.text, state_of(tail, reasoning), by_switch)
