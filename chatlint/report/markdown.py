"""Markdown, as a step summary on GitHub shows it: what was found first, then each template at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chatlint.report.answers import answers_of
from chatlint.report.canvas import Canvas
from chatlint.report.grammar import grammar_rows
from chatlint.report.markup import md_cell, md_code, md_prose, md_text
from chatlint.report.places import (
    accepted,
    faults,
    name_of,
    place_in,
    placed_findings,
    suppressed_findings,
)
from chatlint.report.serve_with import basis_rows, caveat_rows
from chatlint.rules.finding import Finding, Severity
from chatlint.verdict import Report, Status, TargetReport, TemplateReport

LARGEST = 900_000
"""Characters at most: GitHub refuses a summary of more than a mebibyte."""
_LONGEST = 400
_PLURALS = {Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.INFO: "infos"}


def markdown(report: Report, _: Canvas) -> str:
    """The whole report. Targets that would make it too large are counted, not shown."""
    parts = [f"## chatlint: {_counted(report)}\n"]
    parts += [
        f"- {md_text(name)}: {md_text(f'{what}: {why}', _LONGEST)}\n" for name, what, why in faults(report)
    ]
    parts += ["\n".join(_table(report)) + "\n"] if len(report.targets) > 1 else []
    room = LARGEST - sum(map(len, parts))
    shown = [target for target in report.targets if target.status is Status.CHECKED]
    for index, target in enumerate(shown):
        part = "\n".join(_target(target))
        room -= len(part)
        if room < 0:
            parts.append(f"And {len(shown) - index} more targets: the other formats have them all.\n")
            break
        parts.append(part)
    return "\n".join(parts)


def _counted(report: Report) -> str:
    counts = {severity: report.counts.get(severity, 0) for severity in _PLURALS}
    said = ", ".join(f"{n} {severity if n == 1 else _PLURALS[severity]}" for severity, n in counts.items())
    failed = sum(target.status is not Status.CHECKED for target in report.targets)
    return said + (f", {failed} not checked" if failed else "")


def _table(report: Report) -> Iterator[str]:
    yield "| target | templates | errors | warnings | infos |\n|---|---:|---:|---:|---:|"
    for target in report.targets:
        counts = [sum(one.severity is severity for one in target.all_findings) for severity in _PLURALS]
        told = " | ".join(map(str, counts)) if target.status is Status.CHECKED else f"{target.status} | | "
        yield f"| {md_cell(target.target, _LONGEST)} | {len(target.templates)} | {told} |"


def _target(target: TargetReport) -> Iterator[str]:
    findings = [finding for _, finding in placed_findings(target)]
    yield f"### {md_code(target.target)}\n"
    if findings:
        yield "| | finding | rule | where |\n|---|---|---|---|"
        for severity in _PLURALS:
            yield from (_row(target, one) for one in findings if one.severity is severity)
        yield ""
    else:
        yield "Nothing was found.\n"
    yield from _accepted(target)
    grave = [finding for finding in findings if finding.severity is not Severity.INFO]
    if grave:
        yield from _folded("What it does, and what to change", _explained(grave))
    for template in target.templates:
        yield from _folded(f"{name_of(target, template)} at a glance", _glance(template))


def _accepted(target: TargetReport) -> Iterator[str]:
    """What was found and does not count."""
    found = [finding for _, finding in suppressed_findings(target)]
    if found:
        count = f"{len(found)} suppressed finding{'' if len(found) == 1 else 's'}"
        told = (
            f"- {md_cell(one.rule)} {md_prose(one.message, _LONGEST)}, {md_text(accepted(one), _LONGEST)}"
            for one in found
        )
        yield from _folded(count, told)


def _row(target: TargetReport, finding: Finding) -> str:
    severity = str(finding.severity)
    shown = f"**{severity}**" if finding.severity is Severity.ERROR else severity
    place = md_cell(place_in(target, finding), _LONGEST)
    return f"| {shown} | {md_prose(finding.message, _LONGEST)} | {md_cell(finding.rule)} | {place} |"


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"<details><summary>{md_text(summary)}</summary>\n"
    yield from lines
    yield "\n</details>\n"


def _explained(findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        yield f"- {md_code(finding.rule)}: {md_prose(finding.message, _LONGEST)}"
        for evidence in finding.evidence:
            if evidence.text:
                low, high = max(evidence.start - 40, 0), evidence.end + 40
                yield f"  - prompt: {md_code(evidence.text[low:high], _LONGEST)}"
        yield f"  - in serving: {md_prose(finding.consequence, _LONGEST)}"
        if finding.fix:
            yield f"  - fix: {md_prose(finding.fix, _LONGEST)}"
        if finding.cases:
            more = f" and {len(finding.cases) - 1} more" if len(finding.cases) > 1 else ""
            yield f"  - shown by {md_code(finding.cases[0])}{more}"


def _glance(template: TemplateReport) -> Iterator[str]:
    yield "| | |\n|---|---|"
    facts = f"sha256 {template.template.sha256[:12]}, {template.host}"
    yield f"| template | {md_cell(template.template.place.file, _LONGEST)}, {md_text(facts)} |"
    if template.capabilities:
        for label, answers in answers_of(template.capabilities):
            told = [f"{answer.mark} {md_text(answer.said)}{_noted(answer.note)}" for answer in answers]
            yield f"| {label} | {' '.join(told)} |"
        prompt = template.capabilities.generation_prompt
        yield f"| prompt ends | {md_cell(prompt.text[-120:]) or 'nothing'} |"
    if template.format:
        for part, pieces in grammar_rows(template.format):
            yield f"| writes {part} | {md_cell(''.join(text for text, _ in pieces), _LONGEST)} |"
        if template.format.end_of_turn:
            yield f"| turn ends | {' '.join(map(md_cell, template.format.end_of_turn))} |"
    if template.round_trips and template.round_trips.trips:
        trips = template.round_trips
        yield f"| round trips | {trips.passed} of {len(trips.trips)} |"
    yield from _serving(template)
    for limit in template.limits:
        yield f"| refuses | {md_text(limit.message, _LONGEST)} |"
    for rule, reason in template.unevaluated:
        yield f"| not evaluated | {md_cell(rule)}: {md_text(reason, _LONGEST)} |"


def _noted(note: str) -> str:
    return f" ({md_text(note, 160)})" if note else ""


def _serving(template: TemplateReport) -> Iterator[str]:
    if template.serving is None:
        return
    for engine in template.serving.engines.values():
        told = md_cell(" ".join(engine.flags)) or md_prose(engine.basis, _LONGEST)
        yield f"| {md_text(f'{engine.name} {engine.version}')} | {told} |"
    for row in (*basis_rows(template.serving), *caveat_rows(template.serving)):
        yield f"| | {md_prose(' '.join(text for text, _ in row), _LONGEST)} |"
