"""The report for a person at a terminal: each template on one screen, then its findings, then the sum."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.report.canvas import Canvas, Piece
from chatlint.report.finding import finding_lines, words
from chatlint.report.overview import overview_lines
from chatlint.rules.finding import Severity
from chatlint.text import visible
from chatlint.verdict import Report, TargetReport, TemplateReport


def terminal(report: Report, canvas: Canvas) -> str:
    """The whole report."""
    blocks = [line for target in report.targets for line in _target(canvas, target)]
    return "".join(f"{line}\n" for line in (*blocks, *_summary(canvas, report)))


def _target(canvas: Canvas, target: TargetReport) -> Iterator[str]:
    if target.failure:
        yield canvas.draw([(visible(target.target), "strong")])
        yield from canvas.wrap(
            words(target.failure.message), indent="  ", first=[(f"{target.status}: ", "error")]
        )
        if target.failure.hint:
            yield from canvas.wrap(words(target.failure.hint), indent="  ", first=[("  = help  ", "strong")])
        yield ""
    for template in target.templates:
        yield from _heading(canvas, target, template)
        yield from overview_lines(canvas, template)
        yield ""
        for finding in template.findings:
            yield from finding_lines(canvas, finding, template.template)
            yield ""


def _heading(canvas: Canvas, target: TargetReport, template: TemplateReport) -> Iterator[str]:
    title = visible(target.target)
    if len(target.templates) > 1:
        title += f" › {visible(template.template.name)}"
    yield from canvas.wrap([(title, "strong")])
    tokens = "assumed" if template.template.special_tokens_assumed else "given"
    about = f"{visible(template.template.place.file)}, {template.host}, special tokens {tokens}"
    yield from canvas.wrap([(word, "faint") for word in about.split(" ")], indent="  ", first=[("  ", "")])


def _summary(canvas: Canvas, report: Report) -> Iterator[str]:
    counts = report.counts
    parts: list[Piece] = []
    for severity, noun in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "info")):
        count = counts.get(severity, 0)
        parts += [(f"{count} {noun}{'' if count == 1 else 's'}", severity if count else "faint"), (", ", "")]
    yield canvas.draw(parts[:-1])
