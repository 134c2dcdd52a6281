"""The matrix of `survey.html`, every template against every question, and the evidence its cells lead to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from chatlint.records import dataclass, field
from chatlint.report.answers import GROUPS
from chatlint.report.markup import html_text
from chatlint.survey.rows import SEVERITIES, Answer, Fault, Row
from chatlint.survey.tally import Holders, Tally

MOST = 3000
"""Templates in the matrix; a page with more could not be opened."""
_KINDS = {"yes": "y", "partial": "p", "no": "x", "raises": "r", "unknown": "u"}
_SIGNS = {"y": "✓", "p": "◐", "x": "·", "r": "!", "u": "?"}
_SEVERITY = {"error": "e", "warning": "w", "info": "i"}
_CASES = 3
_FIRST = 5
"""The first column after name, errors, warnings and calls, counted from 1."""


@dataclass(slots=True)
class Matrix:
    """Which questions there are, in groups, and which rules, by category; and the evidence met so far: equal
    answers of templates share one entry."""

    groups: Mapping[str, tuple[str, ...]]
    rules: Mapping[str, tuple[str, ...]]
    evidence: dict[tuple[str, Answer], int] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    @property
    def questions(self) -> tuple[str, ...]:
        """The capabilities, as their columns stand."""
        return tuple(chain.from_iterable(self.groups.values()))

    @property
    def columns(self) -> tuple[range, range]:
        """Which columns are capabilities and which are findings, counted from 1 as style sheets do."""
        first = _FIRST + len(self.questions)
        return range(_FIRST, first), range(first, first + sum(map(len, self.rules.values())))

    def head(self) -> str:
        """The rows of column heads: groups, then what sorts."""
        over = "".join(
            f'<th colspan={len(names)} class="gap {part}" title="{html_text(label)}">{html_text(label)}</th>'
            for part, groups in (("asked", self.groups), ("found", self.rules))
            for label, names in groups.items()
        )
        first = "<th aria-sort=ascending><span>template</span></th>"
        counts = "".join(f"<th><span>{severity}s</span></th>" for severity in SEVERITIES[:2])
        names = [name.replace("_", " ") for name in self.questions]
        heads = [
            f"<th{gap and ' class=gap'}><span>{html_text(name)}</span></th>"
            for name, gap in zip(
                (*names, *chain.from_iterable(self.rules.values())), self._gaps(), strict=True
            )
        ]
        return (
            f"<tr class=over><th><th colspan={_FIRST - 2}>{over}</tr>"
            f"<tr>{first}{counts}<th><span>calls</span></th>{''.join(heads)}</tr>"
        )

    def row(self, anchor: str, holders: Holders, row: Row) -> str:
        """One template."""
        name = html_text(_short(holders.names[0]), 80)
        more = f" +{holders.count - 1}" if holders.count > 1 else ""
        counts = [sum(fault.severity == severity for fault in row.faults) for severity in SEVERITIES[:2]]
        kind = row.marks.call_kind
        rules = tuple(chain.from_iterable(self.rules.values()))
        cells = [*self._answers(row), *_findings(rules, row.faults, anchor)]
        written = [
            f'<td class="{kind}{gap}">{link}' if kind or gap else f"<td>{link}"
            for (kind, link), gap in zip(cells, self._gaps(), strict=True)
        ]
        return (
            f'<tr><td><a href="#{anchor}">{name}{more}</a>'
            + "".join(f"<td class=n>{count or ''}" for count in counts)
            + f"<td class=k>{'' if kind == 'NONE' else html_text(_spoken(kind))}{''.join(written)}\n"
        )

    def _gaps(self) -> Iterator[str]:
        """For each column whether it begins a group."""
        for group in (*self.groups.values(), *self.rules.values()):
            yield from (" gap" if index == 0 else "" for index, _ in enumerate(group))

    def _answers(self, row: Row) -> Iterator[tuple[str, str]]:
        """Class and content of each cell."""
        for name in self.questions:
            answer = row.answers.get(name)
            if answer is None:
                yield "", ""
                continue
            entry = self.evidence.setdefault((name, answer), len(self.evidence))
            self.counts[entry] = self.counts.get(entry, 0) + 1
            kind = _KINDS.get(answer.support, "u")
            yield kind, f"<a href=#q{entry}>{_SIGNS[kind]}</a>"

    def cases(self) -> Iterator[str]:
        """What the answers rest on, question by question, the most common answer first."""
        by_name: dict[str, list[tuple[int, int, Answer]]] = {}
        for (name, answer), entry in self.evidence.items():
            by_name.setdefault(name, []).append((-self.counts[entry], entry, answer))
        for name in self.questions:
            entries = sorted(by_name.get(name, ()), key=lambda one: one[:2])
            listed = "".join(_entry(entry, answer, -count) for count, entry, answer in entries)
            yield f"<div><h3>{html_text(name.replace('_', ' '))}</h3><ul>{listed}</ul></div>\n"


def _short(name: str) -> str:
    """A path by its end, which tells it from its neighbours; another name as it is."""
    return "/".join(name.rstrip("/").split("/")[-2:]) if name.startswith(("/", ".", "~")) else name


def matrix_of(tally: Tally, categories: Mapping[str, str]) -> Matrix:
    """An empty matrix with the questions that were asked and the rules that found something. `categories`
    are of rules by name."""
    groups = {
        label: tuple(name for name in names if name in tally.answers) for label, names in GROUPS.items()
    }
    known = set(chain.from_iterable(groups.values()))
    groups["more"] = tuple(name for name in tally.answers if name not in known)
    rules: dict[str, tuple[str, ...]] = {}
    for rule in sorted(tally.faults, key=lambda rule: (tally.faults[rule].code, rule)):
        label = categories.get(rule, "other").replace("_", " ")
        rules[label] = (*rules.get(label, ()), rule)
    return Matrix({label: names for label, names in groups.items() if names}, rules)


def article(anchor: str, holders: Holders, row: Row) -> str:
    """What was found in one template."""
    more = f" and {holders.count - len(holders.names)} more" if holders.count > len(holders.names) else ""
    names = ", ".join(html_text(name, 120) for name in holders.names[1:])
    known = f"also {names}{more}" if names else ""
    facts = [f"sha256 {row.sha256[:12]}", f"{row.bytes} bytes", known, *_facts(row)]
    found = "".join(_finding(anchor, number, fault) for number, fault in enumerate(row.faults))
    return (
        f'<article id="{anchor}"><h3>{html_text(holders.names[0], 160)}</h3>'
        f'<p class="facts">{"; ".join(fact for fact in facts if fact)}</p><ol>{found}</ol></article>\n'
    )


def _facts(row: Row) -> Iterator[str]:
    marks = row.marks
    if not row.evaluated:
        yield "gave no answer" if row.compiles else "does not compile"
    if marks.call:
        yield f"calls <code>{html_text(marks.call, 160)}</code>"
    if marks.reasoning:
        yield f"reasoning <code>{html_text(marks.reasoning, 80)}</code>"
    if row.passed + row.failed:
        yield f"{row.passed} of {row.passed + row.failed} messages come back"
    if row.unasked:
        yield f"{len(row.unasked)} rules not evaluated"


def _findings(rules: Sequence[str], faults: Iterable[Fault], anchor: str) -> Iterator[tuple[str, str]]:
    """Class and content of each rule's cell: the worst finding, or nothing."""
    worst: dict[str, tuple[int, int]] = {}
    for number, fault in enumerate(faults):
        rank = SEVERITIES.index(fault.severity) if fault.severity in SEVERITIES else len(SEVERITIES) - 1
        worst[fault.rule] = min(worst.get(fault.rule, (rank, number)), (rank, number))
    for rule in rules:
        rank, number = worst.get(rule, (-1, 0))
        found = rank >= 0
        yield (_SEVERITY[SEVERITIES[rank]], f"<a href=#{anchor}-{number}>●</a>") if found else ("", "")


def _finding(anchor: str, number: int, fault: Fault) -> str:
    severity = fault.severity if fault.severity in SEVERITIES else "info"
    line = f" line {fault.line}" if fault.line else ""
    said = f" {html_text(fault.message, 300)}" if fault.message else ""
    return (
        f'<li id="{anchor}-{number}"><span class="chip {severity}">{severity}</span> '
        f"<b>{html_text(fault.rule)}</b>{line}{said} {_shown(fault.cases)}</li>"
    )


def _entry(entry: int, answer: Answer, count: int) -> str:
    kind = _KINDS.get(answer.support, "u")
    said = f"{answer.support}: {answer.note}" if answer.note else answer.support
    return (
        f"<li id=q{entry}><i class={kind}>{_SIGNS[kind]}</i>{html_text(said, 220)} "
        f'{_shown(answer.cases)} <small class="more">{count}</small></li>'
    )


def _shown(cases: Sequence[str]) -> str:
    shown = " ".join(f"<code>{html_text(case, 120)}</code>" for case in cases[:_CASES])
    more = len(cases) - _CASES
    return f"{shown} <small class=more>and {more} more</small>" if more > 0 else shown


def _spoken(kind: str) -> str:
    return kind.replace("_", " ").lower().replace("tag with ", "").replace(" native", "").replace(" call", "")


def anchors_of(tally: Tally) -> Mapping[str, str]:
    """A short name for each template, in the order of their names; of one target as it has them."""
    order = sorted(tally.templates, key=lambda key: tally.templates[key].names)
    return {key: f"t{number}" for number, key in enumerate(order, 1)}
