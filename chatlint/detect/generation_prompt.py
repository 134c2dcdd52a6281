"""What `add_generation_prompt` adds."""

from __future__ import annotations

from chatlint.detect.answer import refused
from chatlint.detect.capability import Capability, GenerationPrompt, Support
from chatlint.detect.footing import USER, Footing
from chatlint.probe.case import Observation
from chatlint.probe.reading import place


def detect_generation_prompt(footing: Footing) -> tuple[Capability, GenerationPrompt]:
    """The text after one user message that stands there only with the flag."""
    on, off = footing.base, footing.look("roles/user", {"generation": "off"})
    cases = (on.case.id, off.case.id)
    name = "generation_prompt"
    if answer := refused(name, on) or refused(name, off):
        return answer, GenerationPrompt("", evidence=cases, note=answer.note)
    text, note = added(on, off)
    if on.text == off.text:
        note = "the flag changes nothing"
    support = Support.NO if on.text == off.text else Support.PARTIAL if note else Support.YES
    return Capability(name, support, cases, note), GenerationPrompt(text, evidence=cases, note=note)


def added(on: Observation, off: Observation) -> tuple[str, str]:
    """The generation prompt of two prompts that differ by the flag, and a note where it is not simply
    added."""
    if on.text.startswith(off.text):
        return on.text[len(off.text) :], ""
    ended, tail = _tail(off), _tail(on)
    if tail.startswith(ended):
        return tail[len(ended) :], "the flag also changes what stands before"
    return tail[_common(tail, ended) :], "the flag also changes how the last turn ends"


def _tail(seen: Observation) -> str:
    span = place(seen, USER)
    if span is None or seen.prompt is None:
        return seen.text
    return seen.text[max(one.end for one in seen.prompt.inputs(USER, key=False)) :]


def _common(one: str, other: str) -> int:
    """Characters that two texts begin with, never ending inside a marker or a word."""
    pairs = zip(one, other, strict=False)
    same = next((position for position, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    while same and one[same - 1] not in ">]\n ":
        same -= 1
    return same
