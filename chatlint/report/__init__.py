"""Reporters: each makes text of a `Report`, for a canvas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from chatlint.report.canvas import Canvas
    from chatlint.verdict import Report

Reporter: TypeAlias = "Callable[[Report, Canvas], str]"


def _reported(module: str, function: str, report: Report, canvas: Canvas) -> str:
    """Import a reporter when it has something to report: a run needs one or two of them."""
    made = getattr(import_module(f"chatlint.report.{module}"), function)(report, canvas)
    assert isinstance(made, str)
    return made


REPORTERS: Mapping[str, Reporter] = {
    "terminal": partial(_reported, "terminal", "terminal"),
    "concise": partial(_reported, "concise", "concise"),
    "json": partial(_reported, "json", "json_report"),
    "jsonl": partial(_reported, "json", "json_lines"),
    "sarif": partial(_reported, "sarif", "sarif"),
    "junit": partial(_reported, "junit", "junit"),
    "github": partial(_reported, "github", "github"),
    "markdown": partial(_reported, "markdown", "markdown"),
    "html": partial(_reported, "html", "html_page"),
    "statistics": partial(_reported, "statistics", "statistics"),
}
