"""How often each rule found something, and in how many templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from chatlint.report.canvas import Canvas, Line
from chatlint.report.table import table_lines
from chatlint.rules.finding import Finding
from chatlint.verdict import Report


def statistics(report: Report, canvas: Canvas) -> str:
    """A line per rule and severity, the most frequent first."""
    places: dict[tuple[str, str, str], set[str]] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for place, finding in _found(report):
        kind = (finding.severity.value, finding.code, finding.rule)
        counts[kind] += 1
        places.setdefault(kind, set()).add(place)
    rows = [
        _row(kind, count, len(places[kind]))
        for kind, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    ]
    lines = [*table_lines(canvas, rows), *_unchecked(report, canvas)]
    return "".join(f"{line}\n" for line in lines)


def _unchecked(report: Report, canvas: Canvas) -> Iterator[str]:
    for target in report.targets:
        if target.failure:
            yield from canvas.wrap(
                [(word, "") for word in f"{target.target}: {target.failure.message}".split(" ")],
                indent="  ",
                first=[(f"{target.status} ", "error")],
            )


def _row(kind: tuple[str, str, str], count: int, templates: int) -> Line:
    severity, code, rule = kind
    where = f"in {templates} template{'s' * (templates != 1)}"
    return [(f"{count:6}", "strong"), (code, "faint"), (severity, severity), (rule, ""), (where, "faint")]


def _found(report: Report) -> Iterator[tuple[str, Finding]]:
    """Each finding with the template that it was found in."""
    for number, target in enumerate(report.targets):
        for finding in target.findings:
            yield f"{number}", finding
        for template in target.templates:
            for finding in template.findings:
                yield f"{number} {template.template.name}", finding
