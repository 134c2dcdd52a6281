"""Where two engines part, and which construct explains it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.records import dataclass
from chatlint.rules.finding import Severity

if TYPE_CHECKING:
    from chatlint.engines.engine import Outcome
    from chatlint.probe.case import Observation

_WORD = regex(r"[\w.+-]")
_VALUES = regex(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\(in [^)]*\)|(?:at |in )?line \d+|\d+")
_LINE = regex(r"\(in [^)]*:(\d+)\)|line:? (\d+)")
_ESCAPES = {"\\u003c": "<", "\\u003e": ">", "\\u0026": "&", "\\u0027": "'"}
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """How an engine's outcome differs from ours. `key` is the same for all differences of one cause; `start`
    is the first place in our prompt that is not theirs, `line` the template's line where the engine names
    one."""

    key: str
    message: str
    severity: Severity
    start: int = 0
    theirs: str = ""
    line: int = 0


def difference(ours: Observation, theirs: Outcome) -> Difference | None:
    """None where both write the same, or both refuse."""
    if ours.prompt is None:
        return _forgiven(ours, theirs) if theirs.text is not None else None
    if theirs.text is None:
        return _failed(theirs.error)
    return None if theirs.text == ours.text else _other_text(ours.text, theirs.text)


def _forgiven(ours: Observation, theirs: Outcome) -> Difference:
    assert ours.failure is not None
    said = f"{ours.failure.exception}: {ours.failure.message}"
    message = f"renders what fails here ({said})"
    return Difference("forgiven", message, Severity.INFO)


def _failed(error: str) -> Difference:
    found = _LINE.search(error)
    line = int(found.group(1) or found.group(2)) if found else 0
    why = next((why for pattern, why in _ERRORS if pattern.search(error)), "")
    message = f"fails{f' at {why}' if why else ''}: {error[:200]}"
    return Difference(f"fails: {_VALUES.sub('…', error)}", message, Severity.WARNING, line=line)


_ERRORS = tuple(
    (regex(pattern, re.I), why)
    for pattern, why in (
        (r"unknown (?:statement|tag)\b.* generation", "`{% generation %}`, which it does not know"),
        (r"for loop: got string", "a loop over a text"),
        (r"for loop: got undefined|iterat.* undefined", "a loop over what is not defined"),
        (r"not a function: got undefined|callee is not a function", "a method or function it does not have"),
        (r"unknown keyword argument", "an argument of a filter that it does not have"),
        (r"cannot calculate length of value of type (?:none|undefined)", "`length` of none"),
        (r"between \w*null|on null", "adding none to a text"),
        (r"on undefined|between \w*undefined", "adding what is not defined to a text"),
    )
)
"""What an engine's error is about, where its own words do not say it."""


def _other_text(ours: str, theirs: str) -> Difference:
    start = _parting(ours, theirs)
    key, why, severity = _explained(ours, theirs, start)
    here, there = _word(ours, start), _word(theirs, start)
    if here == there or not (here and there):
        before = max(start - 1, 0)
        here, there = ours[before : before + 12], theirs[before : before + 12]
    message = f"writes {there[:_SHOWN]!r} for {here[:_SHOWN]!r}: {why}"
    return Difference(key, message, severity, start, theirs[start : start + _SHOWN])


def _parting(ours: str, theirs: str) -> int:
    for place, (here, there) in enumerate(zip(ours, theirs, strict=False)):
        if here != there:
            return place
    return min(len(ours), len(theirs))


def _word(text: str, place: int) -> str:
    """The word or number around a place."""
    start = end = place
    while start > 0 and _WORD.match(text[start - 1]):
        start -= 1
    while end < len(text) and _WORD.match(text[end]):
        end += 1
    return text[start:end]


def _explained(ours: str, theirs: str, start: int) -> tuple[str, str, Severity]:
    """A key, the construct in words, and how much it matters."""
    for key, fits, why, severity in _KINDS:
        if fits(ours, theirs, start):
            return key, why, severity
    return "text", "other text", Severity.WARNING


def _escaped(ours: str, theirs: str, start: int) -> bool:
    return any(theirs.startswith(escape, start) for escape in _ESCAPES) and ours[start] in _ESCAPES.values()


def _numbers(ours: str, theirs: str, start: int) -> bool:
    try:
        float(_word(ours, start)), float(_word(theirs, start))
    except ValueError:
        return False
    return True


def _none(ours: str, theirs: str, start: int) -> bool:
    return ours.startswith("None", start) or (
        _word(ours, start) == "None" and _word(theirs, start) in ("", "null", "none")
    )


def _booleans(ours: str, theirs: str, start: int) -> bool:
    word = _word(ours, start)
    return word in ("True", "False") and theirs[start : start + len(word)] == word.lower()


def _containers(ours: str, theirs: str, start: int) -> bool:
    """Python quotes with `'`."""
    near = ours[max(start - 1, 0) : start + 2]
    return ("'" in near and '"' in theirs[max(start - 1, 0) : start + 2]) or ours.startswith(
        ("[", "{"), start
    )


def _blanks(ours: str, theirs: str, start: int) -> bool:
    return "".join(ours.split()) == "".join(theirs.split())


_Kind = tuple[str, Callable[[str, str, int], bool], str, Severity]
_KINDS: tuple[_Kind, ...] = (
    (
        "blanks",
        _blanks,
        "the blanks around tags (`trim_blocks`, `lstrip_blocks`), or `strip` with characters",
        Severity.WARNING,
    ),
    (
        "escapes",
        _escaped,
        "its `tojson` escapes `<`, `>`, `&` and `'`",
        Severity.WARNING,
    ),
    ("numbers", _numbers, "it writes numbers in another way", Severity.INFO),
    ("none", _none, "`{{ none }}` is `None` in Python only", Severity.WARNING),
    (
        "booleans",
        _booleans,
        "`{{ true }}` is `True` in Python only; `tojson` is the same everywhere",
        Severity.WARNING,
    ),
    (
        "containers",
        _containers,
        "a list or an object that is printed is Python's in Python only; `tojson` is the same everywhere",
        Severity.WARNING,
    ),
)
