"""A line of text cut to what fits, with the part that matters marked under it."""

from __future__ import annotations

from chatlint.lazy import regex
from chatlint.records import dataclass
from chatlint.report.canvas import Canvas
from chatlint.text import visible

_CONTEXT, _LEAST_CONTEXT = 24, 4
"""Cells of context kept before the marked part when a line must be cut."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is shown, the cells before the mark, and the cells that the mark takes (at least one)."""

    text: str
    before: int
    marked: int


def excerpt(canvas: Canvas, text: str, start: int, end: int, room: int) -> Excerpt:
    """At most `room` cells of `text` around the characters `start` to `end`, made visible. What is cut off is
    shown as "…"; of a marked part that does not fit its beginning is kept."""
    start = min(max(start, 0), len(text))
    end = min(max(end, start), len(text))
    low, high = _window(canvas, text, start, end, room - 2 * canvas.cells("…"))
    head = "…" if low else ""
    tail = "…" if high < len(text) else ""
    before = canvas.cells(head + visible(text[low:start]))
    marked = canvas.cells(visible(text[start : min(end, high)]))
    return Excerpt(head + visible(text[low:high]) + tail, before, max(marked, 1))


def _window(canvas: Canvas, text: str, start: int, end: int, room: int) -> tuple[int, int]:
    """Which characters fit: a little before the mark, the mark and what follows, then what precedes."""
    spare = room - canvas.cells(visible(text[start:end]))
    lead = min(max(spare // 2, _LEAST_CONTEXT), _CONTEXT)
    low = _reach(canvas, text, range(start - 1, -1, -1), lead)
    room -= canvas.cells(visible(text[start - low : start]))
    high = _reach(canvas, text, range(start, len(text)), room)
    room -= canvas.cells(visible(text[start : start + high]))
    low += _reach(canvas, text, range(start - low - 1, -1, -1), room)
    return start - low, start + high


def _reach(canvas: Canvas, text: str, indices: range, room: int) -> int:
    """How many of the characters at `indices`, in that order, fit in `room` cells."""
    for count, index in enumerate(indices):
        room -= canvas.cells(visible(text[index]))
        if room < 0:
            return count
    return len(indices)


_TAG = regex(r"\{[{%#]")
_WHOLES = (("{{", "}}"), ("{%", "%}"), ("{#", "#}"), ("'", "'"), ('"', '"'))


def marked_source(line: str, column: int) -> tuple[int, int]:
    """Which characters of a template line stand at one-based `column`: a whole `{{ … }}`, `{% … %}` or string
    that begins there, text up to the next tag, else a word, else one character. Leading blanks are passed
    over."""
    start = min(max(column - 1, 0), len(line))
    start += len(line) - start - len(line[start:].lstrip()) if line[start:].strip() else 0
    rest = line[start:]
    for opener, closer in _WHOLES:
        if rest.startswith(opener):
            close = rest.find(closer, len(opener))
            return start, start + (close + len(closer) if close >= 0 else len(rest))
    if _is_text(line, start):
        tag = _TAG.search(rest)
        return start, start + len(rest[: tag.start()] if tag else rest.rstrip())
    length = 0
    while length < len(rest) and (rest[length].isalnum() or rest[length] in "_."):
        length += 1
    return start, start + max(length, 1)


def _is_text(line: str, start: int) -> bool:
    """Whether a place is outside of tags, as far as its line can tell."""
    before, rest = line[:start], line[start:]
    opened = max(before.rfind(opener) for opener in ("{{", "{%", "{#"))
    closed = max(before.rfind(closer) for closer in ("}}", "%}", "#}"))
    tag = _TAG.search(rest)
    ahead = rest[: tag.start()] if tag else rest
    return bool(ahead.strip()) and opened <= closed and not any(end in ahead for end in ("}}", "%}", "#}"))
