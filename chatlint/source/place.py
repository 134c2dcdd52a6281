"""From a position in a template to the position in the file that holds it, exactly, through JSON escapes."""

from __future__ import annotations

import re
from bisect import bisect_right

from chatlint.lazy import regex
from chatlint.source.package import TemplatePlace

# Template lines as Jinja counts them (jinja2.lexer.newline_re): at \r\n, \r and \n, here as JSON spells them.
_WRITTEN_NEWLINE = regex(r"\\(?:u000[dD]|r)\\(?:u000[aA]|n)|\\(?:u000[aAdD]|[nr])|\\.", re.DOTALL)
_SURROGATES = regex(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_STRING = regex(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BREAKS = regex(r"\\(?:[nr]|u000[aAdD])")


def json_place(file: str, pointer: str, text: str, start: int) -> TemplatePlace:
    """The place of a template in the JSON `text`, whose string begins (with its quote) at `start`."""
    written = text[start + 1 : _string_end(text, start)]
    line = text.count("\n", 0, start) + 1
    column = start - text.rfind("\n", 0, start) + 1
    starts = [0, *(m.end() for m in _WRITTEN_NEWLINE.finditer(written) if _BREAKS.match(m.group()))]
    return TemplatePlace(file, pointer, tuple((line, column + offset) for offset in starts), written)


def file_position(place: TemplatePlace, line: int, column: int) -> tuple[int, int]:
    """The (line, column) of the file where the template's character at `line` and `column` begins.

    All are one-based and count code points; lines end as Jinja has it: at \\n, \\r\\n and \\r. A position
    past the end of a template line is where that line ends. A line the template does not have is answered
    with itself (there is nothing to point at).
    """
    if not place.line_starts or not 0 < line <= len(place.line_starts):
        return line, column
    file_line, first = place.line_starts[line - 1]
    offset = first - place.line_starts[0][1]
    end = _line_end(place, line)
    for _ in range(column - 1):
        if offset >= end:
            break
        offset += spelled_width(place.written, offset)
    return file_line, place.line_starts[0][1] + offset


def template_position(place: TemplatePlace, line: int, column: int) -> tuple[int, int]:
    """The other way: the (line, column) of the template's character that is written at this position of the
    file, or that begins last before it. A position before the template is answered with (1, 1)."""
    if not place.line_starts:
        return line, column
    template_line = bisect_right(place.line_starts, (line, max(column, 1)))
    if not template_line:
        return 1, 1
    origin = place.line_starts[0][1]
    offset, end = place.line_starts[template_line - 1][1] - origin, column - origin
    characters = 0
    while offset < end and offset < len(place.written):
        offset += spelled_width(place.written, offset)
        characters += offset <= end
    return template_line, characters + 1


def _line_end(place: TemplatePlace, line: int) -> int:
    """The offset in `written` of the break that ends this template line, or of the string's end."""
    origin = place.line_starts[0][1]
    if line == len(place.line_starts):
        return len(place.written)
    start, after = place.line_starts[line - 1][1] - origin, place.line_starts[line][1] - origin
    for match in _WRITTEN_NEWLINE.finditer(place.written, start, after):
        if _BREAKS.match(match.group()):
            return match.start()
    return after


def spelled_width(written: str, offset: int) -> int:
    """How many characters of the file spell the one character of the template that begins here."""
    if written[offset] != "\\":
        return 1
    if written[offset + 1 : offset + 2] != "u":
        return 2
    return 12 if _SURROGATES.match(written, offset) else 6


def _string_end(text: str, start: int) -> int:
    match = _STRING.match(text, start)
    if match is None:
        raise ValueError(f"no JSON string begins at {start}")
    return match.end() - 1
