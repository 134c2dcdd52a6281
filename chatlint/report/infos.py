"""Findings that are only worth knowing, a line for each rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chatlint.report.canvas import Canvas
from chatlint.report.finding import place_of, words
from chatlint.rules.finding import Finding
from chatlint.source.package import Template

_MOST = 10
"""Rules with a line of their own; the others are named."""
_LEAST, _NARROWEST = 30, 16
"""Cells that a message needs beside its rule and place, with fewer the place is left out; and cells that are
kept for it where the rule's name has to be cut."""


def info_lines(canvas: Canvas, found: Iterable[tuple[Finding, Template | None]]) -> Iterator[str]:
    """A heading, then rule, place and message of each; findings of one rule are one line."""
    by_rule: dict[str, list[tuple[Finding, Template | None]]] = {}
    for finding, template in found:
        by_rule.setdefault(finding.rule, []).append((finding, template))
    count = sum(map(len, by_rule.values()))
    said = "1 info" if count == 1 else f"{count} infos"
    yield canvas.draw([(said, "info"), (" (--verbose shows more)", "faint")])
    rows = [(_named(rule, some), _line(some), some[0][0].message) for rule, some in by_rule.items()]
    names, places = (max(canvas.cells(row[column]) for row in rows) for column in (0, 1))
    names = min(names, canvas.width - _NARROWEST)
    if canvas.width - names - places - 6 < _LEAST:
        places = 0
    for rule, place, message in rows[:_MOST]:
        name = canvas.fit(rule, names)
        start = f"  {name}{' ' * (names - canvas.cells(name))}  "
        middle = f"{place.rjust(places)}  " if places else ""
        room = canvas.width - canvas.cells(start) - canvas.cells(middle)
        yield canvas.draw([(start, "strong"), (middle, "faint"), (canvas.fit(message, room), "")])
    if rows[_MOST:]:
        rest = ", ".join(rule for rule, _, _ in rows[_MOST:])
        yield from canvas.wrap(words(rest, "strong"), indent="    ", first=[("  and ", "faint")])


def _line(some: list[tuple[Finding, Template | None]]) -> str:
    place = place_of(*some[0])
    return f"line {place.line}" if place.line else ""


def _named(rule: str, some: list[tuple[Finding, Template | None]]) -> str:
    return f"{rule} ×{len(some)}" if len(some) > 1 else rule
