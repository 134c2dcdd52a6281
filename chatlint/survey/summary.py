"""What a survey shows, in sentences that can be quoted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from chatlint.config import Profile, Settings
from chatlint.survey.tally import Group, Tally, largest
from chatlint.survey.words import counted, percent


class Mark(str):
    """A piece of a sentence that is quoted as it is."""

    __slots__ = ()


Sentence: TypeAlias = tuple[str, ...]
"""Words, and marks of templates among them."""


def selected(settings: Settings) -> Iterator[Sentence]:
    """Which rules were asked and how severe they were, where that is not all of them as they are."""
    only, without = settings.select, settings.ignore
    if only or without or settings.per_target_ignores:
        yield (
            "Rules: ",
            *(("only ", *_marks(only)) if only else ("all",)),
            *((" without ", *_marks(without)) if without else ()),
            *_elsewhere(settings.per_target_ignores),
            ".",
        )
    if settings.profile is not Profile.SERVING:
        yield "Severities are those of the profile ", Mark(settings.profile.value), "."
    if settings.severities:
        given = (f"{rule} = {severity}" for rule, severity in settings.severities.items())
        yield "Severities of their own: ", *_marks(given), "."


def _elsewhere(ignores: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """What is ignored for some targets."""
    for glob, rules in ignores.items():
        yield from ("; ", Mark(glob), " without ", *_marks(rules))


def _marks(names: Iterable[str]) -> Iterator[str]:
    for index, name in enumerate(names):
        yield from (", ", Mark(name)) if index else (Mark(name),)


def sentences(tally: Tally, settings: Settings | None = None) -> Iterator[Sentence]:
    """The survey in short."""
    count = len(tally.templates)
    failed = tally.failures.total()
    lost = f" {failed} could not be judged." if failed else ""
    hold = "holds" if tally.targets == 1 else "hold"
    yield (f"{counted(tally.targets, 'target')} {hold} {counted(count, 'different template')}.{lost}",)
    if tally.evaluated < count:
        yield (_evaluated(tally, count),)
    if tally.evaluated:
        yield from _calls(tally, "Of the templates" if tally.evaluated == count else "Of these")
        yield from _results(tally)
        yield from _reasoning(tally)
        yield from _round_trips(tally)
    if count:
        yield from selected(settings) if settings else ()
        yield from _findings(tally, count)


def _evaluated(tally: Tally, count: int) -> str:
    """How many could be evaluated, and why not all."""
    silent = count - tally.uncompiled - tally.evaluated
    reasons = (
        f"{tally.uncompiled:,} {'does' if tally.uncompiled == 1 else 'do'} not compile"
        if tally.uncompiled
        else "",
        f"{silent:,} gave no answer" if silent else "",
    )
    known = f"{tally.evaluated:,}" if tally.evaluated else "None"
    return f"{known} of them could be evaluated: {', '.join(filter(None, reasons))}."


def rest(tally: Tally, groups: Mapping[str, Group], shown: int) -> str:
    """The templates that are missing from a table of marks with so many rows; "" where none is."""
    more = largest(groups)[shown:]
    without = groups[""].templates if "" in groups else 0
    unknown = len(tally.templates) - tally.evaluated
    said = (
        f"And {len(more):,} more, in {counted(sum(group.templates for _, group in more), 'template')}."
        if more
        else "",
        f"None was found in {counted(without, 'template')}." if without else "",
        f"{counted(unknown, 'template')} could not be evaluated." if unknown else "",
    )
    return " ".join(filter(None, said))


def having(tally: Tally, name: str) -> int:
    """How many templates have a capability, at least in part."""
    counts = tally.supports(name)
    return counts["yes"] + counts["partial"]


def share(tally: Tally, name: str) -> str:
    """The share that has a capability, of those of which that is known."""
    return percent(having(tally, name), tally.asked(name))


def _calls(tally: Tally, whose: str) -> Iterator[Sentence]:
    calls, parallel = having(tally, "tool_calls"), having(tally, "parallel_tool_calls")
    several = f"; of those {percent(parallel, calls)} can show several calls in one turn" if calls else ""
    yield (
        f"{whose} {share(tally, 'tools')} show the model the tools it has, "
        f"{share(tally, 'tool_calls')} the calls it made{several}.",
    )
    ways = largest(tally.calls)
    if ways:
        mark, group = ways[0]
        part = percent(group.templates, sum(one.templates for _, one in ways))
        several = f"in {len(ways)} ways. The most common, in {part} of these templates, is "
        yield f"Calls are written {several if len(ways) > 1 else 'in one way: '}", Mark(mark), "."


def _results(tally: Tally) -> Iterator[Sentence]:
    shown = tally.turns.total() - tally.turns[""]
    if shown:
        own, user = percent(tally.turns["own"], shown), percent(tally.turns["user"], shown)
        yield (
            f"Where a tool's result is shown, it has a turn of its own in {own} of the templates, "
            f"and stands in a user's turn in {user}.",
        )


def _reasoning(tally: Tally) -> Iterator[Sentence]:
    marks = largest(tally.reasoning)
    if marks:
        part = percent(sum(group.templates for _, group in marks), tally.evaluated)
        yield (
            f"Reasoning is set apart by {part}, with {counted(len(marks), 'pair')} of marks; "
            f"in {percent(tally.opens['open'], tally.evaluated)} the generation prompt leaves it open.",
        )


def _round_trips(tally: Tally) -> Iterator[Sentence]:
    known = tally.trips.total()
    if known:
        whole = percent(tally.trips["whole"], known)
        passed = percent(tally.messages["passed"], tally.messages.total())
        were = "was" if known == 1 else "were"
        yield (
            f"{counted(known, 'output format')} {were} learned. Every probe message comes back in {whole} "
            f"of them; of all messages {passed} come back whole.",
        )


def _findings(tally: Tally, count: int) -> Iterator[Sentence]:
    errors = tally.worst["error"]
    judged = count - tally.worst["unknown"]
    if not judged:
        yield ("No rule could judge any of them.",)
        return
    either = percent(errors + tally.worst["warning"], judged)
    whose = (
        "Of the templates" if judged == count else f"Of the {counted(judged, 'template')} that rules judged"
    )
    yield (f"{whose} {percent(errors, judged)} have an error, {either} an error or a warning.",)
    found = [(fault.severities["error"], rule) for rule, fault in tally.faults.items()]
    worst = sorted((one for one in found if one[0]), key=lambda one: (-one[0], one[1]))[:3]
    if worst:
        yield ("The most frequent errors: ", *_listed(worst), ".")


def _listed(counted: list[tuple[int, str]]) -> Iterator[str]:
    for index, (count, name) in enumerate(counted):
        yield ", " if index else ""
        yield Mark(name)
        yield f" ({count})"
