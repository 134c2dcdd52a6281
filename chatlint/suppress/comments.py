"""Findings that a comment in the template asks not to be told of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatlint.records import replace
from chatlint.rules.finding import Finding, SuppressedBy, Suppression
from chatlint.rules.ignores import Ignore
from chatlint.source.package import TemplatePlace
from chatlint.source.place import template_position

Unused = tuple[tuple[Ignore, tuple[str, ...]], ...]
ASKED_FOR = "CT12"
"""Codes of rules on what the user asks for, and on such comments: no comment can hide what they find."""


def suppress(
    findings: Iterable[Finding], ignores: Sequence[Ignore], place: TemplatePlace
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings that stay, and those that a comment suppresses, of a template at `place` in its file."""
    kept, suppressed = [], []
    for finding in findings:
        ignore = _found(finding, ignores, place)
        if ignore:
            because = Suppression(SuppressedBy.COMMENT, ignore.reason, ignore.line)
            suppressed.append(replace(finding, suppressed=because))
        else:
            kept.append(finding)
    return tuple(kept), tuple(suppressed)


def unused(findings: Iterable[Finding], ignores: Sequence[Ignore], place: TemplatePlace) -> Unused:
    """The comments that suppress nothing, each with its rules of which it suppresses nothing. One that
    changes the prompt is not among them: that is another fault."""
    found = tuple(findings)
    missed = []
    for ignore in ignores:
        rules = tuple(name for name in ignore.rules if not _holds(ignore, name, found, place))
        if ignore.harmless and (rules or not ignore.rules):
            missed.append((ignore, rules))
    return tuple(missed)


def _holds(ignore: Ignore, name: str, findings: Iterable[Finding], place: TemplatePlace) -> bool:
    only = replace(ignore, rules=(name,))
    return any(_found(finding, (only,), place) for finding in findings)


def _found(finding: Finding, ignores: Iterable[Ignore], place: TemplatePlace) -> Ignore | None:
    if finding.code.startswith(ASKED_FOR):
        return None
    line = _line(finding, place)
    return next((one for one in ignores if one.holds(finding.rule, finding.code, line)), None)


def _line(finding: Finding, place: TemplatePlace) -> int:
    """The finding's line of the template, 0 where it has none there."""
    location = finding.location
    if location.file != place.file or not location.line:
        return 0
    return template_position(place, location.line, location.column)[0]
