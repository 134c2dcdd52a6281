"""Where two prompts of the same conversation part, and who wrote what there.

Theory of operation. Two prompts part at their first different character. What changed there ends before the
next piece of the conversation that both show, by its pointer, less what both say before it. Cases that
changed by the same words at the same places are one change, the simplest case first: an edit of a template
shows in many conversations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import compress, count
from operator import ne

from chatlint.probe.case import Observation
from chatlint.records import dataclass
from chatlint.report.prompt import origin_text
from chatlint.rules.sights import written_at
from chatlint.text import Input, Prompt, Span

_STRUCTURE = ("role", "type")
_CONTEXT = 40
"""Characters shown before the place, and after what changed."""
_LONGEST = 160
"""Most characters of what changed that are shown."""


class ChangeKind(StrEnum):
    """What became of a case."""

    TEXT = "text"
    """Both give a prompt, not the same."""
    REFUSED = "refused"
    """Only the first gives a prompt."""
    ACCEPTED = "accepted"
    """Only the second does."""
    REASON = "reason"
    """Neither does, for other reasons."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One side of a change: what changed between what is before and after it, the origins of its characters,
    the template's line and column that wrote them (0 where not known), and why there is no prompt."""

    before: str = ""
    changed: str = ""
    after: str = ""
    origins: tuple[str, ...] = ()
    line: int = 0
    column: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PromptChange:
    """One change, and the cases that show it. `position` is where the prompts of the first case part,
    `shared` the share of the first prompt that comes before that, in per cent."""

    kind: ChangeKind
    cases: tuple[str, ...]
    position: int
    shared: int
    first: Excerpt
    second: Excerpt


def prompt_changes(pairs: Iterable[tuple[Observation, Observation]]) -> tuple[PromptChange, ...]:
    """What changed between observations of the same cases, the most frequent first."""
    grouped: dict[tuple[object, ...], list[PromptChange]] = {}
    for first, second in pairs:
        change = _change(first, second)
        if change is not None:
            grouped.setdefault(_cause(change), []).append(change)
    merged = [_merged(changes) for changes in grouped.values()]
    return tuple(
        sorted(merged, key=lambda change: (-len(change.cases), len(change.cases[0]), change.cases[0]))
    )


def _change(first: Observation, second: Observation) -> PromptChange | None:
    one, other = first.prompt, second.prompt
    if one is not None and other is not None:
        return _text_change(first.case.id, one, other) if one.text != other.text else None
    kind = ChangeKind.REFUSED if one else ChangeKind.ACCEPTED if other else ChangeKind.REASON
    reasons = _reason(first), _reason(second)
    if reasons[0][0] == reasons[1][0]:
        return None
    excerpts = [Excerpt(line=line, reason=reason) for reason, line in reasons]
    return PromptChange(kind, (first.case.id,), 0, 0, excerpts[0], excerpts[1])


def _text_change(case: str, one: Prompt, other: Prompt) -> PromptChange:
    start = parting(one.text, other.text)
    shown = _unbroken(one.text, start)
    ends = _ends(one, other, start, shown)
    shared = 100 * start // len(one.text) if one.text else 0
    excerpts = [_excerpt(prompt, shown, end) for prompt, end in zip((one, other), ends, strict=True)]
    return PromptChange(ChangeKind.TEXT, (case,), start, shared, excerpts[0], excerpts[1])


def _unbroken(text: str, start: int) -> int:
    """A place at or before `start` that is not inside a tag or word: `<think>` and `<tool>` part at their
    beginning, for a reader."""
    tag = text.rfind("<", max(start - _CONTEXT, 0), start)
    if tag >= 0 and not {">", " ", "\n"} & set(text[tag:start]):
        return tag
    while start and text[start - 1].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    return start


def _rest(text: str, start: int, end: int) -> int:
    """How many characters after `end` belong to the tag or word that it would break."""
    tag = text.find(">", end, end + _CONTEXT)
    if tag >= 0 and text.rfind("<", start, end) > text.rfind(">", start, end):
        return tag + 1 - end
    rest = 0
    while text[end + rest - 1 : end + rest].isalnum() and text[end + rest : end + rest + 1].isalnum():
        rest += 1
    return rest


def _ends(one: Prompt, other: Prompt, start: int, shown: int) -> tuple[int, int]:
    """Where the first change ends in both prompts."""
    places = dict(reversed(list(_pieces(other, start))))
    found = ((place, places[piece]) for piece, place in _pieces(one, start) if piece in places)
    ends = next(found, (len(one.text), len(other.text)))
    same = parting(one.text[shown : ends[0]][::-1], other.text[shown : ends[1]][::-1])
    more = _rest(one.text, shown, ends[0] - same) if same else 0
    return ends[0] - same + more, ends[1] - same + more


def _pieces(prompt: Prompt, start: int) -> Iterator[tuple[tuple[str, str], int]]:
    """Pieces of the conversation that begin at or after a place: pointer and text, and where they begin."""
    for span in prompt.spans:
        origin = span.origin
        if span.start < start or not isinstance(origin, Input) or origin.offset != 0 or origin.key:
            continue
        if origin.pointer.rpartition("/")[2] not in _STRUCTURE:
            yield (origin.pointer, prompt.piece(span)), span.start


def parting(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    most = min(len(one), len(other))
    return next(compress(count(), map(ne, one[:most], other[:most])), most)


def _excerpt(prompt: Prompt, start: int, end: int) -> Excerpt:
    text = prompt.text
    shown = text[start:end] if end - start <= _LONGEST else text[start : start + _LONGEST] + "…"
    line, column = written_at(prompt, start) if end > start else (0, 0)
    return Excerpt(
        text[max(start - _CONTEXT, 0) : start],
        shown,
        text[end : end + _CONTEXT],
        tuple(dict.fromkeys(origin_text(span.origin) for span in _spans(prompt, start, end))),
        line,
        column,
    )


def _spans(prompt: Prompt, start: int, end: int) -> Iterator[Span]:
    """The spans of a stretch, as many as its shown part can have."""
    end = min(end, start + _LONGEST)
    return (span for span in prompt.spans if span.start < end and span.end > start)


def _reason(observation: Observation) -> tuple[str, int]:
    failure = observation.failure
    if failure is None:
        return "", 0
    said = f"{failure.exception}: {failure.message}" if failure.exception else failure.message
    return f"{failure.kind}: {said}", failure.line


def _cause(change: PromptChange) -> tuple[object, ...]:
    """What two cases must have in common to show the same change: words and places, or reasons."""
    first, second = change.first, change.second
    places = (first.line, first.column, second.line, second.column)
    return change.kind, first.reason, second.reason, first.changed, second.changed, *places


def _merged(changes: list[PromptChange]) -> PromptChange:
    """The change as its simplest case shows it."""
    order = sorted(changes, key=lambda change: (len(change.cases[0]), change.cases[0]))
    cases = tuple(change.cases[0] for change in order)
    first = order[0]
    return PromptChange(first.kind, cases, first.position, first.shared, first.first, first.second)
