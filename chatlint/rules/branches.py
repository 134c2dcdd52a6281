"""Which branch of a template some conversations take and others do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.whereabouts import whereabouts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chatlint.probe.case import Observation
    from chatlint.rules.cause import Sight
    from chatlint.rules.subject import Subject

_NEWLINE = regex(r"\r\n|\r|\n")
_TAG = regex(r"\{%[-+]?\s*(\w+)")


def printed_or_branch(subject: Subject, sight: Sight, others: Iterable[Observation]) -> tuple[int, int]:
    """Where what is at a sight is printed, if the others do not run that line; else the first line that they
    do not run. (0, 0) for none."""
    lines = _only_run_by(subject, [sight.observation], others)
    place = whereabouts(subject, sight)
    return place if place[0] in lines else (min(lines, default=0), 0)


def branch_of(subject: Subject, shown: Sight, pattern: str, others: Iterable[Observation]) -> tuple[int, int]:
    """The `if` or `elif` that is true where a value is written, and not for the others: between the first
    line that reads the member that `pattern` names and the one that writes it. (0, 0) where none is seen."""
    only = _only_run_by(subject, [shown.observation], others)
    begin, end = min(subject.syntax.reads_of(pattern), default=0), whereabouts(subject, shown)[0]
    first = min((line for line in only if begin <= line <= end), default=0) if begin else 0
    lines = _NEWLINE.split(subject.template.text)
    for number in range(first - 1, 0, -1):
        tags = list(_TAG.finditer(lines[number - 1]))
        if tags:
            return (number, tags[-1].start() + 1) if tags[-1][1] in ("if", "elif") else (0, 0)
    return 0, 0


def _only_run_by(subject: Subject, some: Iterable[Observation], others: Iterable[Observation]) -> set[int]:
    there = {line for one in others for line in subject.trace.rendered(one.case).lines}
    return {line for one in some for line in subject.trace.rendered(one.case).lines - there}
