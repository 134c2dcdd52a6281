"""One side of a comparison: a target, or a report that was saved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from chatlint import report as report_room
from chatlint.config import Settings
from chatlint.conversation import JSON
from chatlint.diff.shape import Schema, complaint
from chatlint.errors import TargetError, UsageError
from chatlint.facts import PARTS
from chatlint.pipeline import judge, read_target, target_report
from chatlint.records import dataclass, field, replace
from chatlint.source.package import Package, TargetKind, Template
from chatlint.verdict import SCHEMA

Facts = Mapping[str, JSON]
"""A template's part of a report."""

_READ = frozenset(
    (
        *("targets", "target", "status", "templates", "name", "sha256"),
        *("findings", "rule", "severity", "message", "fingerprint", "location", "line"),
        *PARTS,
    )
)
"""Members of a report that a comparison reads."""


@dataclass(frozen=True, slots=True)
class Side:
    """What is known of one side: its templates' facts by name, and the templates themselves unless it is a
    saved report (`package` None). `note` is what else the reader must know of it, "" for nothing."""

    name: str
    facts: Mapping[str, Facts]
    package: Package | None = None
    templates: Mapping[str, Template] = field(default_factory=dict)
    note: str = ""


def read_side(target: str, settings: Settings, say: Callable[[str], None] = lambda _: None) -> Side:
    """A side by what the user named. A JSON file that is a report is one; all else is a target.

    Raises UsageError for a report of another version, or one on several targets; TargetError for a target
    that cannot be loaded.
    """
    saved = _saved(target)
    if saved is not None:
        return _of_report(target, saved)
    return _of_package(target, read_target(target, settings, say), settings)


def read_sides(
    first: str, second: str, settings: Settings, say: Callable[[str], None] = lambda _: None
) -> tuple[Side, Side]:
    """Both sides, as `read_side` reads them. A bare template has no special tokens: beside a target that has
    some it is read with them, as that target's."""
    names, saved = (first, second), (_saved(first), _saved(second))
    packages = [
        None if report is not None else read_target(name, settings, say)
        for name, report in zip(names, saved, strict=True)
    ]
    sides = []
    for name, report, own, other, others in zip(
        names, saved, packages, reversed(packages), reversed(names), strict=True
    ):
        if report is not None or own is None:
            sides.append(_of_report(name, report or {}))
        elif other is not None and _is_bare(own) and not _has_no_tokens(other):
            lent = read_target(others, replace(settings, template=name), say)
            note = f"{name} is a bare template: it is read with the special tokens of {others}"
            sides.append(_of_package(name, lent, settings, note))
        else:
            sides.append(_of_package(name, own, settings))
    return sides[0], sides[1]


def _is_bare(package: Package) -> bool:
    return package.target.kind is TargetKind.FILE and _has_no_tokens(package)


def _has_no_tokens(package: Package) -> bool:
    return all(template.special_tokens_assumed for template in package.templates)


def _of_package(name: str, package: Package, settings: Settings, note: str = "") -> Side:
    settings = replace(settings, expected=None)  # what is expected here is the other side
    judged = [judge(template, package, settings) for template in package.templates]
    report = target_report(name, package, judged).to_dict()
    templates = {template.name: template for template in package.templates}
    return Side(name, _by_name(report), package, templates, note)


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
    single = "targets" not in report  # a line of `--format jsonl` is one target
    fault = complaint(report, _schema(single=single), _READ)
    if fault:
        raise UsageError(f"{path} is not a whole report: {fault}", hint="check its target again")
    targets = [report] if single else report["targets"]
    if not isinstance(targets, list) or len(targets) != 1:
        raise UsageError(f"{path} is a report on several targets", hint="compare reports on one target each")
    (target,) = targets
    if not isinstance(target, Mapping) or target.get("status") != "checked":
        raise TargetError(f"{path} is the report on a target that was not checked", hint="check it again")
    return Side(path, _by_name(target))


def _schema(*, single: bool) -> Schema:
    """The schema of reports; `single`: of what they say of one target."""
    text = (Path(report_room.__file__).parent / "report.schema.json").read_text(encoding="utf-8")
    schema: Schema = json.loads(text)
    return {**schema, "$ref": "#/$defs/target", "required": []} if single else schema


def _by_name(target: Mapping[str, JSON]) -> dict[str, Facts]:
    listed = target.get("templates")
    templates = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    return {str(template.get("name")): template for template in templates}
