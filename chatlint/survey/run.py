"""Run a survey: every target has one result line in the end, every template is judged once.

Theory of operation. Targets are looked at in their order, as many at a time as keep the crew busy. A look
names the *keys* of a target's templates. A key without a known result is asked for once; targets that have it
wait for the answer. When the last key of a target is known its line is written: with the result where it is
the first line to have it, else with the key alone. So what is in memory is what is being worked on, and the
names and keys that are done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from chatlint import __version__
from chatlint.config import FailOn, Settings
from chatlint.conversation import JSON
from chatlint.records import dataclass, field, replace
from chatlint.results import code_digest
from chatlint.store.digest import value_digest
from chatlint.survey.crew import Crew, Died, Task
from chatlint.survey.facts import facts_only
from chatlint.survey.record import Record
from chatlint.survey.targets import Named
from chatlint.survey.work import Look, Result, Seen, answer, look

Step = Callable[[str, bool], None]
"""Told the name of each target that is done, and whether it was before."""


@dataclass(slots=True)
class _Waiting:
    """A target that was looked at, and the keys whose results it still waits for."""

    line: Result
    templates: tuple[Seen, ...]
    keys: set[str]


@dataclass(slots=True)
class _Run:
    record: Record
    settings: Settings
    crew: Crew
    texts: bool
    step: Step
    results: dict[str, Result] = field(default_factory=dict)
    """Results that no line holds yet."""
    failed: dict[str, Died] = field(default_factory=dict)
    """Keys whose answer never came."""
    waiting: dict[str, list[_Waiting]] = field(default_factory=dict)
    """Targets by the keys that were asked for."""

    def everything(self, targets: Iterable[Named]) -> None:
        """Every target that has no line yet."""
        for named in targets:
            if named.name in self.record.done:
                self.step(named.name, True)
                continue
            while self.crew.full:
                self._take()
            self.crew.start(Task(named=named), look, named.target, self.settings)
        while not self.crew.idle:
            self._take()

    def _take(self) -> None:
        for task, outcome in self.crew.finished():
            if task.named is not None:
                self._looked(task.named, outcome)
            else:
                self._answered(task.key, outcome)

    def _looked(self, named: Named, outcome: object) -> None:
        if isinstance(outcome, Died):
            self._write(_died({"target": named.name, "kind": None, "revision": None}, outcome), ())
            return
        assert isinstance(outcome, Look)
        line = {**outcome.line, "target": named.name}
        target = _Waiting(line, outcome.templates, set())
        for template in outcome.templates:
            self._want(template, target)
        if not target.keys:
            self._finish(target)

    def _want(self, template: Seen, target: _Waiting) -> None:
        """Note that a target needs the result of a template; ask for it if nobody did."""
        key = template.key
        if key in self.record.known or key in self.results or key in self.failed:
            return
        if template.result is not None:
            self.results[key] = template.result
            return
        target.keys.add(key)
        if key not in self.waiting:
            self.crew.start(Task(key=key), answer, template.question, self.settings)
        self.waiting.setdefault(key, []).append(target)

    def _answered(self, key: str, outcome: object) -> None:
        if isinstance(outcome, Died):
            self.failed[key] = outcome
        else:
            assert isinstance(outcome, Mapping)
            self.results[key] = outcome
        for target in self.waiting.pop(key):
            target.keys.discard(key)
            if not target.keys:
                self._finish(target)

    def _finish(self, target: _Waiting) -> None:
        lost = next((self.failed[seen.key] for seen in target.templates if seen.key in self.failed), None)
        line = _died(target.line, lost) if lost else target.line
        self._write(line, () if lost else target.templates)

    def _write(self, line: Result, templates: Iterable[Seen]) -> None:
        self.record.add({**line, "templates": [self._template(template) for template in templates]})
        self.step(str(line["target"]), False)

    def _template(self, seen: Seen) -> JSON:
        result = None if seen.key in self.record.known else self.results.pop(seen.key, None)
        if result is not None and not self.texts:
            result = facts_only(result)
        file = seen.file if self.texts else seen.file.rpartition("/")[2]
        return {"name": seen.name, "file": file, "sha256": seen.sha256, "key": seen.key, "result": result}


def _died(line: Result, died: Died) -> Result:
    failure: JSON = {"stage": "internal", "message": died.reason, "hint": died.hint}
    return {**line, "status": "failed", "failure": failure, "failures": [], "notes": []}


def run_survey(
    targets: Iterable[Named],
    directory: Path,
    settings: Settings,
    crew: Crew,
    *,
    texts: bool = True,
    step: Step = lambda _, __: None,
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Judge every target and write `results.jsonl` in `directory`; gives its path.

    A run that was killed goes on where it was, if the settings and chatlint are the same. Without `texts` the
    results hold facts only, and nothing that a template or prompt says beyond its marks. `step` is told the
    name of each target that is done, `say` what becomes of unfinished results of other settings. Ends the
    crew.

    Raises UsageError for settings that mean nothing, for a directory that cannot be written, and where a file
    that would be replaced there is not a survey's.
    """
    head = _head(settings, texts)
    try:
        with Record(directory, head, say) as record:
            _Run(record, settings, crew, texts, step).everything(targets)
            record.complete({"targets": len(record.done), "templates": len(record.known)})
            return record.path
    finally:
        crew.close()


def _head(settings: Settings, texts: bool) -> dict[str, JSON]:
    """What two runs must have in common to be one survey."""
    judged = replace(
        settings,
        fail_on=FailOn.ERROR,
        cache=True,
        config=None,
        baseline=None,
        probes=None,
        expect=None,
        expected=None,
    )
    return {
        "version": __version__,
        "host": settings.host,
        "texts": texts,
        "by": value_digest([code_digest(), judged]),
    }
