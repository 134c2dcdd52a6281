"""Variables of its own that a template reads: which values are worth trying, and which turn reasoning on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatlint.conversation import JSON
from chatlint.detect.footing import Footing
from chatlint.probe.axes import SWITCH, switched
from chatlint.probe.case import Variant

ABOUT_REASONING = re.compile(r"think|reason|thought|cot\b", re.I)
ABOUT_EFFORT = re.compile(r"effort|strength|level|mode|budget", re.I)
_TURNS_OFF = re.compile(r"clear|trunc|drop|skip|disable|remove|strip|hide|no_|without", re.I)
_MISTAKEN = frozenset({"null", "nil", "NULL", "undefined"})
"""Other languages' words for none: in Jinja they are variables that nobody sets."""
_MOST_VALUES = 4
NEEDLE = "Zeppelin"
"""A text that no template compares with."""


def names_of(footing: Footing) -> tuple[str, ...]:
    """Variables that may be template kwargs, as the source has them."""
    return tuple(name for name in footing.syntax.switches if name not in _MISTAKEN)


def values_of(footing: Footing, name: str) -> tuple[JSON, ...]:
    """Values worth trying: the texts that the source compares it with, a text where it is printed, else true
    and false. Empty for a variable that is walked through like a list."""
    source = footing.trace.template.text
    compared = tuple(dict.fromkeys(_compared(source, name)))
    if compared:
        return (*compared[:_MOST_VALUES], *((True, False) if _is_tested(source, name) else ()))
    if re.search(rf"\bin\s+{name}\b|\b{name}\s*\|\s*tojson|\b{name}\s*\[", source):
        return ()
    if re.search(rf"\{{\{{-?\s*{name}\b(?!\s*if\b)|[~+]\s*{name}\b|\b{name}\s*[~+]", source):
        return (NEEDLE,)
    return (True, False)


def _compared(source: str, name: str) -> Iterator[str]:
    """Texts on the other side of `==`, `!=` or `in`."""
    text = r"""(?:'[^'\n]{0,40}'|"[^"\n]{0,40}")"""
    after = rf"\b{name}\b[\w.|()\s]{{0,40}}?(?:==|!=|\bin\b)\s*[\[(]?\s*({text}(?:\s*,\s*{text})*)"
    before = rf"({text})\s*(?:==|!=)\s*{name}\b"
    for match in (*re.finditer(after, source), *re.finditer(before, source)):
        yield from (piece[1:-1] for piece in re.findall(text, match[1]))


def _is_tested(source: str, name: str) -> bool:
    """Whether it is also read as true or false."""
    return re.search(rf"\b(?:if|not|and|or)\s+{name}\s*(?:-?%|\band\b|\bor\b|\))", source) is not None


def reasoning_on(footing: Footing) -> Variant:
    """Every variable about reasoning, set so that reasoning is asked for and kept."""
    chosen: dict[str, JSON] = {}
    for name in names_of(footing):
        if ABOUT_REASONING.search(name):
            chosen[name] = _asking(footing, name)
    return switched(chosen)


def spelled(switches: Variant) -> str:
    """Switches as a person writes them."""
    return ", ".join(f"{axis.removeprefix(SWITCH)}={value}" for axis, value in switches.items())


def _asking(footing: Footing, name: str) -> JSON:
    texts = [value for value in values_of(footing, name) if isinstance(value, str) and value != NEEDLE]
    if texts:
        return next((text for text in ("high", "enabled", "on", "thinking") if text in texts), texts[-1])
    if ABOUT_EFFORT.search(name):
        return "high"
    return not _TURNS_OFF.search(name)
