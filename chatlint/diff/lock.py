"""`chatlint.lock`: what templates did when somebody looked, so that CI notices when they do otherwise.

For each target and template the file holds the sha256 of its text and special tokens, and a *render
signature*: the sha256 of what it does with every standard case. A template with another text and the same
signature has the same behaviour as far as the cases ask.
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
from chatlint.errors import UsageError
from chatlint.pipeline import read_target
from chatlint.probe.trace import Trace
from chatlint.records import dataclass
from chatlint.render.rendered import RenderSettings
from chatlint.source.package import Package, TargetKind, Template
from chatlint.store.digest import value_digest
from chatlint.store.disk import Store

SCHEMA = "chatlint.lock/1"
NAME = "chatlint.lock"


class LockState(StrEnum):
    """What became of a locked template."""

    SAME = "same"
    COSMETIC = "cosmetic"
    """Another text that renders the same."""
    CHANGED = "changed"
    NEW = "new"
    """It is not in the lock."""
    GONE = "gone"
    OUTDATED = "outdated"
    """Another text, and the lock was made with other cases or on another host: nobody knows."""


@dataclass(frozen=True, slots=True)
class Locked:
    """One template in a lock. `cases` is the sha256 of the cases themselves: signatures of other cases say
    nothing about each other."""

    sha256: str
    special_tokens: str
    host: str
    cases: str
    renders: str

    def to_dict(self) -> dict[str, JSON]:
        """As in the file."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class LockResult:
    """One template of one target, against its lock."""

    target: str
    template: str
    state: LockState

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
        cases = tuple(standard_cases(trace))
        signature = sha256()
        for observation in trace.ask_all(cases):
            text = f"{observation.case.id}\0{outcome(observation)}\0"
            signature.update(text.encode("utf-8", "surrogatepass"))
    tokens = dict(sorted(template.special_tokens.items()))
    asked = [
        (case.id, case.conversation, case.add_generation_prompt, case.continue_final_message)
        for case in cases
    ]
    return Locked(
        template.sha256, value_digest(tokens), settings.host, value_digest(asked), signature.hexdigest()
    )


def read_lock(path: Path) -> dict[str, dict[str, Locked]]:
    """Targets and their templates in a lock file. Raises UsageError for a file that is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise ValueError(f"it is not in {SCHEMA}")
        return {
            target: {name: Locked(**locked) for name, locked in templates.items()}
            for target, templates in content["targets"].items()
        }
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", hint="`chatlint lock TARGET…` makes one"
        ) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{path} is not a lock: {error}", hint="`chatlint lock TARGET…` makes one"
        ) from error


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
        yield LockResult(target, name, _state(locked.get(name), now.get(name)))


def _state(before: Locked | None, now: Locked | None) -> LockState:
    if before is None or now is None:
        return LockState.NEW if now else LockState.GONE
    if (before.sha256, before.special_tokens, before.host) == (now.sha256, now.special_tokens, now.host):
        return LockState.SAME
    if (before.cases, before.host) != (now.cases, now.host):
        return LockState.OUTDATED
    return LockState.COSMETIC if before.renders == now.renders else LockState.CHANGED
