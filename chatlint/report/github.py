"""Annotations of GitHub Actions: workflow commands that put findings beside the changed lines.

    ::error file=chat_template.jinja,line=2,col=36,title=tool-calls-lost (CT402)::of a call …

GitHub shows ten of each level in a step, so the ten worst are written, and how many that leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.report.canvas import Canvas
from chatlint.report.places import faults, local_path
from chatlint.rules.finding import Confidence, Finding, Severity
from chatlint.text import visible
from chatlint.verdict import Report, TargetReport

MOST = 10
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_SURE = (Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW)


def github(report: Report, _: Canvas) -> str:
    """One line for each annotation, the worst first."""
    found = [(target, finding) for target in report.targets for finding in target.all_findings]
    lines = [
        f"::error title=chatlint::{_data(f'{name}: {what}: {why}')}" for name, what, why in faults(report)
    ]
    said = list(_kept(lines, "faults"))
    for severity, level in _LEVELS.items():
        room = MOST - len(lines[:MOST]) if level == "error" else MOST
        some = sorted((one for one in found if one[1].severity is severity), key=_sureness)
        said += _kept([_annotation(level, target, finding) for target, finding in some], f"{severity}s", room)
    return "".join(f"{line}\n" for line in said)


def _sureness(found: tuple[TargetReport, Finding]) -> int:
    return _SURE.index(found[1].confidence)


def _kept(lines: list[str], what: str, room: int = MOST) -> Iterator[str]:
    """The first of them, and how many there are."""
    yield from lines[:room]
    if len(lines) > room:
        yield f"{room} of {len(lines)} {what} are annotated: GitHub shows {MOST} of a level in a step"


def _annotation(level: str, target: TargetReport, finding: Finding) -> str:
    location = finding.location
    places = {"file": local_path(target, location.file)}
    places |= {"line": str(location.line)} if location.line else {}
    places |= {"col": str(location.column)} if location.line and location.column else {}
    places |= {"title": f"{finding.rule} ({finding.code})"}
    properties = ",".join(f"{name}={_property(value)}" for name, value in places.items())
    said = " ".join(filter(None, (f"{finding.message}.", finding.consequence, finding.fix)))
    return f"::{level} {properties}::{_data(said)}"


def _data(text: str) -> str:
    """As the runner reads a command's text (actions/toolkit, `escapeData`)."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """As the runner reads a command's property (`escapeProperty`)."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
