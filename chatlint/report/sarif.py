"""SARIF 2.1.0 (OASIS), as code scanning services read it: one run, a result per finding.

A finding is the same for such a service as long as its `partialFingerprints` are: they survive moved lines.
Physical locations are files as they lie in the model's repository, logical ones the cases that show the
finding. What could not be loaded, asked or told is a notification: a service sees that something is missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from chatlint import __version__
from chatlint.conversation import JSON
from chatlint.report.canvas import Canvas
from chatlint.report.finding import place_of
from chatlint.report.places import (
    address,
    faults,
    file_of,
    local_path,
    not_evaluated,
    placed_findings,
    suppressed_findings,
)
from chatlint.rules.catalogue import rule_named
from chatlint.rules.finding import Finding, Severity, SuppressedBy
from chatlint.rules.rule import Rule
from chatlint.source.package import TargetKind
from chatlint.text import visible
from chatlint.verdict import Report, TargetReport, TemplateReport

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "chatlint/v1"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}


def sarif(report: Report, _: Canvas) -> str:
    """The whole report as one SARIF log."""
    log: dict[str, JSON] = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}
    return json.dumps(log, indent=2) + "\n"


def _run(report: Report) -> dict[str, JSON]:
    found = [
        (target, template, finding)
        for target in report.targets
        for template, finding in (*placed_findings(target), *suppressed_findings(target))
    ]
    names = sorted({finding.rule for _, _, finding in found})
    rules = [rule_named(name) for name in names]
    results: list[JSON] = [
        {**_result(target, template, finding, names.index(finding.rule)), **_state(report, finding)}
        for target, template, finding in found
    ]
    return {
        "tool": {
            "driver": {
                "name": "chatlint",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [
                    _rule(rule) if rule else {"id": name} for name, rule in zip(names, rules, strict=True)
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "artifacts": list(_artifacts(report)),
        "results": [*results, *_absent(report)],
    }


def _rule(rule: Rule) -> dict[str, JSON]:
    """A rule with its whole page: services show it beside the result."""
    page = rule.docstring.strip()
    former: dict[str, JSON] = {"deprecatedIds": list(rule.formerly)} if rule.formerly else {}
    return {
        **former,
        "id": rule.name,
        "name": _pascal(rule.name),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.page.section("What it does") or rule.summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "code": rule.code,
            "tags": ["chat-template", rule.category],
            "problem.severity": _PROBLEMS[rule.severity],
        },
    }


def _pascal(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _result(
    target: TargetReport, template: TemplateReport | None, finding: Finding, index: int
) -> dict[str, JSON]:
    made: dict[str, JSON] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [
            {
                "physicalLocation": _physical(target, template, finding),
                "logicalLocations": [_logical(target, template, case) for case in finding.cases],
            }
        ],
        "properties": _properties(finding),
    }
    if finding.fingerprint:
        # Services tell results apart by file as well; the same template may stand in several targets.
        made["partialFingerprints"] = {FINGERPRINT: finding.fingerprint}
    return made


def _state(report: Report, finding: Finding) -> dict[str, JSON]:
    """Whether the user accepted it, and whether the baseline knows it, where there is one."""
    because = finding.suppressed
    known = because is not None and because.by is SuppressedBy.BASELINE
    made: dict[str, JSON] = {"baselineState": "unchanged" if known else "new"} if report.baseline else {}
    if because:
        kind = "external" if known else "inSource"
        suppression: dict[str, JSON] = {"kind": kind, "status": "accepted"}
        suppression |= {"justification": visible(because.reason)} if because.reason else {}
        made["suppressions"] = [suppression]
    return made


def _absent(report: Report) -> Iterator[JSON]:
    """Findings of the baseline that are no more."""
    for entry in report.baseline.stale if report.baseline else ():
        yield {
            "ruleId": entry.rule,
            "level": "none",
            "kind": "notApplicable",
            "message": {"text": _sentence(entry.message)},
            "partialFingerprints": {FINGERPRINT: entry.fingerprint},
            "baselineState": "absent",
        }


def _message(finding: Finding) -> str:
    fix = f"Fix: {finding.fix}" if finding.fix else ""
    return " ".join(filter(None, (_sentence(finding.message), visible(finding.consequence), visible(fix))))


def _sentence(text: str) -> str:
    return visible(text[:1].upper() + text[1:] + ("" if text.endswith((".", "…", "!", "?")) else "."))


def _physical(target: TargetReport, template: TemplateReport | None, finding: Finding) -> dict[str, JSON]:
    location = finding.location
    artifact: dict[str, JSON] = {"uri": address(local_path(target, location.file))}
    if location.line < 1 or _is_binary(target, location.file):
        return {"artifactLocation": artifact}
    region: dict[str, JSON] = {"startLine": location.line}
    if location.column > 0:
        region["startColumn"] = location.column
    place = place_of(finding, template.template if template else None)
    found: dict[str, JSON] = {"artifactLocation": artifact, "region": region}
    if place.source and template and not template.template.place.json_pointer:
        region["snippet"] = {"text": visible(place.source)}
    return found


def _is_binary(target: TargetReport, file: str) -> bool:
    """The lines of a template in a GGUF are no lines of the file."""
    return file.endswith(".gguf") or target.kind is TargetKind.GGUF


def _logical(target: TargetReport, template: TemplateReport | None, case: str) -> dict[str, JSON]:
    """A case, as `chatlint render --probe` takes it."""
    name = template.template.name if template else ""
    whole = "::".join(filter(None, (target.target, name, case)))
    return {"name": visible(case), "fullyQualifiedName": visible(whole), "kind": "case"}


def _properties(finding: Finding) -> dict[str, JSON]:
    """What SARIF has no words for."""
    shown = finding.evidence[0] if finding.evidence else None
    found: dict[str, JSON] = {
        "code": finding.code,
        "confidence": finding.confidence,
        "consequence": finding.consequence,
        "fix": finding.fix,
        "hosts": list(finding.hosts),
        "cases": list(finding.cases),
        "prompt": shown.text if shown else "",
        "marked": shown.text[shown.start : shown.end] if shown else "",
    }
    return {name: visible(value) if isinstance(value, str) else value for name, value in found.items()}


def _invocation(report: Report) -> dict[str, JSON]:
    told = [_notification("error", f"{name}: {what}: {why}") for name, what, why in faults(report)]
    told += [
        _notification("note", f"{name}: {rule} was not evaluated: {reason}")
        for name, rule, reason in not_evaluated(report)
    ]
    return {
        "executionSuccessful": report.exit_code < 2,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": _listed(told),
    }


def _notification(level: str, text: str) -> dict[str, JSON]:
    return {"level": level, "message": {"text": visible(text)}}


def _listed(items: Sequence[dict[str, JSON]]) -> list[JSON]:
    return list(items)


def _artifacts(report: Report) -> Iterator[JSON]:
    """The files that were read, each once, with what they held."""
    seen: set[str] = set()
    for target in report.targets:
        for file in target.files:
            uri = address(local_path(target, file.path))
            if uri in seen or file_of(target, file.path) == "-":
                continue
            seen.add(uri)
            hashes: dict[str, JSON] = {"hashes": {"sha-256": file.sha256}} if file.sha256 else {}
            yield {"location": {"uri": uri}, "length": file.bytes, **hashes}
