"""A comparison as a person reads it on a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from chatlint.conversation import JSON
from chatlint.diff.drift import CachedPrefix, Drift, Sameness, TemplateDrift
from chatlint.diff.prompts import Excerpt, PromptChange
from chatlint.facts import FactChange, FindingChange
from chatlint.report.canvas import Canvas, Line, Piece

_CHANGES = 12
"""Changes of prompts that are shown."""
_LABEL = 10
_STYLE = {
    Sameness.SAME: "good",
    Sameness.COSMETIC: "good",
    Sameness.UNKNOWN: "part",
    Sameness.BEHAVIOURAL: "error",
}
SAID = {
    Sameness.SAME: "the same template",
    Sameness.COSMETIC: "another text, the same behaviour",
    Sameness.UNKNOWN: "nobody knows whether the behaviour is the same",
    Sameness.BEHAVIOURAL: "the behaviour changed",
}


def terminal(drift: Drift, canvas: Canvas) -> str:
    """The whole comparison."""
    return "".join(f"{line}\n" for line in _lines(drift, canvas))


def _lines(drift: Drift, canvas: Canvas) -> Iterator[str]:
    yield canvas.draw([("- ", "bad"), (canvas.fit(drift.first, canvas.width - 2), "strong")])
    yield canvas.draw([("+ ", "good"), (canvas.fit(drift.second, canvas.width - 2), "strong")])
    for note in drift.notes:
        yield from canvas.wrap([(word, "faint") for word in note.split(" ")], "  ", [("  ", "")])
    for sign, style, names in (("-", "bad", drift.only_first), ("+", "good", drift.only_second)):
        for name in names:
            yield canvas.draw([(f"{sign} template {name}", style)])
    for template in drift.templates:
        yield from _template(template, canvas)
    yield ""
    yield canvas.draw([(SAID[drift.sameness], _STYLE[drift.sameness])])


def _template(drift: TemplateDrift, canvas: Canvas) -> Iterator[str]:
    yield ""
    yield canvas.draw([(f"{drift.name}: ", "strong"), (SAID[drift.sameness], _STYLE[drift.sameness])])
    yield from _prompts(drift, canvas)
    cached = cached_words(drift.cached_prefix) if drift.cached_prefix else []
    if cached:
        yield from _row(canvas, "cached", cached)
    part = ""
    for change, paths in alike(drift.facts):
        label = change.part.replace("_", " ") if change.part != part else ""
        yield from _row(canvas, label, _fact(change, paths))
        part = change.part
    for finding in drift.findings:
        yield from _row(canvas, "finding", _finding(finding))


def _prompts(drift: TemplateDrift, canvas: Canvas) -> Iterator[str]:
    if drift.prompts is None:
        yield from _row(canvas, "prompts", [("not compared: a saved report has none", "faint")])
        return
    changed = sum(len(change.cases) for change in drift.prompts)
    if drift.cases or not drift.unrendered:
        yield from _row(canvas, "prompts", [(f"{changed} of {drift.cases} cases differ", "")])
    if drift.unrendered:
        words = unrendered_words(drift).split(" ")
        yield from _row(canvas, "" if drift.cases else "prompts", [(word, "part") for word in words])
    for change in drift.prompts[:_CHANGES]:
        yield from _prompt(change, canvas)
    if len(drift.prompts) > _CHANGES:
        yield canvas.draw([(f"  and {len(drift.prompts) - _CHANGES} more changes", "faint")])


def _prompt(change: PromptChange, canvas: Canvas) -> Iterator[str]:
    more = len(change.cases) - 1
    yield canvas.draw(
        [("  ", ""), (change.cases[0], "strong"), (f" and {more} more" if more else "", "faint")]
    )
    for sign, style, side in (("-", "bad", change.first), ("+", "good", change.second)):
        yield from _side(canvas, sign, style, side)


def _side(canvas: Canvas, sign: str, style: str, side: Excerpt) -> Iterator[str]:
    first: Line = [(f"  {sign} ", style)]
    if side.reason or not (side.before or side.changed or side.after):
        said = side.reason or "gives a prompt"
        yield from canvas.wrap([(word, style) for word in said.split(" ")], "    ", first)
        return
    shown = canvas.fit(side.changed, max(canvas.width // 2, 20)) if side.changed else ""
    room = max((canvas.width - 4 - canvas.cells(shown)) // 2, 6)
    before, after = side.before[-room:], side.after[:room]
    yield canvas.draw([*first, (before, "faint"), (shown or "▏", style), (after, "faint")])
    if side.changed:
        yield canvas.draw([("    ", ""), (canvas.fit(", ".join(side.origins), canvas.width - 4), "faint")])


def _row(canvas: Canvas, label: str, pieces: Sequence[Piece]) -> Iterator[str]:
    indent = " " * (_LABEL + 2)
    if len(label) > _LABEL:
        yield canvas.draw([(f"  {label}", "faint")])
        label = ""
    yield from canvas.wrap(pieces, indent, [(f"  {label.ljust(_LABEL)}", "faint")])


def unrendered_words(drift: TemplateDrift) -> str:
    """How many cases were not rendered on both sides, and why."""
    counted = f"{drift.unrendered} {'cases were' if drift.unrendered > 1 else 'case was'} not"
    if not drift.cases:
        counted = f"none of {drift.unrendered} cases was"
    return f"{counted} rendered on both sides: {'; '.join(drift.obstacles)}"


def cached_words(cached: CachedPrefix) -> list[Piece]:
    """What a prefix cache keeps, in words."""
    counts = (
        (cached.lost, "lost from the beginning", "bad"),
        (cached.part, "kept in part", "part"),
        (cached.kept, "kept but for the end", "good"),
    )
    found: list[Piece] = []
    for count, what, style in counts:
        if count:
            found += [(f"{count}", style), *((word, "") for word in (what + ";").split(" "))]
    return [*found[:-1], (found[-1][0].rstrip(";"), "")] if found else []


def alike(changes: Iterable[FactChange]) -> list[tuple[FactChange, list[str]]]:
    """Changes of a part from and to the same values are one, with where they are in words: a refusal in other
    words changes every capability that it refuses."""
    found: dict[tuple[str, str], tuple[FactChange, list[str]]] = {}
    for change in changes:
        key = change.part, json.dumps([change.first, change.second])
        path = " › ".join(piece for piece in change.path.split("/") if not piece.isdigit())
        found.setdefault(key, (change, []))[1].append(path)
    return list(found.values())


def _fact(change: FactChange, paths: Sequence[str]) -> list[Piece]:
    return [
        *((word, "") for word in (", ".join(paths) or "all").split(" ")),
        *_words(value_words(change.first), "bad"),
        ("→", ""),
        *_words(value_words(change.second), "good"),
    ]


def _words(text: str, style: str) -> Iterator[Piece]:
    """Words that lines break between; a text whose white space that would change stays whole."""
    yield from ((word, style) for word in ([text] if "  " in text else text.split(" ")))


def value_words(value: JSON) -> str:
    """A value on one line; a text in quotes where its ends could not be seen."""
    if isinstance(value, str) and value and value == value.strip(" "):
        return value
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"


def _finding(finding: FindingChange) -> list[Piece]:
    sign, style = ("+", "bad") if finding.new else ("-", "good")
    place = f" (line {finding.line})" if finding.line else ""
    words = f"{finding.message}{place}".split(" ")
    return [
        (f"{sign}", style),
        (f"{finding.severity}[{finding.rule}]", finding.severity),
        *((word, "") for word in words),
    ]
