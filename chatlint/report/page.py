"""A rule's page as a terminal shows it: Markdown with its headings and code set apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from chatlint.report.canvas import Canvas, Line, Piece
from chatlint.report.table import table_lines

if TYPE_CHECKING:
    from chatlint.rules.rule import Rule


def page_lines(canvas: Canvas, rule: Rule) -> Iterator[str]:
    """The lines of a rule's page."""
    yield canvas.draw([(rule.name, "strong"), ("  ", ""), (rule.code, "faint")])
    yield canvas.draw(
        [
            (rule.severity, rule.severity),
            *_profiles(rule),
            (f", {rule.category}, since {rule.since}", "faint"),
        ]
    )
    yield ""
    yield from _markdown(canvas, rule.docstring)


def rules_lines(canvas: Canvas, rules: Iterable[Rule]) -> Iterator[str]:
    """Every rule in a row, under the name of its category."""
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        groups.setdefault(rule.category, []).append(rule)
    for category, group in groups.items():
        yield canvas.draw([(category.replace("_", "-"), "strong")])
        rows: list[Line] = [
            [(f"  {one.code}", "faint"), (one.severity, one.severity), (one.name, ""), (one.summary, "faint")]
            for one in group
        ]
        yield from table_lines(canvas, rows)


def _profiles(rule: Rule) -> Iterator[Piece]:
    """Other severities, where a profile has them."""
    for profile, severity in rule.profiles.items():
        yield from [(" (", "faint"), (severity, severity), (f" in {profile})", "faint")]


def _markdown(canvas: Canvas, text: str) -> Iterator[str]:
    """Paragraphs are set anew; lists and code stay as they are."""
    paragraph: list[str] = []
    fenced = False
    for line in [*text.strip().splitlines(), ""]:
        fence = line.startswith("```")
        if not fenced and not fence and line and not line.startswith(("#", "-", " ", "|")):
            paragraph.append(line)
            continue
        yield from _paragraph(canvas, paragraph)
        paragraph = []
        if fence:
            fenced = not fenced
            title = " ".join(line.removeprefix("```").split()[1:])
            yield from [canvas.draw([(f"  {title}:", "faint")])] if title else []
        elif fenced:
            yield canvas.draw([("    " + line, "literal")])
        else:
            yield canvas.draw([(line.lstrip("# "), "strong")]) if line.startswith("#") else line


def _paragraph(canvas: Canvas, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from canvas.wrap((word, "") for word in " ".join(lines).split(" "))
