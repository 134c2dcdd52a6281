"""One line per finding: `file:line:column: severity[rule] message`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from chatlint.report.canvas import Canvas
from chatlint.rules.finding import Finding
from chatlint.source.package import TargetKind
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
                (_place(target, finding), ""),
                (": ", ""),
                (severity, severity),
                (f"[{finding.rule}] {finding.message}", ""),
            ]
        )


def _place(target: TargetReport, finding: Finding) -> str:
    location = finding.location
    numbers = f":{location.line}" if location.line else ""
    numbers += f":{location.column}" if location.column else ""
    return file_of(target, location.file) + numbers


def file_of(target: TargetReport, file: str) -> str:
    """A file of a target as the user can open it, where it lies on this machine."""
    if target.kind is TargetKind.DIRECTORY:
        return str(PurePath(target.target, file))
    if target.kind is TargetKind.FILE or target.kind is TargetKind.GGUF:
        return target.target if PurePath(target.target).name == PurePath(file).name else file
    return f"{target.target}/{file}" if file and file != "-" else target.target
