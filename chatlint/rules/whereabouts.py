"""Which line of the template a sight is about: the one that wrote it, or the one that ought to have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chatlint.probe.reading import texts
from chatlint.rules.sights import bounds, written_at
from chatlint.text import Literal, Prompt, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.cause import Sight
    from chatlint.rules.subject import Subject

_NEWLINE = re.compile(r"\r\n|\r|\n")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", re.S)
_PRINTS = re.compile(r"(?=\{\{)|\s+(?=\{\{-)")
_MESSAGE, _ANY = re.compile(r"/messages/(\d+)"), "/messages/*"


def whereabouts(subject: Subject, sight: Sight) -> tuple[int, int]:
    """One-based line and column (0 where unknown). For what is lost: where the template reads it, or asks for
    the role of its message, or for other roles, or else writes the message beside it."""
    prompt = sight.observation.prompt
    if prompt is None:
        return 0, 0
    if sight.lost:
        beside = _beside(sight)
        line = _asked_for(subject, sight, beside[0])
        if line or beside != (0, 0):
            return (line, 0) if line else beside
        return min(subject.syntax.reads_of(_pattern(sight.lost)), default=0), 0
    return _in_literal(subject.template.text, prompt, sight.start) if sight.end > sight.start else (0, 0)


def _asked_for(subject: Subject, sight: Sight, beside: int) -> int:
    """The first line that reads the lost value, or what holds it, or asks for the role of its message; the
    last one that asks for a role before the message `beside` it is written."""
    syntax = subject.syntax
    for pattern in _patterns(sight.lost):
        lines = syntax.reads_of(pattern)
        if lines:
            return min(lines)
    message = _MESSAGE.match(sight.lost)
    messages = sight.observation.case.conversation.messages
    if message is None:
        return 0
    role = messages[int(message[1])].get("role")
    asked = [one.line for one in syntax.roles if one.role == role]
    return min(asked) if asked else max((one.line for one in syntax.roles if one.line <= beside), default=0)


def _patterns(pointer: str) -> Iterator[str]:
    """Patterns of the value and of what holds it, inside a message. Content is read for every role, so that
    where it is read says nothing."""
    pattern = _pattern(pointer)
    while pattern.count("/") > 1 and pattern != _ANY and not pattern.startswith(f"{_ANY}/content"):
        yield pattern
        pattern = pattern.rpartition("/")[0].removesuffix("/*")


def _pattern(pointer: str) -> str:
    return "/".join("*" if token.isdecimal() else token for token in pointer.split("/"))


def _beside(sight: Sight) -> tuple[int, int]:
    """Where the nearest message is written: before the lost one if there is one, else after it."""
    observation = sight.observation
    assert observation.prompt is not None
    found = _MESSAGE.match(sight.lost)
    for index in _nearest(int(found[1]), observation) if found else ():
        for pointer in texts(observation, f"/messages/{index}/content"):
            shown = bounds(observation, pointer)
            if shown:
                return written_at(observation.prompt, shown[0])
    return 0, 0


def _nearest(lost: int, observation: Observation) -> Iterator[int]:
    yield from range(lost - 1, -1, -1)
    yield from range(lost + 1, len(observation.case.conversation.messages))


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
