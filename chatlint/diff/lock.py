"""`chatlint.lock`: what templates did when somebody looked, so that CI notices when they do otherwise.

For each target and template the file holds the sha256 of its text, its special tokens and the stops
declared, and a *render signature*: the sha256 of what it does with every standard case. A template with
another text and the same signature has the same behaviour as far as the cases ask, if all of them could be
rendered.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from chatlint import __version__
from chatlint.config import Settings
from chatlint.conversation import JSON
from chatlint.diff.cases import outcome, standard_cases
from chatlint.diff.shape import Schema, complaint
from chatlint.errors import UsageError
from chatlint.facts import unfiled
from chatlint.parse.saved import plain
from chatlint.pipeline import read_target
from chatlint.probe.case import Observation
from chatlint.probe.trace import Trace
from chatlint.records import dataclass
from chatlint.render.rendered import FailureKind, RenderSettings
from chatlint.source.package import Package, TargetKind, Template
from chatlint.store.digest import value_digest
from chatlint.store.disk import Store
from chatlint.verdict import declared_stops

SCHEMA = "chatlint.lock/1"
NAME = "chatlint.lock"
_MARK = 3
_SILENT = {FailureKind.BOUND: "---", FailureKind.SYNTAX: "!!!"}
"""Marks of cases of which nothing is known, and of those of a template that does not compile."""


class LockState(StrEnum):
    """What became of a locked template."""

    SAME = "same"
    COSMETIC = "cosmetic"
    """Another text that renders the same."""
    CHANGED = "changed"
    NEW = "new"
    """It is not in the lock."""
    GONE = "gone"
    TOKENS = "tokens"
    """Other special tokens, or stops declared; what was rendered is the same."""
    UNKNOWN = "unknown"
    """Another text, and not every case could be rendered then and now: nobody knows."""
    OUTDATED = "outdated"
    """Locked on another host, or another text and locked with other cases: nobody knows."""
    FAILED = "failed"
    """The target could not be loaded."""


@dataclass(frozen=True, slots=True)
class Locked:
    """One template in a lock. `cases` is the sha256 of the cases themselves: signatures of other cases say
    nothing about each other. `by_case` has three characters per case, in their order: the beginning of the
    sha256 of what it does, or why nobody knows. `stops` is the sha256 of what files declare to end a turn.
    These two are "" in a lock that was made before there were any."""

    sha256: str
    special_tokens: str
    host: str
    cases: str
    renders: str
    by_case: str = ""
    stops: str = ""

    def to_dict(self) -> dict[str, JSON]:
        """As in the file."""
        return {name: getattr(self, name) for name in self.__slots__}

    @property
    def marks(self) -> tuple[str, ...]:
        """What is kept of each case."""
        return tuple(self.by_case[start : start + _MARK] for start in range(0, len(self.by_case), _MARK))

    @property
    def unrendered(self) -> int:
        """How many cases say nothing."""
        return sum(mark in _SILENT.values() for mark in self.marks)


@dataclass(frozen=True, slots=True)
class LockResult:
    """One template of one target, against its lock. `differs` names what is not as it was locked: "text",
    "special tokens", "stops", "host" or "cases". `unrendered` is how many cases could not be rendered then or
    now, `message` why a target could not be loaded (then `template` is "") or on which hosts it was asked."""

    target: str
    template: str
    state: LockState
    differs: tuple[str, ...] = ()
    unrendered: int = 0
    message: str = ""

    @property
    def holds(self) -> bool:
        """Whether it does what it did."""
        return self.state in (LockState.SAME, LockState.COSMETIC)


def lock_target(
    target: str, settings: Settings, say: Callable[[str], None] = lambda _: None
) -> dict[str, Locked]:
    """The lock of each template of a target, by name. Raises TargetError if it cannot be loaded."""
    package = read_target(target, settings, say)
    return {template.name: _locked(template, package, settings) for template in package.templates}


def _locked(template: Template, package: Package, settings: Settings) -> Locked:
    untrusted = settings.untrusted or package.target.kind is TargetKind.HUB
    store = Store() if settings.cache else None
    with Trace(template, RenderSettings(settings.host, untrusted=untrusted), store) as trace:
        cases = standard_cases(trace)
        seen = trace.ask_all(cases)
    signature = sha256()
    for observation in seen:
        signature.update(_said(observation))
    tokens = dict(sorted(template.special_tokens.items()))
    asked = [
        (case.id, case.conversation, case.add_generation_prompt, case.continue_final_message)
        for case in cases
    ]
    declared = plain(declared_stops(package))
    return Locked(
        template.sha256,
        value_digest(tokens),
        settings.host,
        value_digest(asked),
        signature.hexdigest(),
        "".join(map(_mark, seen)),
        value_digest(unfiled(declared) if isinstance(declared, dict) else {}),
    )


def _said(observation: Observation) -> bytes:
    text = f"{observation.case.id}\0{outcome(observation)}\0"
    return text.encode("utf-8", "surrogatepass")


def _mark(observation: Observation) -> str:
    """What is kept of one case. So few characters may be equal by chance, so they only tell what changed
    where the signature of all cases cannot: never that something is the same."""
    failure = observation.failure
    if failure is not None and failure.kind in _SILENT:
        return _SILENT[failure.kind]
    return sha256(_said(observation)).hexdigest()[:_MARK]


_DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_MEMBERS: Mapping[str, JSON] = {
    "sha256": _DIGEST,
    "special_tokens": _DIGEST,
    "host": {"type": "string"},
    "cases": _DIGEST,
    "renders": _DIGEST,
    "by_case": {"type": "string", "pattern": "^([0-9a-f]{3}|---|!!!)*$"},
    "stops": {"type": "string", "pattern": "^([0-9a-f]{64})?$"},
}
_TEMPLATE: Mapping[str, JSON] = {"type": "object", "properties": _MEMBERS, "required": list(_MEMBERS)[:5]}
_SHAPE: Schema = {
    "type": "object",
    "properties": {
        "schema": {"const": SCHEMA},
        "targets": {
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": _TEMPLATE},
        },
    },
    "required": ["schema", "targets"],
}


def read_lock(path: Path) -> dict[str, dict[str, Locked]]:
    """Targets and their templates in a lock file. Raises UsageError for a file that is none."""
    hint = "`chatlint lock TARGET…` makes one"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        fault = complaint(content, _SHAPE, ("schema", "targets", *_MEMBERS))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint=hint) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a lock: {error}", hint=hint) from error
    if fault:
        raise UsageError(f"{path} is not a lock: {fault}", hint=hint)
    return {
        target: {name: _of_file(locked) for name, locked in templates.items()}
        for target, templates in content["targets"].items()
    }


def _of_file(locked: Mapping[str, str]) -> Locked:
    """Members of later versions are left out."""
    return Locked(**{name: locked[name] for name in _MEMBERS if name in locked})


def write_lock(path: Path, targets: Mapping[str, Mapping[str, Locked]]) -> None:
    """Write a lock file, whole or not at all. Raises UsageError where it cannot be written."""
    content = {
        "schema": SCHEMA,
        "version": __version__,
        "targets": {
            target: {name: locked.to_dict() for name, locked in sorted(templates.items())}
            for target, templates in sorted(targets.items())
        },
    }
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def against_lock(
    target: str, locked: Mapping[str, Locked], now: Mapping[str, Locked]
) -> Iterator[LockResult]:
    """What became of each template of a target."""
    for name in (*locked, *(name for name in now if name not in locked)):
        before, after = locked.get(name), now.get(name)
        if before is None or after is None:
            yield LockResult(target, name, LockState.NEW if after else LockState.GONE)
        else:
            differs, unrendered = _differing(before, after), _unrendered(before, after)
            state = _state(before, after, differs, unrendered)
            hosts = f"locked on {before.host}, asked on {after.host}" if "host" in differs else ""
            yield LockResult(target, name, state, differs, unrendered, hosts)


def _differing(before: Locked, now: Locked) -> tuple[str, ...]:
    """What is not as it was locked."""
    same = {
        "text": before.sha256 == now.sha256,
        "special tokens": before.special_tokens == now.special_tokens,
        "stops": before.stops in ("", now.stops),
        "host": before.host == now.host,
        "cases": before.cases == now.cases,
    }
    return tuple(name for name, is_same in same.items() if not is_same)


def _unrendered(before: Locked, now: Locked) -> int:
    """How many cases say nothing, then or now."""
    return sum(_says_nothing(*pair) for pair in zip(before.marks, now.marks, strict=False))


def _says_nothing(one: str, other: str) -> bool:
    bound, broken = _SILENT.values()
    return bound in (one, other) or one == other == broken


def _state(before: Locked, now: Locked, differs: tuple[str, ...], unrendered: int) -> LockState:
    if "host" in differs:
        return LockState.OUTDATED
    if not {"text", "special tokens", "stops"}.intersection(differs):
        return LockState.SAME
    if "cases" not in differs and _renders_otherwise(before, now, unrendered):
        return LockState.CHANGED
    if "special tokens" in differs or "stops" in differs:
        return LockState.TOKENS
    if "cases" in differs:
        return LockState.OUTDATED
    complete = len(before.marks) == len(now.marks) and not unrendered
    return LockState.COSMETIC if complete else LockState.UNKNOWN


def _renders_otherwise(before: Locked, now: Locked, unrendered: int) -> bool:
    """Whether a case that is known on both sides differs."""
    if not unrendered:
        return before.renders != now.renders
    pairs = zip(before.marks, now.marks, strict=False)
    return any(one != other and not _says_nothing(one, other) for one, other in pairs)
