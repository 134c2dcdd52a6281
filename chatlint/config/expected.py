"""What a saved report expects of the templates: `expect = "report.json"`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from chatlint.conversation import JSON
from chatlint.errors import TargetError, UsageError
from chatlint.facts import PARTS
from chatlint.limits import JSON_FILE_BYTES
from chatlint.records import dataclass, replace

SCHEMA = "chatlint.report/1"
_HINT = "save it with: chatlint check TARGET --format json > report.json"

Facts = Mapping[str, JSON]
"""A template's part of a report."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The facts of each template, by name, for each target, by name. `version` is the chatlint that saw
    them."""

    file: str
    version: str
    targets: Mapping[str, Mapping[str, Facts]]

    def of_target(self, target: str) -> Expected:
        """What is expected of one target. A report on a single one holds whatever that is called now; of
        several, nothing where it is not among them."""
        if len(self.targets) == 1:
            return self
        return replace(self, targets={target: self.targets[target]} if target in self.targets else {})

    @property
    def templates(self) -> Mapping[str, Facts] | None:
        """Of the one target that is left, its templates; None where nothing is known of it."""
        return next(iter(self.targets.values()), None)


def read_expected(path: str) -> Expected:
    """The expectations in a saved report. Raises UsageError for what is no report, or not on checked
    targets."""
    report = _json(path)
    if report.get("schema") != SCHEMA:
        raise UsageError(f"expect: {path} is no report in {SCHEMA}", hint=_HINT)
    targets = report.get("targets", [report])
    found = {}
    for target in targets if isinstance(targets, list) else []:
        if isinstance(target, Mapping) and target.get("status") == "checked":
            found[str(target.get("target"))] = _templates(target.get("templates"))
    if not found:
        raise UsageError(f"expect: {path} reports on no target that was checked", hint=_HINT)
    return Expected(Path(path).name, str(report.get("version", "")), found)


def _templates(listed: JSON) -> dict[str, Facts]:
    templates = listed if isinstance(listed, list) else []
    return {
        str(one.get("name")): {part: one[part] for part in (*PARTS, "sha256") if part in one}
        for one in templates
        if isinstance(one, Mapping)
    }


def _json(path: str) -> Mapping[str, JSON]:
    from chatlint.source.folder import read_file

    try:
        content: JSON = json.loads(read_file(Path(path), JSON_FILE_BYTES, regular=False))
    except TargetError as error:
        raise UsageError(f"expect: {error.message}", hint=_HINT) from error
    except OSError as error:
        raise UsageError(f"expect: {path}: {error.strerror}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"expect: {path} is not JSON: {error}", hint=_HINT) from error
    if not isinstance(content, Mapping):
        raise UsageError(f"expect: {path} is no report", hint=_HINT)
    return content
