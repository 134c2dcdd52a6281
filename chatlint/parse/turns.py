"""What can stand in a turn, compiled: the marks that end prose, and what each of them means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from chatlint.lazy import regex
from chatlint.parse.formats import Content, OutputFormat, Reasoning, ToolCalls
from chatlint.parse.markers import Marker, MarkerSet, marker
from chatlint.parse.patterns import Slot
from chatlint.parse.plans import Entry, Plan, compile_calls

_TAG = regex(r"<[^<>\s]+>|\[/?[A-Z][A-Z_/]+\]")
_WORDS = regex(r"<[^<>]*>")
_WORD_START = regex(r"<[^<>]*>|[^\s<=]+=?")


class Kind(Enum):
    """What a mark means to prose."""

    REASONING = "reasoning begins"
    REASONING_END = "reasoning ends"
    CONTENT = "content begins"
    CONTENT_END = "content ends"
    CALL = "a call, or a section of calls, begins"
    END_OF_TURN = "the model hands over"
    END_OF_MESSAGE = "a message ends"
    HEADER = "a message begins"
    STRAY = "a mark that closes nothing, or a piece of one"


class Mark(NamedTuple):
    """A mark in prose."""

    kind: Kind
    marker: Marker
    entry: Entry | None = None
    plan: Plan | None = None


class Recipient(NamedTuple):
    """How the words of a message's header name a tool."""

    word: str
    """What stands before the name."""
    pattern: re.Pattern[str]
    entry: Entry
    plan: Plan
    declared: bool
    """Whether only a declared tool counts: nothing but the name tells it from another recipient."""


class Frame(NamedTuple):
    """Messages with headers: the words between `header` and `header_end` say what the body is."""

    end: MarkerSet[None]
    starts: tuple[str, ...]
    """How a header begins; text that begins otherwise has none."""
    reasoning: tuple[frozenset[str], ...]
    content: tuple[frozenset[str], ...]
    recipient: Recipient | None

    def begins(self, text: str) -> bool:
        """Whether text begins, or may come to begin, as a header does."""
        return any(text.startswith(start) or start.startswith(text) for start in self.starts)


class Turn(NamedTuple):
    """All that the machine looks for in one format."""

    content: MarkerSet[Mark]
    """The marks that matter in content."""
    reasoning: MarkerSet[Mark]
    """The marks that matter in reasoning."""
    frame: Frame | None
    named: Plan | None = None
    """Calls that begin with the tool's bare name, right behind a header."""
    trail: str = ""
    """Whitespace that the format writes between content and the end of the turn."""
    marked: bool = False
    """Whether content begins with nothing but whitespace: then it begins, as it were, with a mark."""


def turn_of(output: OutputFormat) -> Turn:
    """The compiled format."""
    global _latest
    latest = _latest
    if latest is None or latest[0] is not output:
        latest = _latest = output, _compiled(output)
    return latest[1]


_latest: tuple[OutputFormat, Turn] | None = None
"""One format is asked for many times, and to find it by what it is takes as long as a short parse."""


def _compiled(output: OutputFormat) -> Turn:
    return _compile(
        output.header, output.header_end, output.reasoning, output.content, output.tool_calls,
        output.end_of_turn, output.end_of_message,
    )  # fmt: skip


@lru_cache(maxsize=256)
def _compile(
    header: str,
    header_end: str,
    reasoning: Reasoning | None,
    content: Content,
    calls: ToolCalls | None,
    end_of_turn: tuple[str, ...],
    end_of_message: tuple[str, ...],
) -> Turn:
    output = OutputFormat(
        header=header, header_end=header_end, reasoning=reasoning, content=content, tool_calls=calls,
        end_of_turn=end_of_turn, end_of_message=end_of_message,
    )  # fmt: skip
    plan = compile_calls(calls, output) if calls else None
    marks = list(_marks(output, plan))
    in_reasoning = {Kind.REASONING, Kind.REASONING_END, Kind.END_OF_TURN, Kind.END_OF_MESSAGE, Kind.HEADER}
    return Turn(
        MarkerSet((mark.marker, mark) for mark in marks),
        MarkerSet(
            (mark.marker, mark)
            for mark in sorted(marks, key=lambda mark: mark.kind is not Kind.REASONING_END)
            if mark.kind in in_reasoning
            or (mark.kind is Kind.CONTENT and mark.marker.strong)
            or (mark.entry and not mark.entry.weak)
        ),
        _frame(output, plan) if header_end else None,
        plan if plan and _begins_with_name(output, plan) else None,
        next((part.end for part in output.content.every if part.end.isspace()), ""),
        any(part.start and not part.start.strip() for part in output.content.every),
    )


def _begins_with_name(output: OutputFormat, plan: Plan) -> bool:
    """Whether a call is a message that names the tool first: only the header tells where it begins."""
    second = plan.steps[1] if len(plan.steps) > 1 else None
    section = output.tool_calls.section_start if output.tool_calls else ""
    named = plan.steps[0] is Slot.NAME and isinstance(second, Marker) and second.strong
    return named and not section and _strong(output.header)


def _marks(output: OutputFormat, plan: Plan | None) -> Iterator[Mark]:
    """Every mark of a format, in the order in which meanings win."""
    reasoning = output.reasoning.every if output.reasoning else ()
    starts = [part.start for part in reasoning]
    yield from _all(Kind.REASONING, starts)
    yield from _all(Kind.CONTENT, [part.start for part in output.content.every if part.start not in starts])
    for mark, entry in plan.entries.entries if plan else ():
        if not (output.header_end and not mark.strong):
            yield Mark(Kind.CALL, mark, entry, plan)
    yield from _all(Kind.END_OF_TURN, output.end_of_turn)
    yield from _all(Kind.END_OF_MESSAGE, output.end_of_message)
    yield from _all(Kind.HEADER, [output.header] if _strong(output.header) else [])
    yield from _all(Kind.REASONING_END, [text for part in reasoning for text in _closers(part.end, output)])
    yield from _all(Kind.CONTENT_END, [part.end for part in output.content.every])
    yield from _all(Kind.STRAY, dict.fromkeys(_strays(output)))


def _closers(end: str, output: OutputFormat) -> tuple[str, ...]:
    """What closes reasoning: also with a header behind it that prose could hold, so that it counts nowhere
    else."""
    weak = output.header.strip() and not _strong(output.header)
    return (end, f"{end}{output.header}") if weak and end.strip() else (end,)


def _all(
    kind: Kind, patterns: Iterator[str] | list[str] | tuple[str, ...] | dict[str, None]
) -> Iterator[Mark]:
    for pattern in patterns:
        mark = marker(pattern)
        if mark:
            yield Mark(kind, mark)


def _strong(pattern: str) -> bool:
    mark = marker(pattern)
    return mark is not None and mark.strong


def _strays(output: OutputFormat) -> Iterator[str]:
    """Closers, and every tag of openers and closers: a model may write one too many."""
    calls = output.tool_calls
    parts = [*(output.reasoning.every if output.reasoning else ()), *output.content.every]
    openers, closers = [part.start for part in parts], [part.end for part in parts]
    if calls:
        openers += [calls.section_start, calls.call_start]
        closers += [calls.call_end, calls.section_end]
    for pattern in closers:
        mark = marker(pattern)
        for unit in mark.units() if mark else ():
            if unit.strong and not any(isinstance(atom, Slot) for atom in unit.atoms):
                yield unit.text
    for pattern in (*openers, *closers):
        yield from (tag for tag in _TAG.findall(pattern) if len(tag) > 3 and "⟨" not in tag)


def words_of(header: str) -> frozenset[str]:
    """The words of a message's header, without its tags."""
    return frozenset(_WORDS.sub(" ", header).split())


def _frame(output: OutputFormat, plan: Plan | None) -> Frame:
    """How headers are read."""
    end = output.header_end
    parts = (*(output.reasoning.every if output.reasoning else ()), *output.content.every)
    openers = [part.start for part in parts] + (
        [output.tool_calls.call_start, output.tool_calls.section_start] if output.tool_calls else []
    )
    recipient = _recipient(output, plan) if plan else None
    openers += [recipient.word] if recipient else []
    starts = {match[0] for opener in openers if (match := _WORD_START.search(opener))}
    mark = marker(end)
    return Frame(
        MarkerSet([(mark, None)] if mark else []),
        tuple(sorted(starts | {end.strip()})),
        tuple(
            words_of(p.start.partition(end)[0])
            for p in (output.reasoning.every if output.reasoning else ())
            if end in p.start
        ),
        tuple(words_of(p.start.partition(end)[0]) for p in output.content.every if end in p.start),
        recipient,
    )


def _recipient(output: OutputFormat, plan: Plan) -> Recipient | None:
    """How a header names the tool: the word before ⟨name⟩."""
    first = plan.steps[0]
    ends = [
        i
        for i, step in enumerate(plan.steps)
        if isinstance(step, Marker) and step.text.strip().endswith(output.header_end)
    ]
    if not isinstance(first, Marker) or not ends or plan.steps[1:2] != (Slot.NAME,):
        return None
    word = re.split(r"[\s>]", first.text.strip())[-1]
    pattern = re.compile(rf"(?:\A|(?<=[\s>])){re.escape(word)}([^\s<>]+)")
    return Recipient(word, pattern, Entry(ends[0] + 1), plan, word.endswith(("=", ":")) or not word)
