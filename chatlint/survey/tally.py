"""What a survey adds up to, in one pass over its results and in bounded memory."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from chatlint.conversation import JSON
from chatlint.records import dataclass, field
from chatlint.survey.record import Line, keyed, read_lines, result_at
from chatlint.survey.rows import SUPPORTS, Row, row_of, text
from chatlint.survey.work import Result

_NAMES = 4
"""Names of targets that are kept for each template, the first of the alphabet."""


@dataclass(slots=True)
class Holders:
    """The targets that have a template: how many, and the first names; and where its result stands."""

    offset: int = -1
    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        """One more."""
        self.count += 1
        self.names = heapq.nsmallest(_NAMES, [*self.names, name])


@dataclass(slots=True)
class Group:
    """Templates that have something in common: how many, and what else they have."""

    templates: int = 0
    errors: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    turns: Counter[str] = field(default_factory=Counter)
    reasoning: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    shown: list[tuple[str, str]] = field(default_factory=list)
    """The first templates, by sha256: a key changes with chatlint."""

    def add(self, row: Row) -> None:
        """One more template."""
        self.templates += 1
        self.errors += row.worst == "error"
        self.calls[row.marks.call] += 1
        self.turns[row.marks.turn] += 1
        self.reasoning[row.marks.reasoning] += 1
        self.kinds[row.marks.call_kind] += 1
        self.shown = _first(self.shown, row)


def _first(shown: list[tuple[str, str]], row: Row) -> list[tuple[str, str]]:
    return heapq.nsmallest(_NAMES, [*shown, (row.sha256, row.key)])


Groups = defaultdict[str, Group]


def _groups() -> Groups:
    return defaultdict(Group)


@dataclass(slots=True)
class Fault:
    """A rule's findings: templates by the worst severity it has in each, and a few that show it."""

    code: str = ""
    severities: Counter[str] = field(default_factory=Counter)
    shown: list[tuple[str, str]] = field(default_factory=list)
    """The first templates, by sha256: a key changes with chatlint."""

    @property
    def templates(self) -> int:
        """How many templates have it."""
        return self.severities.total()


@dataclass(slots=True)
class Tally:
    """All counts. Where nothing else is said they are of different templates, not of targets."""

    targets: int = 0
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Targets that were not judged, by status and reason."""
    templates: dict[str, Holders] = field(default_factory=dict)
    """By key."""
    uncompiled: int = 0
    evaluated: int = 0
    """Templates of which anything is known; what stands below of marks, turns and reasoning is of these."""
    answers: dict[str, Counter[str]] = field(default_factory=dict)
    """Capability → support → templates, but for those that do not compile."""
    faults: dict[str, Fault] = field(default_factory=dict)
    unasked: Counter[str] = field(default_factory=Counter)
    """Rule → templates in which it could not be evaluated and found nothing."""
    worst: Counter[str] = field(default_factory=Counter)
    """Severity of the worst finding → templates; "unknown" where nothing was found and nothing evaluated."""
    frames: Groups = field(default_factory=_groups)
    calls: Groups = field(default_factory=_groups)
    reasoning: Groups = field(default_factory=_groups)
    results: Groups = field(default_factory=_groups)
    turns: Counter[str] = field(default_factory=Counter)
    opens: Counter[str] = field(default_factory=Counter)
    trips: Counter[str] = field(default_factory=Counter)
    """Templates whose format gave every message back, or not: "whole", "part"."""
    messages: Counter[str] = field(default_factory=Counter)
    """Probe messages that came back, or not: "passed", "failed"."""
    refusing: int = 0

    def line(self, line: Line) -> None:
        """One target."""
        self.targets += 1
        name = text(line, "target")
        if text(line, "status") != "checked":
            self.failures[text(line, "status"), text(line, "failure", "message")] += 1
        for key, _ in keyed(line):
            self.templates.setdefault(key, Holders()).add(name)

    def result(self, key: str, offset: int, result: Result | None) -> None:
        """What was found out about the template with a key, and in which line it stands; counted once."""
        holders = self.templates[key]
        if holders.offset < 0 and result is not None:
            holders.offset = offset
            self._row(row_of(key, result))

    def _row(self, row: Row) -> None:
        self.uncompiled += not row.compiles
        self.evaluated += row.evaluated
        for name, answer in row.answers.items():
            self.answers.setdefault(name, Counter())[answer.support] += 1
        self.worst[row.worst if row.evaluated or row.faults else "unknown"] += 1
        self._faults(row)
        self.unasked.update(set(row.unasked) - {fault.rule for fault in row.faults})
        self.refusing += row.refusals > 0
        if row.evaluated:
            self._written(row)

    def _written(self, row: Row) -> None:
        """How its model writes."""
        marks = row.marks
        for groups, mark in (
            (self.frames, marks.frame),
            (self.calls, marks.call),
            (self.reasoning, marks.reasoning),
            (self.results, marks.result if marks.turn else ""),
        ):
            groups[mark].add(row)
        self.turns[marks.turn] += 1
        self.opens[marks.opens] += 1
        if row.passed + row.failed:
            self.trips["part" if row.failed else "whole"] += 1
        self.messages.update(passed=row.passed, failed=row.failed)

    def _faults(self, row: Row) -> None:
        worst: dict[str, str] = {}
        for fault in row.faults:
            self.faults.setdefault(fault.rule, Fault(fault.code))
            order = ("error", "warning", "info")
            known = worst.get(fault.rule, "info")
            worst[fault.rule] = min(known, fault.severity, key=order.index)
        for rule, severity in worst.items():
            self.faults[rule].severities[severity] += 1
            self.faults[rule].shown = _first(self.faults[rule].shown, row)

    def supports(self, name: str) -> dict[str, int]:
        """How many templates answer to a capability in each way; with those that do not compile it is all."""
        known = self.answers.get(name, Counter())
        counts = {support: known[support] for support in SUPPORTS[:-1]}
        unknown = len(self.templates) - self.uncompiled - sum(counts.values())
        return {**counts, SUPPORTS[-1]: unknown}

    def asked(self, name: str) -> int:
        """Of how many templates it is known whether they have a capability."""
        return sum(list(self.supports(name).values())[:-1])

    def judged(self, rule: str) -> int:
        """In how many templates a rule could be evaluated, or found something."""
        return len(self.templates) - self.unasked[rule]

    def metrics(self) -> dict[str, JSON]:
        """As in `metrics.json`."""
        unknown = Counter(unknown=len(self.templates) - self.evaluated)
        return {
            "targets": self.targets,
            "targets_not_judged": self.failures.total(),
            "templates": len(self.templates),
            "templates_that_do_not_compile": self.uncompiled,
            "templates_evaluated": self.evaluated,
            "capabilities": {
                name: {**self.supports(name), "does_not_compile": self.uncompiled} for name in self.answers
            },
            "worst_finding": {name or "none": count for name, count in _most(self.worst)},
            "rules": {
                rule: {
                    "code": fault.code,
                    "templates": fault.templates,
                    "of": self.judged(rule),
                    **dict(_most(fault.severities)),
                }
                for rule, fault in self.most_frequent()
            },
            "frames": _sizes(self.frames),
            "calls": _sizes(self.calls),
            "reasoning": _sizes(self.reasoning),
            "tool_results": _sizes(self.results),
            "tool_result_turns": {name or "not shown": count for name, count in _most(self.turns + unknown)},
            "generation_prompt_leaves_reasoning": dict(_most(self.opens + unknown)),
            "round_trips": {"templates": dict(_most(self.trips)), "messages": dict(_most(self.messages))},
            "templates_that_refuse_something": self.refusing,
        }

    def most_frequent(self) -> list[tuple[str, Fault]]:
        """Rules by how many templates they found something in."""
        return sorted(self.faults.items(), key=lambda item: (-item[1].templates, item[0]))


def tally_of(path: Path, names: Iterable[str] | None = None) -> Tally:
    """The counts of the results in a file; with `names`, of these targets only."""
    tally = Tally()
    wanted = None if names is None else set(names)
    seen: set[str] = set()
    elsewhere: dict[str, int] = {}
    with open(path, "rb") as file:
        for offset, line in read_lines(path):
            name = text(line, "target")
            if wanted is not None and name not in wanted:
                elsewhere |= {key: offset for key, result in keyed(line) if result is not None}
            elif name not in seen:
                seen.add(name)
                tally.line(line)
                for key, result in keyed(line):
                    place = elsewhere.get(key, offset) if result is None else offset
                    if result is None and key in elsewhere:
                        result = result_at(file, place, key)
                    tally.result(key, place, result)
    return tally


def largest(groups: Mapping[str, Group], most: int | None = None) -> list[tuple[str, Group]]:
    """Groups with a mark by size, the largest first."""
    found = sorted(groups.items(), key=lambda item: (-item[1].templates, item[0]))
    return [(mark, group) for mark, group in found if mark][:most]


def _sizes(groups: Mapping[str, Group]) -> dict[str, JSON]:
    return {mark: group.templates for mark, group in largest(groups)}


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
