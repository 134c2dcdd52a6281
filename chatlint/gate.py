"""What users ask of a target beyond the rules: that facts stay, that comments and baselines are obeyed.

It comes after a result is known, kept or fresh: nothing here renders, and nothing here is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from chatlint.config import Profile, Settings
from chatlint.conversation import JSON
from chatlint.facts import FactChange, fact_changes
from chatlint.probe.own import GROUP
from chatlint.records import replace
from chatlint.rules.finding import Finding
from chatlint.rules.ignores import Ignore, ignores_in
from chatlint.rules.severity import weighed
from chatlint.rules.subject import FactDrift
from chatlint.source.package import Package, TargetKind, Template
from chatlint.suppress.baseline import (
    BaselineEntry,
    accepted,
    entry_of,
    named_in,
    read_baseline,
    write_baseline,
)
from chatlint.suppress.comments import ASKED_FOR, Unused, suppress, unused
from chatlint.verdict import BaselineUse, Report, Status, TargetReport, TemplateReport


def held(report: TemplateReport, template: Template, package: Package, settings: Settings) -> TemplateReport:
    """The report on a template, with what the user expects of it and without what the template's comments
    ask not to be told of."""
    ignores = ignores_in(template.text) if _obeys(package, settings) else ()
    if not ignores and settings.expected is None:
        return report
    drift = _drift(report, template, package, settings)
    missed = _unused(report, ignores, settings)
    if drift or missed:
        report = _with_rules_on_report(report, template, package, settings, drift, missed)
    return _suppressed(report, ignores, template)


def _obeys(package: Package, settings: Settings) -> bool:
    """Whether comments count. The author of a template from elsewhere is not its judge."""
    elsewhere = package.target.kind is TargetKind.HUB or settings.untrusted
    return not elsewhere and settings.profile is not Profile.SECURITY


def _unused(report: TemplateReport, ignores: tuple[Ignore, ...], settings: Settings) -> Unused:
    """Comments that nothing was ignored for, though their rules were asked."""
    missed = unused(report.findings, ignores, report.template.place)
    asked = [
        (ignore, tuple(name for name in rules if _was_asked(name, report, settings)))
        for ignore, rules in missed
    ]
    return tuple((ignore, rules) for ignore, rules in asked if rules or not ignore.rules)


def _was_asked(rule: str, report: TemplateReport, settings: Settings) -> bool:
    """Whether a finding of a rule (its name or code) that is not there would have been."""
    from chatlint.rules.catalogue import all_rules
    from chatlint.rules.selection import Selection, selects

    known = next((one for one in all_rules() if rule in (one.name, one.code)), None)
    unevaluated = {name for name, _ in report.unevaluated}
    if known is None:
        return True
    return known.name not in unevaluated and selects(Selection(settings.select, settings.ignore), known)


def _suppressed(report: TemplateReport, ignores: tuple[Ignore, ...], template: Template) -> TemplateReport:
    kept, suppressed = suppress(report.findings, ignores, template.place)
    return replace(report, findings=kept, suppressed=suppressed)


def _with_rules_on_report(
    report: TemplateReport,
    template: Template,
    package: Package,
    settings: Settings,
    drift: FactDrift | None,
    missed: Unused,
) -> TemplateReport:
    from chatlint.probe.trace import Trace
    from chatlint.render.rendered import RenderSettings
    from chatlint.rules.run import run
    from chatlint.rules.selection import Selection
    from chatlint.rules.subject import Subject

    with Trace(template, RenderSettings(settings.host)) as trace:
        subject = Subject(package, template, trace, settings, drift=drift, unused_ignores=missed)
        judged = run(subject, Selection(settings.select, settings.ignore, on_report=True))
    return replace(
        report,
        findings=weighed((*report.findings, *judged.findings), settings.profile, settings.severities),
        failures=(*report.failures, *judged.failures),
        unevaluated=(*report.unevaluated, *judged.unevaluated),
    )


# -- expected facts ------------------------------------------------------------------------------------------


def _drift(
    report: TemplateReport, template: Template, package: Package, settings: Settings
) -> FactDrift | None:
    """What changed of what is expected of this template, None where nothing did."""
    if settings.expected is None:
        return None
    file, templates = settings.expected.file, settings.expected.templates
    if templates is None:
        return FactDrift(file, unknown=True)
    names = [one.name for one in package.templates]
    alone = len(names) == len(templates) == 1
    facts = next(iter(templates.values())) if alone else templates.get(template.name)
    if facts is None:
        return FactDrift(file, (FactChange("templates", template.name, None, "there"),))
    now = _comparable(report.to_dict(), facts)
    changes = list(fact_changes(_comparable(facts, facts), now))
    if template.name == names[0] and not alone:
        changes += [FactChange("templates", one, "there", None) for one in templates if one not in names]
    same = facts.get("sha256") == report.template.sha256
    return FactDrift(file, tuple(changes), same) if changes else None


def _comparable(now: Mapping[str, JSON], expected: Mapping[str, JSON]) -> dict[str, JSON]:
    """The parts that are expected to be one way or another. Another version of chatlint may know more
    capabilities and more engines: those say nothing about the template."""
    parts = {part: now.get(part) for part in expected}
    for part in ("capabilities", "serving"):
        then, today = expected.get(part), parts.get(part)
        if isinstance(then, Mapping) and isinstance(today, Mapping):
            parts[part] = {name: today[name] for name in today if name in then}
    limits = parts.get("limits")
    if isinstance(limits, list):
        parts["limits"] = [limit for limit in limits if not _is_of_own(limit)]
    return parts


def _is_of_own(limit: JSON) -> bool:
    """Whether only conversations of the user's own were refused: a folder of them may be new."""
    cases = limit.get("cases") if isinstance(limit, Mapping) else None
    return (
        isinstance(cases, list) and bool(cases) and all(str(case).startswith(f"{GROUP}/") for case in cases)
    )


# -- the baseline --------------------------------------------------------------------------------------------


def against_baseline(report: Report, file: Path, shown: str) -> Report:
    """The report without what the baseline in `file` accepts. Raises UsageError for a file that is none."""
    known = read_baseline(file)
    seen: set[tuple[str, str]] = set()
    targets = tuple(_accepted(target, file, known, seen) for target in report.targets)
    stale = tuple(
        entry
        for target in report.targets
        for entry in _entries(known, named_in(file, target.target, target.kind))
        if entry.key not in seen and _was_looked_for(entry, target, report.settings)
    )
    return replace(report, targets=targets, baseline=BaselineUse(shown, len(seen), stale))


def update_baseline(report: Report, file: Path) -> tuple[int, int]:
    """Accept every finding of the report: how many the baseline has of its targets now, and how many went.
    Entries of targets that were not checked, and of rules that were not asked, stay. Raises UsageError where
    it cannot be written."""
    known = read_baseline(file) if file.is_file() else {}
    found: dict[tuple[str, str], BaselineEntry] = {}
    gone = set()
    for target in report.targets:
        name = named_in(file, target.target, target.kind)
        found |= {entry.key: entry for entry in _found(target, name)}
        gone |= {
            entry.key for entry in _entries(known, name) if _was_looked_for(entry, target, report.settings)
        }
    gone -= found.keys()
    kept = {key: entry for key, entry in known.items() if key not in gone}
    write_baseline(file, {**kept, **found}.values())
    return len(found), len(gone)


def _found(target: TargetReport, name: str) -> list[BaselineEntry]:
    """An entry for each finding. What the user asks for is not among them: who does not want it any more says
    so where it is asked for."""
    entries = [entry_of(name, "", finding) for finding in target.findings]
    for template in target.templates:
        findings = (one for one in template.findings if not one.code.startswith(ASKED_FOR))
        entries += [entry_of(name, template.template.name, finding) for finding in findings]
    return entries


def _entries(known: Mapping[tuple[str, str], BaselineEntry], name: str) -> list[BaselineEntry]:
    return [entry for entry in known.values() if entry.target == name]


def _was_looked_for(entry: BaselineEntry, target: TargetReport, settings: Settings) -> bool:
    """Whether a finding that is not there would have been: its rule was selected and could be evaluated."""
    here = settings.for_target(target.target)
    return (
        target.status is Status.CHECKED
        and not target.internal
        and all(_was_asked(entry.rule, template, here) for template in target.templates)
    )


def _accepted(
    target: TargetReport,
    file: Path,
    known: Mapping[tuple[str, str], BaselineEntry],
    seen: set[tuple[str, str]],
) -> TargetReport:
    name = named_in(file, target.target, target.kind)

    def is_known(finding: Finding) -> bool:
        if (name, finding.fingerprint) not in known:
            return False
        seen.add((name, finding.fingerprint))
        return True

    kept, suppressed = _parted(target.findings, is_known)
    templates = []
    for template in target.templates:
        findings, more = _parted(template.findings, is_known)
        templates.append(replace(template, findings=findings, suppressed=(*template.suppressed, *more)))
    return replace(
        target, findings=kept, suppressed=(*target.suppressed, *suppressed), templates=tuple(templates)
    )


def _parted(
    findings: tuple[Finding, ...], is_known: Callable[[Finding], bool]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    known = {finding.fingerprint for finding in findings if is_known(finding)}
    kept = tuple(one for one in findings if one.fingerprint not in known)
    return kept, tuple(accepted(one) for one in findings if one.fingerprint in known)
