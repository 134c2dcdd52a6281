"""What a template can express, as far as its renders show."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Support(StrEnum):
    """How far a capability goes."""

    YES = "yes"
    NO = "no"
    PARTIAL = "partial"
    RAISES = "raises"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Capability:
    """One answer with the ids of the cases it rests on; `note` says what "partial" or "unknown" means here."""

    name: str
    support: Support
    evidence: tuple[str, ...] = ()
    note: str = ""
