"""One line per finding: `file:line:column: severity[rule] message`."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.report.canvas import Canvas
from chatlint.report.places import place_in
from chatlint.verdict import Report, TargetReport


def concise(report: Report, canvas: Canvas) -> str:
    """The whole report, one line each for findings and for targets that could not be checked."""
    return "".join(f"{line}\n" for target in report.targets for line in _lines(target, canvas))


def _lines(target: TargetReport, canvas: Canvas) -> Iterator[str]:
    if target.failure:
        first = target.target
        yield canvas.draw([(f"{first}: ", ""), (target.status, "error"), (f" {target.failure.message}", "")])
    for finding in target.all_findings:
        severity = finding.severity
        yield canvas.draw(
            [
                (place_in(target, finding), ""),
                (": ", ""),
                (severity, severity),
                (f"[{finding.rule}] {finding.message}", ""),
            ]
        )
