"""The report as JSON. It is ASCII: no control character or bidirectional mark reaches a terminal."""

from __future__ import annotations

import json

from chatlint.report.canvas import Canvas
from chatlint.verdict import SCHEMA, Report


def json_report(report: Report, _: Canvas) -> str:
    """The whole report, one object."""
    return json.dumps(report.to_dict(), indent=2) + "\n"


def json_lines(report: Report, _: Canvas) -> str:
    """One object per target and line: its part of the report, with the schema's name before it."""
    return "".join(json.dumps({"schema": SCHEMA, **target.to_dict()}) + "\n" for target in report.targets)
