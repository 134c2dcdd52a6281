"""A prompt as a person reads it: coloured by origin, or as a table of its spans."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.report.canvas import Canvas, Piece
from chatlint.report.table import table_lines
from chatlint.text import Computed, Input, Literal, Origin, Prompt, Special

LEGEND: tuple[Piece, ...] = (
    ("template", "literal"),
    ("  ", ""),
    ("special token", "special"),
    ("  ", ""),
    ("input", "input"),
    ("  ", ""),
    ("name of a member", "key"),
    ("  ", ""),
    ("computed", "computed"),
)


def prompt_lines(canvas: Canvas, prompt: Prompt) -> Iterator[str]:
    """The prompt's text, each newline marked and followed; the colour says where a character came from."""
    line: list[Piece] = []
    for span in prompt.spans:
        style = origin_style(span.origin)
        for part in prompt.piece(span).splitlines(keepends=True):
            # splitlines also breaks at rarer separators; those are spelled out, and the line goes on.
            line.append((part, style))
            if part.endswith("\n"):
                yield canvas.draw(line)
                line = []
    if line:
        yield canvas.draw(line)


def span_lines(canvas: Canvas, prompt: Prompt) -> Iterator[str]:
    """One row per span: its place in the prompt, its origin, its text."""
    rows = [
        [
            (f"{span.start}-{span.end}", "faint"),
            (origin_text(span.origin), origin_style(span.origin)),
            (prompt.piece(span), ""),
        ]
        for span in prompt.spans
    ]
    return table_lines(canvas, rows)


def origin_style(origin: Origin) -> str:
    """The style that stands for an origin."""
    match origin:
        case Input(key=True):
            return "key"
        case Input():
            return "input"
        case Special():
            return "special"
        case Literal():
            return "literal"
        case Computed():
            return "computed"


def origin_text(origin: Origin) -> str:
    """An origin in words: `template 3:5`, `input /messages/0/content+4`, `special bos_token`."""
    match origin:
        case Input(pointer, offset, key):
            place = "" if offset is None else f"+{offset}" if offset else ""
            derived = " derived" if offset is None else ""
            return f"{'name' if key else 'input'} {pointer}{place}{derived}"
        case Special(name):
            return f"special {name}"
        case Literal(line, column):
            return f"template {line}:{column}"
        case Computed(line):
            return f"computed line {line}"


def origin_facts(origin: Origin) -> dict[str, str | int | bool | None]:
    """An origin as JSON."""
    match origin:
        case Input(pointer, offset, key):
            return {"origin": "input", "pointer": pointer, "offset": offset, "key": key}
        case Special(name):
            return {"origin": "special", "name": name}
        case Literal(line, column):
            return {"origin": "literal", "line": line, "column": column}
        case Computed(line):
            return {"origin": "computed", "line": line}
