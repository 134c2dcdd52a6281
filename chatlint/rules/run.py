"""Run rules on a subject and make findings of what they report."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from chatlint.config import Profile
from chatlint.errors import obey_interrupts
from chatlint.limits import FINDING_CHARACTERS, RULE_CAUSES
from chatlint.records import dataclass, replace
from chatlint.rules.calls import OLDER
from chatlint.rules.cause import Cause, NotEvaluated, Sight, smallest_first
from chatlint.rules.elsewhere import settled
from chatlint.rules.finding import Evidence, Finding, Location, Severity
from chatlint.rules.folding import folded
from chatlint.rules.rule import Rule, Stage
from chatlint.rules.selection import Selection
from chatlint.rules.severity import rank
from chatlint.rules.whereabouts import broke_at, whereabouts
from chatlint.source.package import Failure

if TYPE_CHECKING:
    from chatlint.rules.subject import Subject

_CONTEXT = 240
"""Characters of a prompt shown on each side of the marked place."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rules had to say: findings by severity, then code; `failures` of chatlint itself: rules that
    broke, and what a check of its own found; `unevaluated` as (rule, reason)."""

    findings: tuple[Finding, ...] = ()
    failures: tuple[Failure, ...] = ()
    unevaluated: tuple[tuple[str, str], ...] = ()


def run(subject: Subject, selection: Selection | None = None) -> Judged:
    """Run the selected rules, with the severities of the serving profile. A rule that breaks is a failure in
    the result, never an exception.

    Raises UsageError if the selection names a rule that does not exist.
    """
    selection = selection or Selection()
    told: list[tuple[Rule, list[Cause]]] = []
    findings: list[Finding] = []
    failures: list[Failure] = []
    unevaluated: list[tuple[str, str]] = []
    for rule in sorted(selection.rules(), key=lambda rule: rule.needs):
        try:
            causes, untold = _told(rule, subject)
            told.append((rule, settled(subject, rule, causes)))
            failures += [_own_fault(rule, cause) for cause in causes if cause.own]
            if untold:
                unevaluated.append((rule.name, untold))
        except Exception as error:
            failures.append(_broken(rule, error))
    for rule, causes in folded(told):
        try:
            findings += _findings(rule, subject, causes)
        except Exception as error:
            failures.append(_broken(rule, error))
    subject.close()
    return Judged(tuple(sorted(findings, key=rank)), tuple(failures), tuple(unevaluated))


def _broken(rule: Rule, error: Exception) -> Failure:
    obey_interrupts(error)
    return Failure("rules", rule.name, f"{type(error).__name__}: {error}")


def causes_of(rule: Rule, subject: Subject) -> list[Cause]:
    """What one rule has to say. Raises NotEvaluated, and whatever a rule that breaks raises."""
    causes, untold = _told(rule, subject)
    if untold and not causes:
        raise NotEvaluated(untold)
    return causes


def _told(rule: Rule, subject: Subject) -> tuple[list[Cause], str]:
    """What a rule says, and why it cannot tell the rest, "" where it told all. What it said first counts."""
    missing = _missing(rule, subject)
    causes: list[Cause] = []
    if missing:
        return causes, missing
    try:
        for cause in rule.check(subject):
            if len(causes) == RULE_CAUSES:
                return causes, f"what it found beyond {RULE_CAUSES} findings is left out"
            if unseen := _unseen(cause):
                missing = unseen
            else:
                causes.append(cause)
    except NotEvaluated as reason:
        return causes, str(reason)
    return causes, missing


def _unseen(cause: Cause) -> str:
    """Why nothing is known of what a cause is about: no case of it was rendered, as the template had used up
    what it may. "" where one was."""
    failures = [sight.observation.failure for sight in cause.sights]
    given_up = [one.message for one in failures if one and one.kind == "bound" and not one.exception]
    return given_up[0] if given_up and len(given_up) == len(failures) else ""


def _own_fault(rule: Rule, cause: Cause) -> Failure:
    shown = "".join(f" ({sight.observation.case.id})" for sight in cause.sights[:1])
    return Failure("rules", rule.name, f"{cause.message}{shown}")


def _findings(rule: Rule, subject: Subject, causes: list[Cause]) -> list[Finding]:
    return _fingerprinted([_finding(rule, subject, cause) for cause in causes if not cause.own])


def _missing(rule: Rule, subject: Subject) -> str:
    """Why a rule that needs a stage cannot run, "" if it can."""
    if rule.needs >= Stage.TRACE and subject.broken:
        return "the template does not compile"
    if Stage.TRACE <= rule.needs < Stage.OBSERVATIONS and subject.unbounded:
        return "a question alone hits a bound"
    if rule.needs in (Stage.FORMAT, Stage.ROUND_TRIPS) and subject.format is None:
        return "no output format was learned"
    if rule.needs is Stage.ROUND_TRIPS and subject.round_trips is None:
        return "no round trip was made"
    return ""


def _finding(rule: Rule, subject: Subject, cause: Cause) -> Finding:
    """A finding whose `fingerprint` is still the cause's key; `_fingerprinted` completes it."""
    sights = smallest_first(cause.sights)
    line, column = _place(subject, cause, sights)
    profiles = {**rule.profiles, **{Profile(name): cause.profiles[name] for name in cause.profiles}}
    severity = cause.severity or rule.severity
    if _is_of_older(cause, subject.trace.settings.host):
        severity = _no_error(severity)
        profiles = {profile: _no_error(one) for profile, one in profiles.items()}
    return Finding(
        rule=rule.name,
        code=rule.code,
        severity=severity,
        confidence=cause.confidence,
        message=_cut(cause.message),
        consequence=_cut(cause.consequence),
        location=Location(cause.file) if cause.file else subject.locate(line, column),
        cases=tuple(sight.observation.case.id for sight in sights),
        hosts=cause.hosts or ((subject.trace.settings.host,) if sights else ()),
        evidence=tuple(_evidence(sight) for sight in sights[:1]),
        fix=_cut(cause.fix),
        fingerprint=f"{rule.name}\n{subject.template.name}\n{cause.key}",
        hidden_on=cause.hidden_on,
        profiles=profiles,
        only=tuple(map(Profile, cause.only)),
    )


def _is_of_older(cause: Cause, host: str) -> bool:
    """Whether it holds in no host but older ones, and not where the check is made."""
    return bool(cause.hosts) and host not in cause.hosts and set(cause.hosts) <= {OLDER}


def _no_error(severity: Severity) -> Severity:
    """Wrong output where others serve: who checks for a newer host is told, and not stopped."""
    return Severity.WARNING if severity is Severity.ERROR else severity


def _fingerprinted(findings: list[Finding]) -> list[Finding]:
    """Hashes of rule, template name and cause; equal ones are told apart by their order in the template."""
    seen: Counter[str] = Counter()
    made = []
    for finding in sorted(findings, key=rank):
        key = finding.fingerprint
        text = f"{key}\n{seen[key]}"
        seen[key] += 1
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))  # files may be named by any bytes
        made.append(replace(finding, fingerprint=digest.hexdigest()[:16]))
    return made


def _place(subject: Subject, cause: Cause, sights: Iterable[Sight]) -> tuple[int, int]:
    """The place in the template: the cause's own, else where it broke, else what wrote the marked text, or
    ought to have."""
    if cause.line:
        return cause.line, cause.column
    for sight in sights:
        failure = sight.observation.failure
        place = broke_at(subject, sight, failure) if failure else whereabouts(subject, sight)
        if place != (0, 0):
            return place
    return 0, 0


def _evidence(sight: Sight) -> Evidence:
    observation = sight.observation
    case = observation.case.id
    if observation.failure:
        failure = observation.failure
        return Evidence(case, "", note=_cut(sight.note or f"{failure.exception}: {failure.message}"))
    text = observation.text
    if not text:
        return Evidence(case, "", note=_cut(_of_an_empty_prompt(sight.note)))
    end = min(sight.end, sight.start + FINDING_CHARACTERS)
    low, high = max(sight.start - _CONTEXT, 0), min(end + _CONTEXT, len(text))
    return Evidence(case, text[low:high], sight.start - low, end - low, _cut(sight.note))


def _of_an_empty_prompt(note: str) -> str:
    """There is no place in it to point at, and nothing "up to here"."""
    said = note.removesuffix(" up to here")
    return f"the prompt is empty: {said}" if said else "the prompt is empty"


def _cut(text: str) -> str:
    """A text of a bounded length: a template decides how long what it prints is."""
    return text if len(text) <= FINDING_CHARACTERS else f"{text[:FINDING_CHARACTERS]}…"
