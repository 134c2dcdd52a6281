"""How severe findings are in a profile, and by what the user's configuration says.

It is decided when a result is read, not when it is made: a result that is kept serves every profile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from chatlint.config import Profile
from chatlint.records import replace
from chatlint.rules.finding import Finding, Severity

SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)
"""From worst to least."""


def rank(finding: Finding) -> tuple[int, str, int, int]:
    """Orders findings: the worst first, then by code and place."""
    location = finding.location
    return SEVERITIES.index(finding.severity), finding.code, location.line, location.column


def weighed(
    findings: Iterable[Finding], profile: Profile, severities: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Findings with their severities in a profile, the worst first. `severities` gives those of a rule (by
    its name) a severity in every profile, and makes every profile tell them."""
    told = (one for one in findings if not one.only or profile in one.only or one.rule in severities)
    found = [replace(one, severity=_severity(one, profile, severities)) for one in told]
    return tuple(sorted(found, key=rank))


def _severity(finding: Finding, profile: Profile, severities: Mapping[str, str]) -> Severity:
    if finding.rule in severities:
        return Severity(severities[finding.rule])
    return finding.profiles.get(profile, finding.severity)
