"""Which line of the template a sight is about: the one that wrote it, or the one that ought to have."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.losses import column_of_print, lost_at
from chatlint.rules.printed import printed_at
from chatlint.rules.sights import written_at
from chatlint.text import Input, Literal, Prompt, Span

if TYPE_CHECKING:
    from chatlint.render.rendered import RenderFailure
    from chatlint.rules.cause import Sight
    from chatlint.rules.subject import Subject

_REFUSAL = "raise_exception"
_NEWLINE = regex(r"\r\n|\r|\n")
_ESCAPE = regex(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", re.S)
_PRINTS = regex(r"(?=\{\{)|\s+(?=\{\{-)")
_JOINS = regex(r"['\"]\s*[+~]\s*(?=[A-Za-z_])")
_PRINTS_NEXT = regex(r"['\"]\s*-?\}\}\s*(?=\{\{)")
_BEFORE_EXPRESSION = "-+( \t\r\n"


def whereabouts(subject: Subject, sight: Sight) -> tuple[int, int]:
    """One-based line and column (0 where unknown): of what printed the value or the text at a sight, or left
    out what is lost."""
    prompt = sight.observation.prompt
    if prompt is None:
        return 0, 0
    if sight.lost and not _marks_the_rest(prompt, sight):
        return lost_at(subject.syntax, subject.template.text, sight)
    if sight.end <= sight.start:
        return 0, 0
    source = subject.template.text
    ran = subject.trace.rendered(sight.observation.case).lines
    printed = printed_at(subject.syntax.prints, prompt, sight.start, ran, elsewhere=False)
    printed = printed if printed[0] else _joined(source, prompt, sight.start)
    printed = printed if printed[0] else printed_at(subject.syntax.prints, prompt, sight.start, ran)
    return _tag_around(source, printed) if printed[0] else _in_literal(source, prompt, sight.start)


def broke_at(subject: Subject, sight: Sight, failure: RenderFailure) -> tuple[int, int]:
    """One-based line and column (0 where unknown) of what failed: the refusal, or what prints the value that
    it is about."""
    line = failure.line
    lines = _NEWLINE.split(subject.template.text)
    source = lines[line - 1] if 0 < line <= len(lines) else ""
    said = source.find(failure.message) if failure.message else -1
    if (raised := source.rfind(_REFUSAL, 0, max(said, 0))) >= 0:
        return line, raised + 1
    return line, column_of_print(subject.syntax, sight, line) if sight.lost else 0


def _marks_the_rest(prompt: Prompt, sight: Sight) -> bool:
    """Whether a part of what is lost is there, and marked."""
    rest = prompt.inputs(sight.lost)
    return sight.end > sight.start and any(span.start <= sight.start < span.end for span in rest)


def _tag_around(source: str, place: tuple[int, int]) -> tuple[int, int]:
    """The place of the `{{` that an expression is the first thing in, else its own."""
    index = _offset(source, *place)
    opened = source.rfind("{{", 0, index)
    if opened < 0 or source[opened + 2 : index].strip(_BEFORE_EXPRESSION):
        return place
    lines = list(_NEWLINE.finditer(source, 0, opened))
    return len(lines) + 1, opened - (lines[-1].end() if lines else 0) + 1


def _in_literal(source: str, prompt: Prompt, position: int) -> tuple[int, int]:
    """Where the template wrote the character at `position`, or what stands before it. In a text of several
    lines that is the line of the character, not the text's first."""
    place = written_at(prompt, position)
    spans = (span for span in reversed(prompt.spans) if span.start <= position)
    span = next((span for span in spans if isinstance(span.origin, Literal)), None)
    if span is None or not isinstance(span.origin, Literal):
        return place
    if (span.origin.line, span.origin.column) != place or not span.origin.column:
        return place
    start = _offset(source, *place)
    tag = _tag_behind(source, start, prompt, span, position)
    if tag >= 0:
        return _moved(source, place, start, tag)
    text = prompt.piece(span)[: position - span.start + 1]
    for quoted in (True, False):
        end = _walked(source, start, text[:-1], quoted=quoted)
        moved = _moved(source, place, start, end) if end > start else place
        if moved[0] > place[0]:
            return moved
    return place


def _tag_behind(source: str, start: int, prompt: Prompt, span: Span, position: int) -> int:
    """The index of the `{{` that stands at once behind a text of the template, where what is at `position`
    follows it; -1 for none."""
    follows = any(one.start == span.end and one.start <= position < one.end for one in prompt.spans)
    end = _walked(source, start, prompt.piece(span), quoted=False) if follows else -1
    tag = _PRINTS.match(source, end) if end > start else None
    return tag.end() if tag else -1


def _joined(source: str, prompt: Prompt, position: int) -> tuple[int, int]:
    """The place of the expression that a string of the template is joined with (`'…' + text`), or of the `{{`
    right behind it, where what is at `position` is a value that follows the string; (0, 0) for none."""
    for before, span in pairwise(prompt.spans):
        if span.start <= position < span.end:
            if isinstance(before.origin, Literal) and isinstance(span.origin, Input):
                return _joined_with(source, before.origin, prompt.piece(before))
            break
    return 0, 0


def _joined_with(source: str, string: Literal, text: str) -> tuple[int, int]:
    if not string.column:
        return 0, 0
    place = string.line, string.column
    start = _offset(source, *place)
    end = _walked(source, start, text, quoted=True)
    behind = _JOINS.match(source, end) or _PRINTS_NEXT.match(source, end) if end > start else None
    return _moved(source, place, start, behind.end()) if behind else (0, 0)


def _moved(source: str, place: tuple[int, int], start: int, end: int) -> tuple[int, int]:
    """The place of the index `end`, where `start` is that of `place`."""
    breaks = list(_NEWLINE.finditer(source, start, end))
    if breaks:
        return place[0] + len(breaks), end - breaks[-1].end() + 1
    return place[0], place[1] + end - start


def _offset(source: str, line: int, column: int) -> int:
    """The index of a place in the source."""
    starts = [0, *(match.end() for match in _NEWLINE.finditer(source))]
    return starts[line - 1] + column - 1 if line <= len(starts) else len(source)


def _walked(source: str, start: int, text: str, *, quoted: bool) -> int:
    """The index behind `text`, which the source spells from `start` on: as a string or as it is. -1 where it
    is spelled otherwise, as a text that the template has changed is."""
    index = start
    if quoted:
        if source[index : index + 1] not in ("'", '"'):
            return -1
        index += 1
    for character in text:
        width = _width(source, index, character, quoted=quoted)
        if not width:
            return -1
        index += width
    return index


def _spelled(escape: str) -> str:
    """What an escape stands for, "" if it is none: text that only begins as a string does."""
    try:
        return escape.encode("ascii", "backslashreplace").decode("unicode-escape")
    except UnicodeDecodeError:
        return ""


def _width(source: str, index: int, character: str, *, quoted: bool) -> int:
    """Characters of the source at `index` that spell this one, 0 if they do not."""
    newline = _NEWLINE.match(source, index)
    if newline and character == "\n":
        return len(newline.group())
    escape = _ESCAPE.match(source, index) if quoted else None
    if escape:
        return len(escape.group()) if _spelled(escape.group()) == character else 0
    return int(source[index : index + 1] == character)
