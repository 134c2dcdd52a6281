"""One side of a comparison: a target, or a report that was saved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path

from chatlint.config import Settings
from chatlint.conversation import JSON
from chatlint.errors import TargetError, UsageError
from chatlint.pipeline import judge, read_target, target_report
from chatlint.records import dataclass
from chatlint.source.package import Package, Template
from chatlint.verdict import SCHEMA

Facts = Mapping[str, JSON]
"""A template's part of a report."""


@dataclass(frozen=True, slots=True)
class Side:
    """What is known of one side: its templates' facts by name, and the templates themselves unless it is a
    saved report (`package` None)."""

    name: str
    facts: Mapping[str, Facts]
    package: Package | None = None
    templates: Mapping[str, Template] = field(default_factory=dict)


def read_side(target: str, settings: Settings, say: Callable[[str], None] = lambda _: None) -> Side:
    """A side by what the user named. A JSON file that is a report is one; all else is a target.

    Raises UsageError for a report of another version, or one on several targets; TargetError for a target
    that cannot be loaded.
    """
    saved = _saved(target)
    if saved is not None:
        return _of_report(target, saved)
    package = read_target(target, settings, say)
    settings = replace(settings, expected=None)  # what is expected here is the other side
    judged = [judge(template, package, settings) for template in package.templates]
    report = target_report(target, package, judged).to_dict()
    return Side(
        target, _by_name(report), package, {template.name: template for template in package.templates}
    )


def _saved(target: str) -> Mapping[str, JSON] | None:
    """The report in a file, None if it is not one."""
    path = Path(target)
    if path.suffix.lower() not in (".json", ".jsonl") or not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None  # loading it as a target says what is wrong
    schema = content.get("schema") if isinstance(content, Mapping) else None
    return content if isinstance(schema, str) and schema.startswith("chatlint.report/") else None


def _of_report(path: str, report: Mapping[str, JSON]) -> Side:
    if report["schema"] != SCHEMA:
        raise UsageError(
            f"{path} is a report in {report['schema']}, not {SCHEMA}", hint="check its target again"
        )
    targets = report.get("targets", [report])  # a line of `--format jsonl` is one target
    if not isinstance(targets, list) or len(targets) != 1:
        raise UsageError(f"{path} is a report on several targets", hint="compare reports on one target each")
    (target,) = targets
    if not isinstance(target, Mapping) or target.get("status") != "checked":
        raise TargetError(f"{path} is the report on a target that was not checked", hint="check it again")
    return Side(path, _by_name(target))


def _by_name(target: Mapping[str, JSON]) -> dict[str, Facts]:
    listed = target.get("templates")
    templates = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    return {str(template.get("name")): template for template in templates}
