"""`chatlint init [DIR]`: a configuration to start with, from what a model's template does today."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chatlint.cli.declared import Argument

if TYPE_CHECKING:
    from chatlint.verdict import TargetReport

Folder = Annotated[str, Argument(metavar="DIR", help="The model's directory.", show_default=False)]

CLAIMS = (
    *("system", "history", "generation_prompt", "tools", "tool_calls", "tool_results"),
    *("parallel_tool_calls", "reasoning", "documents", "images", "audio", "video", "prefill"),
)
"""Capabilities that people build on, and that models are chosen for."""


def write_configuration(folder: Folder = ".") -> None:
    """Write a chatlint.toml for a model's directory: what its template can do today is required of it.

    Exit status: 0 written, 2 there is a configuration already, or it cannot be written.
    """
    from chatlint.config import Settings
    from chatlint.config.file import CONFIG_NAME
    from chatlint.pipeline import check_target
    from chatlint.text import visible

    place = Path(folder)
    _refuse_existing(place)
    found = check_target(folder, Settings())
    _write(place / CONFIG_NAME, "\n".join(_lines(found)) + "\n")
    sys.stdout.write(f"{visible(str(place / CONFIG_NAME))} written: {visible(_said(found))}\n")
    sys.stdout.write(f"next: chatlint check {visible(folder)}\n")


def _refuse_existing(place: Path) -> None:
    from chatlint.config.file import find_config
    from chatlint.errors import UsageError

    if not place.is_dir():
        raise UsageError(f"{place} is no directory", hint="name the directory of a model")
    there = find_config(place.absolute())
    if there and there.parent == place.absolute():
        raise UsageError(f"{place / there.name} configures chatlint already", hint="edit it")


def _write(file: Path, text: str) -> None:
    from chatlint.errors import UsageError

    try:
        with open(file, "x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def held_claims(found: TargetReport) -> list[str]:
    """The claims that every template of the target keeps, whole."""
    known = [template.capabilities for template in found.templates]
    return [
        name
        for name in CLAIMS
        if known and all(one is not None and one.support(name) == "yes" for one in known)
    ]


def _lines(found: TargetReport) -> Iterator[str]:
    yield from (
        "# What this model's chat template must do, for `chatlint check`. Paths are relative to this file.",
        "",
        "# The least severity that fails a check: error, warning, info or never.",
        'fail-on = "error"',
        "",
        "# What for: serving, training or security. The rules are the same, severities differ.",
        'profile = "serving"',
        "",
    )
    yield from _requirement(held_claims(found))
    yield from (
        "",
        "# Rules that do not matter here, by name or by prefix of their codes (`chatlint rules` lists them).",
        '# ignore = ["forged-turns"]',
        "",
        "# Hold the template to a report: whatever changes fails. Save one first:",
        "#     chatlint check . --format json > report.json",
        '# expect = "report.json"',
        "",
        "# Conversations of your own (*.json), each with the prompt that it ought to give (*.txt) beside it.",
        '# probes = "conversations"',
        "",
        "# Findings that are accepted as they are; `chatlint check . --update-baseline` writes the file.",
        '# baseline = "chatlint.baseline.json"',
        "",
        "# [rules.prefix-break]",
        '# severity = "error"',
    )


def _requirement(claims: list[str]) -> Iterator[str]:
    if not claims:
        yield "# Capabilities that must be there, for example:"
        yield '# require = ["system", "tools", "tool_calls"]'
        return
    yield "# What the template can do today, and must go on doing."
    yield "require = ["
    yield from (f'    "{name}",' for name in claims)
    yield "]"


def _said(found: TargetReport) -> str:
    """What there is, in one line."""
    if found.failure:
        return f"it requires nothing, as no template was seen ({found.failure.message})"
    claims = len(held_claims(found))
    severities = [finding.severity for finding in found.all_findings]
    counts = ", ".join(
        f"{severities.count(severity)} {severity}{'s' * (severities.count(severity) != 1)}"
        for severity in dict.fromkeys(severities)
    )
    return f"it requires {claims} capabilities that hold today" + (f" ({counts} found)" if counts else "")
