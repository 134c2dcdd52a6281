"""`chatlint.baseline.json`: the findings that were there when somebody began to look.

An entry names target, template, rule and the fingerprint of a cause, which stays the same when lines move, on
every host and in any order. Entries are sorted, so that a change of the file shows what changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from chatlint.conversation import JSON
from chatlint.errors import TargetError, UsageError
from chatlint.limits import CONFIG_BYTES
from chatlint.records import dataclass, replace
from chatlint.rules.finding import Finding, SuppressedBy, Suppression
from chatlint.source.package import TargetKind

SCHEMA = "chatlint.baseline/1"
_NONE = "--update-baseline writes one where there is none"
_HINT = "remove it, and write it anew with --update-baseline"


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """One accepted finding; `template` is "" for one of the package. `message` is for people."""

    target: str
    template: str
    rule: str
    message: str
    fingerprint: str

    @property
    def key(self) -> tuple[str, str]:
        """What it is known by."""
        return self.target, self.fingerprint


def entry_of(target: str, template: str, finding: Finding) -> BaselineEntry:
    """The entry for a finding of a target that is named `target` in the baseline."""
    return BaselineEntry(target, template, finding.rule, finding.message, finding.fingerprint)


def named_in(file: Path, target: str, kind: TargetKind | None) -> str:
    """A target's name in the baseline `file`: a model on the Hub without its revision, what lies on this
    machine by its path from the baseline's folder. It is the same wherever the command is run."""
    if kind is TargetKind.HUB:
        return target.partition("@")[0]
    if kind in (TargetKind.DIRECTORY, TargetKind.FILE, TargetKind.GGUF):
        return Path(os.path.relpath(target, file.parent)).as_posix()
    return target


def read_baseline(file: Path) -> dict[tuple[str, str], BaselineEntry]:
    """The entries by their keys. Raises UsageError for a file that is missing or none of ours."""
    content = _json(file)
    if content.get("schema") != SCHEMA or not isinstance(content.get("findings"), list):
        raise UsageError(f"{file} is no baseline in {SCHEMA}", hint=_HINT)
    listed = content["findings"]
    entries = [_entry(file, one) for one in listed] if isinstance(listed, list) else []
    return {entry.key: entry for entry in entries}


def write_baseline(file: Path, entries: Iterable[BaselineEntry]) -> None:
    """Write a baseline at once, or not at all. Raises UsageError where that cannot be."""
    order = sorted(set(entries), key=lambda one: (one.target, one.template, one.rule, one.fingerprint))
    listed = [_to_dict(entry) for entry in order]
    text = json.dumps({"schema": SCHEMA, "findings": listed}, indent=2) + "\n"
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="ascii")
        beside.replace(file)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def accepted(finding: Finding) -> Finding:
    """The finding as one that the baseline suppresses."""
    return replace(finding, suppressed=Suppression(SuppressedBy.BASELINE))


def _to_dict(entry: BaselineEntry) -> dict[str, JSON]:
    return {
        "target": entry.target,
        "template": entry.template,
        "rule": entry.rule,
        "fingerprint": entry.fingerprint,
        "message": entry.message,
    }


def _entry(file: Path, value: JSON) -> BaselineEntry:
    if not isinstance(value, Mapping):
        raise UsageError(f"{file}: a finding must be an object", hint=_HINT)
    members = [value.get(name) for name in ("target", "template", "rule", "message", "fingerprint")]
    texts = [member for member in members if isinstance(member, str)]
    if len(texts) != len(members):
        raise UsageError(
            f"{file}: a finding lacks target, template, rule, message or fingerprint", hint=_HINT
        )
    return BaselineEntry(*texts)


def _json(file: Path) -> Mapping[str, JSON]:
    from chatlint.source.folder import read_file

    try:
        content: JSON = json.loads(read_file(file, CONFIG_BYTES * 16, regular=False))
    except TargetError as error:
        raise UsageError(f"baseline: {error.message}", hint=_NONE) from error
    except OSError as error:
        raise UsageError(f"baseline: {file}: {error.strerror}", hint=_NONE) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON: {error}", hint=_HINT) from error
    if not isinstance(content, Mapping):
        raise UsageError(f"{file} is no baseline in {SCHEMA}", hint=_HINT)
    return content
