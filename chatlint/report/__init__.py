"""Reporters: each makes text of a `Report`, for a canvas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from chatlint.report.canvas import Canvas
from chatlint.report.concise import concise
from chatlint.report.json import json_lines, json_report
from chatlint.report.terminal import terminal
from chatlint.verdict import Report

Reporter: TypeAlias = Callable[[Report, Canvas], str]

REPORTERS: Mapping[str, Reporter] = {
    "terminal": terminal,
    "concise": concise,
    "json": json_report,
    "jsonl": json_lines,
}
