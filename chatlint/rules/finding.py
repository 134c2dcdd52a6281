"""A finding: one cause, once, with the evidence a template's author needs to accept it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from chatlint.config import Profile
from chatlint.records import dataclass, field


class Severity(StrEnum):
    """How much it matters: ERROR is wrong output or a crash on standard input, WARNING breaks a common
    engine or client, INFO is a property worth stating."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Confidence(StrEnum):
    """How sure the rule is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file of the package (one-based line and column; 0 when unknown)."""

    file: str
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was rendered: the case, the prompt around the place, and where in `text` the place is (code
    points)."""

    case: str
    text: str
    start: int = 0
    end: int = 0
    note: str = ""


class SuppressedBy(StrEnum):
    """Who accepted a finding."""

    COMMENT = "comment"
    """A comment in the template."""
    BASELINE = "baseline"
    """The file of findings that were there before."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """Why a finding does not count: the comment in line `line` of the template with its reason, or the
    baseline."""

    by: SuppressedBy
    reason: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """`cases` lists every case that shows the cause, the smallest first; `evidence` shows that one. `fix`
    says what to change. `fingerprint` survives moved lines. `hosts` are those in which it holds, `hidden_on`
    those whose preparation of a conversation hides it; of a host in neither it is not known. `profiles` holds
    the severity in those profiles in which it has another one; where `only` names profiles, the others do not
    tell it. One that is `suppressed` does not count."""

    rule: str
    code: str
    severity: Severity
    confidence: Confidence
    message: str
    consequence: str
    location: Location
    cases: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    fix: str = ""
    fingerprint: str = ""
    suppressed: Suppression | None = None
    profiles: Mapping[Profile, Severity] = field(default_factory=dict)
    hidden_on: tuple[str, ...] = ()
    only: tuple[Profile, ...] = ()
