"""Variables of its own that a template reads: which values are worth trying, and which turn reasoning on.

The source is only asked for candidates. What a value does, a render decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from chatlint.conversation import JSON
from chatlint.detect.footing import Footing
from chatlint.lazy import regex
from chatlint.limits import SWITCHES
from chatlint.probe.axes import SWITCH, switched
from chatlint.probe.case import Variant

ABOUT_REASONING = regex(r"think|reason|thought|cot\b", re.I)
_ABOUT_DEGREE = regex(r"effort|strength|level|mode", re.I)
_ABOUT_AMOUNT = regex(r"budget|tokens|chars|after\b|max_", re.I)
_TURNS_OFF = regex(r"clear|trunc|drop|skip|disable|remove|strip|hide|no_|without", re.I)
_MISTAKEN = frozenset({"null", "nil", "NULL", "undefined"})
"""Other languages' words for none: in Jinja they are variables that nobody sets."""
_MOST_VALUES = 4
NEEDLE = "Zeppelin"
"""A text that no template compares with."""

CALLED = "find_tide"
"""The function that the calls of most probes name."""
_COMMENT = regex(r"\{#.*?#\}", re.S)
_TAG = regex(r"\{\{.*?\}\}|\{%.*?%\}", re.S)
_TEXT = r"""(?:'[^'\n]{0,40}'|"[^"\n]{0,40}")"""
_CHANGED = r"(?:\s*\|\s*\w+(?:\([^()]{0,40}\))?|\.\w+\(\)){0,4}\)?"
"""Filters and methods between a name and what it is compared with."""
_ORDER = regex(r"(\w+)\s*[<>]=?\s*(\w+)")
_ANY_TEXT = regex(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.S)


def names_of(footing: Footing) -> tuple[str, ...]:
    """Variables that may be template kwargs, as the source has them: the first `limits.SWITCHES`."""
    names = (name for name in footing.syntax.switches if name not in _MISTAKEN)
    return tuple(islice(names, SWITCHES))


def values_of(footing: Footing, name: str) -> tuple[JSON, ...]:
    """Values worth trying: the texts that the source compares it with, two numbers where it is more or less
    than something, a text where it is printed, a list with a function's name where names are looked for in
    it, else true and false. Empty for a variable that is walked through like a list."""
    return _values_of(footing.trace.template.text, name)


@lru_cache(maxsize=64)
def _values_of(source: str, name: str) -> tuple[JSON, ...]:
    compared = tuple(dict.fromkeys(_compared(source, name)))
    bare = _ANY_TEXT.sub("''", _code(source, name))
    if re.search(rf"(?:\bname|\[''\])\s+in\s+{name}\b", bare):
        return ([CALLED],)
    if compared:
        return (*compared[:_MOST_VALUES], *((True, False) if _is_tested(bare, name) else ()))
    if re.search(rf"\bin\s+{name}\b|\b{name}\s*\|\s*tojson|\b{name}\s*\[", bare):
        return ()
    edge = _edges(source).get(name)
    if edge is not None:
        return (max(edge - 1, 0), edge + 1)
    if re.search(rf"\{{\{{-?\s*{name}\b(?!\s*if\b)|[~+]\s*{name}\b|\b{name}\s*[~+]", bare):
        return (NEEDLE,)
    return (True, False)


@lru_cache(maxsize=4)
def _edges(source: str) -> dict[str, int]:
    """Names that are more or less than something, with the number that it is, or 0."""
    found: dict[str, int] = {}
    ordering = "\n".join(tag for tag in _tags(source) if "<" in tag or ">" in tag)
    for one, other in _ORDER.findall(_ANY_TEXT.sub("''", ordering)):
        for name, edge in ((one, other), (other, one)):
            if not name[0].isdigit():
                found.setdefault(name, int(edge) if edge.isdecimal() and len(edge) < 7 else 0)
    return found


@lru_cache(maxsize=4)
def _tags(source: str) -> list[str]:
    """The tags of a template, without comments and the text between."""
    found: list[str] = _TAG.findall(_COMMENT.sub("", source))
    return found


def _code(source: str, name: str) -> str:
    """The tags that hold a name."""
    return "\n".join(tag for tag in _tags(source) if name in tag)


def _compared(source: str, name: str) -> Iterator[str]:
    """Texts on the other side of `==`, `!=` or `in`, also where a name was set to the variable first."""
    for alias in (name, *_aliases(source, name)):
        code = _code(source, alias)
        after = rf"\b{alias}\b{_CHANGED}\s*(?:==|!=|(?:not\s+)?in\b)\s*[\[(]?\s*({_TEXT}(?:\s*,\s*{_TEXT})*)"
        before = rf"({_TEXT})\s*(?:==|!=)\s*{alias}\b"
        for match in (*re.finditer(after, code), *re.finditer(before, code)):
            yield from (piece[1:-1] for piece in re.findall(_TEXT, match[1]))


def _aliases(source: str, name: str) -> list[str]:
    found = re.findall(rf"\bset\s+(\w+)\s*=\s*{name}\b(?!\s*[.\[(])", _code(source, name))
    return [alias for alias in dict.fromkeys(found) if alias != name][:_MOST_VALUES]


def _is_tested(code: str, name: str) -> bool:
    """Whether it is also read as true or false."""
    return re.search(rf"\b(?:if|not|and|or)\s+{name}\s*(?:-?%|\band\b|\bor\b|\))", code) is not None


def reasoning_on(footing: Footing) -> Variant:
    """Every variable about reasoning, set so that reasoning is asked for and kept."""
    chosen: dict[str, JSON] = {}
    for name in names_of(footing):
        if ABOUT_REASONING.search(name) and not _ABOUT_AMOUNT.search(name):
            chosen[name] = _asking(footing, name)
    return switched(chosen)


def _asking(footing: Footing, name: str) -> JSON:
    texts = [value for value in values_of(footing, name) if isinstance(value, str) and value != NEEDLE]
    if texts:
        return next((text for text in ("high", "enabled", "on", "thinking") if text in texts), texts[-1])
    return "high" if _ABOUT_DEGREE.search(name) else not _TURNS_OFF.search(name)


def spelled(switches: Variant) -> str:
    """Switches as a person writes them."""
    return ", ".join(f"{axis.removeprefix(SWITCH)}={value}" for axis, value in switches.items())
