"""What belongs to a whole report: causes that several templates share, and what the user accepted."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.report.canvas import Canvas, Line, Piece
from chatlint.report.table import table_lines
from chatlint.rules.finding import Finding, Severity, SuppressedBy
from chatlint.rules.severity import SEVERITIES
from chatlint.verdict import Report

_CAUSES = 20
"""Shared causes that are shown; the rest is counted."""
_ENTRIES = 5
"""Entries of a baseline that are named."""


def shared_lines(canvas: Canvas, report: Report) -> Iterator[str]:
    """Causes that more than one template has, the worst and most frequent first."""
    least = Severity.INFO if canvas.verbose else Severity.WARNING
    shown = SEVERITIES[: SEVERITIES.index(least) + 1]
    shared = [one for one in _causes(report) if one[1] > 1 and one[0].severity in shown]
    if not shared:
        return
    yield canvas.draw([("in several templates", "strong")])
    rows: list[Line] = [
        [
            (f"  {count} ×", "strong"),
            (finding.severity, finding.severity),
            (finding.rule, "strong"),
            (finding.message, ""),
        ]
        for finding, count in shared[:_CAUSES]
    ]
    yield from table_lines(canvas, rows)
    if len(shared) > _CAUSES:
        yield canvas.draw([(f"  and {len(shared) - _CAUSES} more", "faint")])
    yield ""


def _causes(report: Report) -> list[tuple[Finding, int]]:
    """One finding of each cause, and in how many templates it is."""
    found: dict[tuple[str, str, str], tuple[Finding, set[tuple[int, str]]]] = {}
    for number, target in enumerate(report.targets):
        for template in target.templates:
            for finding in template.findings:
                cause = (finding.rule, finding.severity, finding.message)
                found.setdefault(cause, (finding, set()))[1].add((number, template.template.name))
    causes = [(finding, len(places)) for finding, places in found.values()]
    return sorted(causes, key=lambda one: (SEVERITIES.index(one[0].severity), -one[1], one[0].code))


def accepted_lines(canvas: Canvas, report: Report) -> Iterator[str]:
    """What was found and does not count, and what of the baseline fits nothing any more."""
    findings = [one for target in report.targets for one in target.all_suppressed]
    by = [one.suppressed.by for one in findings if one.suppressed]
    ways = [
        (by.count(SuppressedBy.COMMENT), "by comments"),
        (by.count(SuppressedBy.BASELINE), f"by {report.baseline.file if report.baseline else 'a baseline'}"),
    ]
    said = ", ".join(f"{count} {how}" for count, how in ways if count)
    if said:
        yield from canvas.wrap(_words(f"suppressed: {said}", "faint"))
    yield from _stale(canvas, report)


def _stale(canvas: Canvas, report: Report) -> Iterator[str]:
    stale = report.baseline.stale if report.baseline else ()
    if not stale or not report.baseline:
        return
    count = "1 entry of it fits" if len(stale) == 1 else f"{len(stale)} entries of it fit"
    yield from canvas.wrap(
        _words(f"{report.baseline.file}: {count} nothing any more (--update-baseline removes what is stale)")
    )
    for entry in stale[:_ENTRIES]:
        where = f"{entry.target} › {entry.template}" if entry.template else entry.target
        said = [(entry.rule, "strong"), *_words(f"in {where}:", "faint"), *_words(entry.message)]
        yield from canvas.wrap(said, indent="    ", first=[("  ", "")])
    if len(stale) > _ENTRIES:
        yield canvas.draw([(f"  and {len(stale) - _ENTRIES} more", "faint")])


def _words(text: str, style: str = "") -> list[Piece]:
    return [(word, style) for word in text.split(" ")]
