"""What became of a value of the conversation in a prompt: kept, escaped, cut, lost, written twice.

Read from the prompt's spans, so that no value has to be searched for in the text. Detection, inference and
rules share these words.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from chatlint.conversation import JSON, value_at
from chatlint.records import dataclass
from chatlint.text import Input, Prompt, Span, pointer_token

if TYPE_CHECKING:
    from chatlint.probe.case import Observation


class Fate(StrEnum):
    """What a template did with one value."""

    VERBATIM = "verbatim"
    """Every character, in order, once."""
    TRIMMED = "trimmed"
    """Only blanks at its ends are missing."""
    ESCAPED = "escaped"
    """Every character, once, with JSON escapes: what JSON text needs inside a JSON string, or as one."""
    ALTERED = "altered"
    """Other characters stand for it, or for some of it: another case, another escape, a replacement."""
    TRUNCATED = "truncated"
    """Part of it is missing, and nothing stands for it."""
    SCATTERED = "scattered"
    """Its characters stand apart: the template walked through it as if it were a list."""
    DROPPED = "dropped"
    """None of it reached the prompt."""
    REPEATED = "repeated"
    """It stands there more than once."""
    UNTRACED = "untraced"
    """Nothing can be said: it has no characters, or it is printed without a trace (null, true and false)."""
    RAISED = "raised"
    """There is no prompt."""


SHOWN = frozenset({Fate.VERBATIM, Fate.TRIMMED, Fate.ESCAPED, Fate.ALTERED, Fate.REPEATED})
"""Fates of a value that a model can still read."""


class Notation(StrEnum):
    """How a list, an object or an encoded text is written in a prompt."""

    JSON = "json"
    JSON_STRING = "json string"
    """A JSON text inside a JSON string: encoded a second time."""
    PYTHON = "python"
    """As Python's `repr`."""
    OTHER = "other"
    """In the template's own words."""
    NONE = "none"
    """Not at all."""


@dataclass(frozen=True, slots=True)
class Copy:
    """One appearance of a value: from `start` to `end` of the prompt; `exact` where no character is
    derived."""

    start: int
    end: int
    covered: tuple[tuple[int, int], ...]
    exact: bool

    @property
    def length(self) -> int:
        return sum(end - start for start, end in self.covered)


def fate(observation: Observation, pointer: str) -> Fate:
    """What became of the value at a JSON pointer; of a list or an object, the worst that became of a leaf.

    Raises KeyError if the conversation has no such value.
    """
    prompt = observation.prompt
    known = prompt.known.get(pointer) if prompt is not None else None
    if isinstance(known, Fate):
        return known
    value = value_at(observation.case.conversation, pointer)
    if prompt is None:
        return Fate.RAISED
    if isinstance(value, str):
        # Remembered: the conversation that a prompt was made from is always the same.
        prompt.known[pointer] = found = _text_fate(prompt, pointer, value)
        return found
    if isinstance(value, Mapping | Sequence):
        return _container_fate([fate(observation, leaf) for leaf in leaves(value, pointer)])
    return _scalar_fate(prompt, pointer, value)


def shown(observation: Observation, *pointers: str) -> bool:
    """Whether a model can read every one of these values in the prompt."""
    return all(fate(observation, pointer) in SHOWN for pointer in pointers)


def texts(observation: Observation, *pointers: str) -> tuple[str, ...]:
    """Where the texts of these contents stand: a content itself, or the `text` of each of its parts."""
    found: list[str] = []
    for pointer in pointers:
        content = value_at(observation.case.conversation, pointer)
        if isinstance(content, str) or not isinstance(content, Sequence):
            found.append(pointer)
            continue
        parts = [(position, part) for position, part in enumerate(content) if isinstance(part, Mapping)]
        found += [f"{pointer}/{position}/text" for position, part in parts if "text" in part]
    return tuple(found)


def leaves(value: JSON, pointer: str = "") -> Iterator[str]:
    """Pointers of all values below that are neither lists nor objects, in document order."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from leaves(member, f"{pointer}/{pointer_token(name)}")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for position, member in enumerate(value):
            yield from leaves(member, f"{pointer}/{position}")
    else:
        yield pointer


def place(observation: Observation, pointer: str, *, key: bool | None = False) -> Span | None:
    """The first span of the value at a pointer or of anything in it (with `key`, of the member's name)."""
    if observation.prompt is None:
        return None
    return next(observation.prompt.inputs(pointer, key=key), None)


def bounds(observation: Observation, pointer: str) -> tuple[int, int] | None:
    """First and last character of the value at `pointer`, its keys included; None if it is lost."""
    if observation.prompt is None:
        return None
    spans = list(observation.prompt.inputs(pointer))
    return (spans[0].start, max(span.end for span in spans)) if spans else None


def in_order(observation: Observation, pointers: Sequence[str]) -> bool:
    """Whether all of these values are in the prompt, each beginning after the one before."""
    places = [place(observation, pointer) for pointer in pointers]
    starts = [span.start for span in places if span]
    return len(starts) == len(places) and starts == sorted(starts)


def keeps(observation: Observation, pointer: str, part: str) -> bool:
    """Whether the first `part` of the text at a pointer stands in the prompt in one piece."""
    value = value_at(observation.case.conversation, pointer)
    start = value.find(part) if isinstance(value, str) else -1
    if start < 0 or observation.prompt is None:
        return False
    pieces = [piece for copy in copies(observation.prompt, pointer) for piece in copy.covered]
    return any(first <= start and start + len(part) <= last for first, last in pieces)


def names_shown(observation: Observation, pointer: str) -> bool:
    """Whether the name of any member in the value at a pointer is printed: the value itself was written
    out."""
    return observation.prompt is not None and any(observation.prompt.inputs(pointer, key=True))


def copies(prompt: Prompt, pointer: str) -> tuple[Copy, ...]:
    """Every appearance of the text at a pointer, in the order of the prompt."""
    return _copies(prompt.inputs(pointer, below=False, key=False))


def _copies(spans: Iterable[Span]) -> tuple[Copy, ...]:
    found: list[list[Span]] = []
    furthest = -1
    for span in spans:
        offset = _offset(span)
        if not found or _restarts(found[-1][-1], span, offset, furthest):
            found.append([])
            furthest = -1
        found[-1].append(span)
        furthest = furthest if offset is None else max(furthest, offset)
    return tuple(map(_copy, found))


def notation(observation: Observation, pointer: str) -> Notation:
    """How the list, object or JSON text at a pointer is written. Raises KeyError if there is no such
    value."""
    prompt = observation.prompt
    value = value_at(observation.case.conversation, pointer)
    spans = list(prompt.inputs(pointer)) if prompt else []
    names = set(prompt.inputs(pointer, below=False, key=True)) if prompt else set()
    spans = [span for span in spans if span not in names] or spans  # its own name stands before its bracket
    if prompt is None or not spans:
        return Notation.NONE
    if isinstance(value, str):
        return _text_notation(_text_fate(prompt, pointer, value))
    before = prompt.text[: spans[0].start + 1]
    start = max(before.rfind("{"), before.rfind("["))
    for opened in _openings(prompt.text, spans[0].start, start):
        for reader, name in ((_json_at, Notation.JSON), (_python_at, Notation.PYTHON)):
            if _same(reader(prompt.text, opened, spans[-1].end), value):
                return name
    return Notation.OTHER


def _text_notation(found: Fate) -> Notation:
    if found is Fate.VERBATIM:
        return Notation.JSON
    return Notation.JSON_STRING if found is Fate.ESCAPED else Notation.OTHER


# -- texts ---------------------------------------------------------------------------------------------------


def _text_fate(prompt: Prompt, pointer: str, value: str) -> Fate:
    if not value:
        return Fate.UNTRACED
    spans = list(prompt.inputs(pointer, below=False, key=False))
    if not spans:
        return Fate.DROPPED
    if len(spans) == 1 and _offset(spans[0]) is not None and prompt.piece(spans[0]) == value:
        return Fate.VERBATIM  # as most are
    found = _copies(spans)
    if _is_scattered(spans, value):
        return Fate.SCATTERED
    if len(found) > 1:
        return Fate.REPEATED if _complete(found, value) else Fate.ALTERED
    return _copy_fate(prompt, found[0], value)


def _copy_fate(prompt: Prompt, copy: Copy, value: str) -> Fate:
    text = prompt.text[copy.start : copy.end]
    if copy.exact:
        if text == value:
            return Fate.VERBATIM
        alone = copy.length == len(text)
        if alone and text.strip() == value.strip():
            return Fate.TRIMMED
        missing = len(value) - copy.length
        return Fate.TRUNCATED if missing > (0 if alone else len(value) // 2) else Fate.ALTERED
    written = (json.dumps(value, ensure_ascii=False), json.dumps(value))
    if text in written or f'"{text}"' in written:  # `tojson` of a text: its quotes are the text's, too
        return Fate.ESCAPED
    return Fate.ALTERED


_SHORT = 8


def _is_scattered(spans: Sequence[Span], value: str) -> bool:
    """Something else stands between more than every third character."""
    gaps = sum(span.start > before.end for before, span in pairwise(spans))
    return len(value) > _SHORT and gaps > len(value) // 3


def _complete(found: Sequence[Copy], value: str) -> bool:
    return sum(not copy.exact or copy.length >= len(value.strip()) for copy in found) > 1


def _restarts(before: Span, span: Span, offset: int | None, furthest: int) -> bool:
    """Whether a span begins another copy: its characters were printed already (up to `furthest`, -1 if none
    are known), or, where none are known, it stands apart."""
    if offset is not None and furthest >= 0:
        return offset <= furthest
    return span.start > before.end


def _copy(spans: Sequence[Span]) -> Copy:
    covered = [
        (offset, offset + span.end - span.start) for span in spans if (offset := _offset(span)) is not None
    ]
    return Copy(spans[0].start, spans[-1].end, tuple(covered), len(covered) == len(spans))


def _offset(span: Span) -> int | None:
    return span.origin.offset if isinstance(span.origin, Input) else None


# -- everything else -----------------------------------------------------------------------------------------


def _scalar_fate(prompt: Prompt, pointer: str, value: JSON) -> Fate:
    pieces = [prompt.piece(span) for span in prompt.inputs(pointer, below=False, key=False)]
    if not pieces:
        untraced = value is None or isinstance(value, bool)
        return Fate.UNTRACED if untraced else Fate.DROPPED
    if len(pieces) > 1:
        return Fate.REPEATED
    return Fate.VERBATIM if pieces[0] == json.dumps(value) else Fate.ALTERED


def _container_fate(found: Sequence[Fate]) -> Fate:
    known = [one for one in found if one is not Fate.UNTRACED]
    if not known:
        return Fate.UNTRACED
    if Fate.DROPPED in known:
        return Fate.DROPPED if all(one is Fate.DROPPED for one in known) else Fate.TRUNCATED
    order = (
        Fate.TRUNCATED,
        Fate.SCATTERED,
        Fate.ALTERED,
        Fate.REPEATED,
        Fate.ESCAPED,
        Fate.TRIMMED,
        Fate.VERBATIM,
    )
    return next(one for one in order if one in known)


_NEAREST = 8
_LONGEST = 20_000
"""Characters of a printed container that is worth reading as Python."""


def _openings(text: str, end: int, start: int) -> Iterator[int]:
    """Places of brackets before `end`, the nearest first; a value's own bracket is among the nearest few."""
    for _ in range(_NEAREST):
        if start < 0:
            return
        yield start
        start = max(text.rfind("{", 0, start), text.rfind("[", 0, start))


def _json_at(text: str, start: int, end: int) -> JSON:
    try:
        value: JSON
        value, stop = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return value if stop >= end else None


def _python_at(text: str, start: int, end: int) -> JSON:
    close = {"{": "}", "[": "]"}[text[start]]
    stop = text.find(close, end - 1)
    for _ in range(_NEAREST):
        if stop < 0 or stop - start > _LONGEST:
            return None
        value = _literal(text[start : stop + 1])
        if value is not None:
            return value
        stop = text.find(close, stop + 1)
    return None


def _literal(text: str) -> JSON:
    if "\\" not in text:
        return _evaluated(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes in a template's own words
        return _evaluated(text)


def _evaluated(text: str) -> JSON:
    try:
        value: JSON = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value


def _same(one: JSON, other: JSON) -> bool:
    """Equal as JSON, with tuples as lists."""
    return one is not None and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
