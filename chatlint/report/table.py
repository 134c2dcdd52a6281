"""Rows in columns, as wide as their contents; the last column takes what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatlint.report.canvas import Canvas, Line

_GAP = "  "
_LEAST = 24
"""Cells the last column needs; with fewer it goes below the others."""


def table_lines(canvas: Canvas, rows: Sequence[Line]) -> Iterator[str]:
    """The lines of a table whose rows have the same number of columns."""
    widths = [max(canvas.cells(text) for text, _ in column) for column in zip(*rows, strict=True)][:-1]
    indent = sum(widths) + len(_GAP) * len(widths)
    below = indent > 0 and canvas.width - indent < _LEAST
    for *cells, (text, style) in rows:
        first = [_padded(canvas, cell, width) for cell, width in zip(cells, widths, strict=True)]
        words = [(word, style) for word in text.split(" ")]
        if below:
            yield canvas.draw(first)
            yield from canvas.wrap(words, indent="    ", first=[("    ", "")])
        else:
            yield from canvas.wrap(words, indent=" " * indent, first=first)


def _padded(canvas: Canvas, cell: tuple[str, str], width: int) -> tuple[str, str]:
    text, style = cell
    return text + " " * (width - canvas.cells(text)) + _GAP, style
