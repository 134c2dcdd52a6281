"""What is done to one target of a survey, in whatever process: look, then examine what nobody knows yet.

Two steps, so that equal templates are examined once: a look tells the keys of a target's templates, and
whoever runs the survey knows which of them were asked for already. What goes between processes is plain: JSON
and bytes.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from threading import Lock

from chatlint.config import Settings
from chatlint.conversation import JSON
from chatlint.parse.saved import plain
from chatlint.pipeline import contained, examine, read_target
from chatlint.records import dataclass
from chatlint.results import Question, keep, placed, question, recall
from chatlint.source.package import Package, Template
from chatlint.store.disk import Store
from chatlint.verdict import TargetReport, TemplateReport

Result = Mapping[str, JSON]
"""What was found out about a template: its part of the report, with places in the template itself."""

_ONE_AT_A_TIME = Lock()
"""Renders count their work in this process, so a worker with several threads takes turns."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A template of a target. `key` names the question that it is, `result` is the answer where it is known,
    else `question` is what `answer` takes."""

    name: str
    file: str
    sha256: str
    key: str
    result: Result | None
    question: bytes


@dataclass(frozen=True, slots=True)
class Look:
    """A target that was loaded, or why it was not: `line` is its result line without the templates."""

    line: Result
    templates: tuple[Seen, ...] = ()


def look(target: str, settings: Settings) -> Look:
    """Load a target and see which questions it asks. Raises UsageError only."""
    with _ONE_AT_A_TIME:
        looked = contained(target, lambda: _look(target, settings))
    return looked if isinstance(looked, Look) else Look(_line(looked))


def answer(asked: bytes, settings: Settings) -> Result:
    """Examine the template of a pickled question."""
    with _ONE_AT_A_TIME:
        one: Question = pickle.loads(asked)
        store = Store() if settings.cache else None
        report, lasting = examine(one, store)
        if store and lasting:
            keep(store, one.key, report)
        return _result(report, one, settings)


def _look(target: str, settings: Settings) -> Look:
    package = read_target(target, settings, lambda _: None)
    store = Store() if settings.cache else None
    seen = tuple(
        _seen(one, package, settings.for_target(target, one.place.file), store) for one in package.templates
    )
    report = TargetReport(
        target, package.target.kind, package.target.revision, failures=package.failures, notes=package.notes
    )
    return Look(_line(report), seen)


def _seen(template: Template, package: Package, settings: Settings, store: Store | None) -> Seen:
    asked = question(template, package, settings)
    key = asked.key
    report = recall(store, key) if store else None
    result = _result(report, asked, settings) if report else None
    pickled = b"" if report else pickle.dumps(asked, 5)
    return Seen(template.name, template.place.file, template.sha256, key, result, pickled)


def _result(report: TemplateReport, asked: Question, settings: Settings) -> Result:
    report = placed(report, asked.template, asked.package, settings)
    return {name: value for name, value in report.to_dict().items() if name not in ("name", "file")}


def _line(report: TargetReport) -> Result:
    return {
        "target": report.target,
        "kind": report.kind,
        "revision": report.revision,
        "status": report.status,
        "failure": plain(report.failure),
        "failures": plain(report.failures),
        "notes": plain(report.notes),
    }
