"""JUnit XML: a suite per template, a test case per rule, so that a CI server shows what passed as well.

A finding that would not fail the run does not fail its test case: the file and the exit status agree. What
could not be told, or was accepted, is skipped; what could not be loaded or asked is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from chatlint.records import dataclass, replace
from chatlint.report.canvas import Canvas
from chatlint.report.places import accepted, local_path, name_of, place_in
from chatlint.rules.finding import Finding
from chatlint.rules.selection import Selection
from chatlint.source.package import Failure
from chatlint.text import visible
from chatlint.verdict import Report, TargetReport, TemplateReport


@dataclass(frozen=True, slots=True)
class _Test:
    """One test case: its name, the element that says how it went ("" if it passed), and the text in it."""

    name: str
    outcome: str = ""
    message: str = ""
    body: str = ""
    file: str = ""
    line: int = 0


def junit(report: Report, _: Canvas) -> str:
    """The whole report as one `testsuites` element."""
    suites = [suite for target in report.targets for suite in _suites(report, target)]
    tests = [test for _, suite in suites for test in suite]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<testsuites name="chatlint" {_counts(tests)}>',
        *(line for name, suite in suites for line in _suite(name, suite)),
        "</testsuites>",
    ]
    return "".join(f"{line}\n" for line in lines)


def _suites(report: Report, target: TargetReport) -> Iterator[tuple[str, list[_Test]]]:
    if target.failure:
        hint = f"\n{target.failure.hint}" if target.failure.hint else ""
        said = target.failure.message
        yield target.target, [_Test("load", "error", said, said + hint)]
    package = [_broken(failure) for failure in target.failures]
    package += _found(report, target, target.findings)
    if package:
        yield f"{target.target} › package", package
    for template in target.templates:
        yield name_of(target, template), list(_tests(report, target, template))


def _tests(report: Report, target: TargetReport, template: TemplateReport) -> Iterator[_Test]:
    yield from _found(report, target, template.findings)
    untold = dict(template.unevaluated)
    found = {finding.rule for finding in (*template.findings, *target.findings)}
    for finding in template.suppressed:
        untold.setdefault(finding.rule, f"suppressed {accepted(finding)}: {finding.message}")
    settings = report.settings.for_target(target.target, template.template.place.file)
    chosen = Selection(settings.select, settings.ignore)
    for rule in (*chosen.rules(), *replace(chosen, on_report=True).rules()):
        if rule.name in untold and rule.name not in found:
            yield _Test(rule.name, "skipped", untold[rule.name])
        elif rule.name not in found:
            yield _Test(rule.name)
    yield from (_broken(failure) for failure in template.failures)


def _broken(failure: Failure) -> _Test:
    return _Test(f"{failure.stage} {failure.subject}".strip(), "error", failure.message, failure.message)


def _found(report: Report, target: TargetReport, findings: Sequence[Finding]) -> Iterator[_Test]:
    """One test case for each rule with findings."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    for rule, some in by_rule.items():
        fails = [finding for finding in some if report.fails(finding)]
        shown = fails or some
        more = f" (and {len(shown) - 1} more)" if len(shown) > 1 else ""
        first = shown[0]
        yield _Test(
            rule,
            "failure" if fails else "system-out",
            f"{first.message}{more}",
            "\n\n".join(_text(target, finding) for finding in some),
            local_path(target, first.location.file),
            first.location.line,
        )


def _text(target: TargetReport, finding: Finding) -> str:
    said = [
        f"{place_in(target, finding)}: {finding.severity}[{finding.rule}] {finding.message}",
        *(f"prompt: {one.text}" for one in finding.evidence if one.text),
        f"in serving: {finding.consequence}",
        f"fix: {finding.fix}" if finding.fix else "",
        f"cases: {', '.join(finding.cases)}" if finding.cases else "",
        f"{finding.code}, {finding.confidence} confidence",
    ]
    return "\n".join(visible(line) for line in said if line)


def _suite(name: str, tests: Sequence[_Test]) -> Iterator[str]:
    yield f"  <testsuite name={_attribute(name)} {_counts(tests)}>"
    for test in tests:
        where = f" file={_attribute(test.file)}" if test.file else ""
        where += f' line="{test.line}"' if test.line else ""
        head = f"    <testcase name={_attribute(test.name)} classname={_attribute(name)}{where}"
        yield f"{head}>{_outcome(test)}</testcase>" if test.outcome else f"{head}/>"
    yield "  </testsuite>"


def _outcome(test: _Test) -> str:
    body = "\n".join(escape(visible(line)) for line in test.body.split("\n"))
    if test.outcome == "system-out":
        return f"<system-out>{body}</system-out>"
    return f"<{test.outcome} message={_attribute(test.message)}>{body}</{test.outcome}>"


def _counts(tests: Sequence[_Test]) -> str:
    outcomes = [test.outcome for test in tests]
    kinds = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    counted = " ".join(f'{name}="{outcomes.count(outcome)}"' for name, outcome in kinds)
    return f'tests="{len(tests)}" {counted}'


def _attribute(text: str) -> str:
    return quoteattr(visible(text))
