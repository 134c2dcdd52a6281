"""`survey.md`: a survey's tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from chatlint import __version__
from chatlint.config import Settings
from chatlint.report.answers import GROUPS
from chatlint.report.markup import md_cell, md_code, md_text
from chatlint.survey.folder import SIGN
from chatlint.survey.rows import SEVERITIES, SUPPORTS
from chatlint.survey.summary import Mark, Sentence, rest, selected, sentences, share
from chatlint.survey.tally import Group, Tally, largest
from chatlint.survey.words import percent

_GROUPS = 40
"""Rows of a table of marks."""
_LONGEST = 140


def markdown(tally: Tally, title: str, settings: Settings, summaries: dict[str, str]) -> str:
    """The whole page. `summaries` says in a line what each rule is about."""
    return "\n".join(_page(tally, title, settings, summaries)) + "\n"


def _page(tally: Tally, title: str, settings: Settings, summaries: dict[str, str]) -> Iterator[str]:
    yield f"# {md_text(title)}\n"
    yield f"chatlint {__version__}, host {md_text(settings.host)}. {SIGN} Each"
    yield "template is in [survey.html](survey.html), all numbers are in [metrics.json](metrics.json).\n"
    yield from (f"- {_sentence(sentence)}" for sentence in sentences(tally, settings))
    yield from _faults(tally, settings, summaries)
    yield from _capabilities(tally)
    yield from _families(tally)
    yield from _marks("How calls are written", "call", tally.calls, tally)
    yield from _marks("How reasoning is set apart", "marks", tally.reasoning, tally)
    yield from _results(tally)
    yield from _failures(tally)


def _sentence(sentence: Sentence) -> str:
    return "".join(md_code(piece) if isinstance(piece, Mark) else md_text(piece) for piece in sentence)


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> Iterator[str]:
    rows = list(rows)
    if not rows:
        return
    yield f"\n## {title}\n"
    if note:
        yield f"{note}\n"
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _faults(tally: Tally, settings: Settings, summaries: dict[str, str]) -> Iterator[str]:
    rows = [
        (
            md_text(rule),
            md_text(fault.code),
            str(fault.templates),
            str(tally.judged(rule)),
            percent(fault.templates, tally.judged(rule)),
            *(str(fault.severities[severity] or "") for severity in SEVERITIES),
            summaries.get(rule, "").replace("|", "\\|"),  # our own words: with code spans
        )
        for rule, fault in tally.most_frequent()
    ]
    note = " ".join(_sentence(sentence) for sentence in selected(settings))
    yield from _table(
        "Most frequent faults", ("rule", "code", "templates", "of", "share", *SEVERITIES, ""), rows, note
    )


def _capabilities(tally: Tally) -> Iterator[str]:
    broken = (str(tally.uncompiled),) if tally.uncompiled else ()
    known = [name for names in GROUPS.values() for name in names]
    order = [name for name in known if name in tally.answers]
    order += [name for name in tally.answers if name not in order]
    rows = [
        (
            md_text(name.replace("_", " ")),
            share(tally, name),
            *(str(count or "") for count in tally.supports(name).values()),
            *broken,
        )
        for name in order
    ]
    head = ("capability", "share", *SUPPORTS, *(("does not compile",) if broken else ()))
    note = (
        "Shares are of the templates of which it is known." if tally.evaluated < len(tally.templates) else ""
    )
    yield from _table("What templates can express", head, rows, note)


def _families(tally: Tally) -> Iterator[str]:
    rows = [
        (
            md_cell(mark, _LONGEST),
            str(group.templates),
            str(group.errors or ""),
            _few(group.calls),
            _few(group.turns),
            _few(group.reasoning),
        )
        for mark, group in largest(tally.frames, _GROUPS)
    ]
    head = ("assistant's turn", "templates", "with errors", "calls", "results in turn", "reasoning")
    yield from _table("Families", head, rows)
    yield from _rest(tally, tally.frames)


def _few(counts: dict[str, int]) -> str:
    found = sorted(
        ((mark, count) for mark, count in counts.items() if mark), key=lambda one: (-one[1], one[0])
    )
    shown = [f"{md_cell(mark, _LONGEST)} ({count})" for mark, count in found[:3]]
    more = len(found) - len(shown)
    return "<br>".join(shown) + (f"<br>and {more} more" if more > 0 else "")


def _marks(title: str, what: str, groups: dict[str, Group], tally: Tally) -> Iterator[str]:
    rows = [
        (
            md_cell(mark, 2 * _LONGEST),
            str(group.templates),
            _kinds(group) if what == "call" else _few(group.calls),
        )
        for mark, group in largest(groups, _GROUPS)
    ]
    yield from _table(title, (what, "templates", "kind" if what == "call" else "calls"), rows)
    yield from _rest(tally, groups)


def _kinds(group: Group) -> str:
    return ", ".join(md_text(kind) for kind, _ in group.kinds.most_common(2))


def _results(tally: Tally) -> Iterator[str]:
    rows = [
        (md_cell(mark, _LONGEST), str(group.templates), _few(group.turns), _few(group.calls))
        for mark, group in largest(tally.results, _GROUPS)
    ]
    yield from _table("How tool results are shown", ("result", "templates", "in whose turn", "calls"), rows)
    yield from _rest(tally, tally.results)


def _rest(tally: Tally, groups: dict[str, Group]) -> Iterator[str]:
    said = rest(tally, groups, _GROUPS)
    if said and largest(groups, 1):
        yield f"\n{said}"


def _failures(tally: Tally) -> Iterator[str]:
    found = sorted(tally.failures.items(), key=lambda item: (-item[1], item[0]))
    rows = [
        (md_text(status), str(count), md_cell(reason, 200)) for (status, reason), count in found[:_GROUPS]
    ]
    yield from _table("Targets that were not judged", ("status", "targets", "why"), rows)
    if len(found) > _GROUPS:
        yield f"\nAnd {len(found) - _GROUPS} other reasons."
