"""Every real template gets a report, in every format, and no report breaks out of its canvas or schema."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from chatlint.config import Settings
from chatlint.report import REPORTERS
from chatlint.report.canvas import Canvas
from chatlint.survey import judge_each
from chatlint.verdict import Report, Status
from tests.report.test_schema import SCHEMA, closed


def targets_in(shared):
    templates = sorted(str(path) for path in (shared / "templates").glob("*.jinja"))
    packages = sorted(str(path) for path in (shared / "packages").iterdir() if path.is_dir())
    return [*templates, *packages, *(str(path) for path in sorted((shared / "gguf").glob("*.gguf")))]


@pytest.mark.sweep
@pytest.mark.timeout(1800)
def test_every_real_target_has_a_report(shared):
    validator = Draft202012Validator(closed(SCHEMA))
    faults = []
    for verdict in judge_each(targets_in(shared), Settings(cache=False), 2):
        report = Report(Settings(), (verdict,))
        if verdict.status is Status.FAILED or verdict.internal:
            faults.append((verdict.target, verdict.failure, [one.failures for one in verdict.templates]))
        faults += _shown_badly(report)
        written = json.loads(REPORTERS["json"](report, Canvas()))
        faults += [(verdict.target, error.message[:200]) for error in validator.iter_errors(written)]
    assert faults == []


def _shown_badly(report):
    for width in (40, 80):
        canvas = Canvas(width)
        for line in REPORTERS["terminal"](report, canvas).splitlines():
            if not line.isprintable() or canvas.cells(line) > width:
                yield report.targets[0].target, width, line
