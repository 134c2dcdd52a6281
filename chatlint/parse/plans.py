"""A format's calls, compiled: the steps of one call, where a call can be entered, what closes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

from chatlint.lazy import regex
from chatlint.parse.formats import OutputFormat, Syntax, ToolCalls
from chatlint.parse.layouts import Layout, Layouts
from chatlint.parse.markers import NAME_RUN, Found, Marker, MarkerSet, beyond_name, in_name, marker
from chatlint.parse.patterns import ARGUMENTS, COUNTER, NAME, Skeleton, Slot, pieces, skeleton, slots
from chatlint.parse.seams import NONE, Seam, exact, past_blank
from chatlint.records import dataclass, field

Step: TypeAlias = Marker | Slot
_REAL = (Slot.NAME, Slot.ID, Slot.ARGUMENTS)


@dataclass(frozen=True, slots=True)
class Entry:
    """A place where reading a call can begin: after a mark, with `step`."""

    step: int
    weak: bool = False
    """Whether prose may hold such a mark: the call then needs a declared name."""
    passed: bool = True
    """Whether the mark is used up; else it is the call's own first character."""


@dataclass(frozen=True, slots=True)
class Link:
    """How one call usually follows another: all marks in between, as the format writes them."""

    text: str
    closed: int
    """So many characters of it close the call before."""
    entered: int
    """So many are passed where the next one is entered."""
    entry: Entry


@dataclass(slots=True)
class Plan:
    """How to read the calls of one format."""

    steps: tuple[Step, ...]
    """A call from its start: marks, and the slots between them. An object literal is the slot ⟨arguments⟩."""
    skeleton: Skeleton | None
    """Where things are inside an object literal; None if the body is text."""
    entries: MarkerSet[Entry]
    """Where a call can begin: its opener, the opener from a later unit on, the section mark alone."""
    closers: MarkerSet[bool]
    """What may close a call; True if it closes the section."""
    separator: MarkerSet[bool]
    layout: Layout | None
    """How arguments are laid out; None for one object literal."""
    identity: re.Pattern[str] | None
    """What an id looks like that is made of the name."""
    id_pattern: str
    guess: bool
    """Whether the format itself is a guess."""
    loose: bool
    """Whether it is so much of one that any tag may stand around a call."""
    between: Seam
    """From the end of a call to the next one's first slot."""
    opening: Seam
    """From the mark behind the name to the first key."""
    head: re.Pattern[str] | None
    """Matches an object literal from its brace to the end of its name, where the name comes first."""
    bridge: Seam
    """In an object literal, from the name to the first character of the arguments."""
    naming: tuple[int, re.Pattern[str], int] | None = None
    """The step of a name right before the arguments, what matches it and the mark behind it as they usually
    stand, and the step after."""
    link: Link | None = None
    """Where the next call is entered behind `between`; None if that is not certain."""
    ways_on: dict[int, MarkerSet[int]] = field(default_factory=dict)
    """Step → the marks that may stand there, with the step after each: its own, and the one before the
    arguments (an id may be missing)."""


def plan_of(output: OutputFormat) -> Plan | None:
    """The plan for a format's calls, None if it has none."""
    return compile_calls(output.tool_calls, output) if output.tool_calls else None


def compile_calls(calls: ToolCalls, output: OutputFormat, *, loose: bool = False) -> Plan:
    """The plan for calls inside a format: its ends of turn never close a call."""
    over = {mark.text.strip() for mark in _marks(*output.end_of_turn, *output.end_of_message)}
    closers = [(mark, False) for mark in _units(calls.call_end) if mark.text.strip() not in over]
    closers += [(mark, True) for mark in _units(calls.section_end) if mark.text.strip() not in over]
    steps = _steps(calls, output.header_end)
    entries = list(_entries(calls, steps))
    follows = [mark for mark, _ in (*closers, *entries)]
    follows += _marks(
        *output.end_of_turn, *output.end_of_message, output.header, calls.section_end, calls.call_end
    )
    text = calls.syntax is Syntax.TEXT
    plan = Plan(
        steps=steps,
        skeleton=None if text else skeleton(calls.body),
        entries=MarkerSet(entries),
        closers=MarkerSet(closers),
        separator=MarkerSet([(mark, True) for mark in _marks(calls.separator)]),
        layout=_layouts(calls, follows).top(calls.members) if text and calls.members else None,
        identity=_identity(calls.id) if NAME in calls.id else None,
        id_pattern=calls.id,
        guess=calls.guess,
        loose=loose,
        between=Seam(_usual(calls), beyond_name),
        opening=_opening(calls),
        head=None if text else _head(calls.body),
        bridge=NONE if text else _bridge(calls.body),
        ways_on={i: _ways_on(steps, i) for i, step in enumerate(steps) if isinstance(step, Marker)},
    )
    plan.link = _link(plan, _usual(calls))
    plan.naming = _usual_naming(plan)
    return plan


def _usual_naming(plan: Plan) -> tuple[int, re.Pattern[str], int] | None:
    """See `Plan.naming`; only where nothing else can tell the tool, and no mark can stand inside its name."""
    steps = plan.steps
    if plan.skeleton or plan.id_pattern or steps[-3:-2] != (Slot.NAME,) or steps[-1] is not Slot.ARGUMENTS:
        return None
    mark = steps[-2]
    if not isinstance(mark, Marker) or not mark.alone or in_name(mark.first):
        return None
    return len(steps) - 3, regex(f"({NAME_RUN}){re.escape(mark.first)}"), len(steps) - 1


def _layouts(calls: ToolCalls, follows: list[Marker]) -> Layouts:
    return Layouts(calls.values, follows, calls.call_end or calls.section_end)


def _usual(calls: ToolCalls) -> str:
    """What stands from the end of a call to the next one's first slot."""
    return exact(calls.call_end, calls.separator, calls.call_start, calls.body)


def _link(plan: Plan, text: str) -> Link | None:
    """Reads what usually stands between two calls with the marks that may."""
    closed = _past(plan.closers, False, text, 0)
    begins = _past(plan.separator, True, text, closed)
    at = past_blank(text, begins)
    if plan.skeleton and text[at : at + 1] == "{":
        bare = plan.loose or begins == closed
        return Link(text[: at + 1], closed, at, Entry(len(plan.steps) - 1, bare))
    found = plan.entries.match(text, at)
    if not isinstance(found, Found) or not found.what.passed:
        return None
    return Link(text[: found.end], closed, found.end, found.what)


def _past(marks: MarkerSet[bool], what: bool, text: str, at: int) -> int:
    """The place behind all marks of one meaning that stand in a row."""
    while isinstance(found := marks.match(text, past_blank(text, at)), Found) and found.what is what:
        at = found.end
    return at


def _opening(calls: ToolCalls) -> Seam:
    """Only where the name is right before the arguments: no other slot is passed on the way."""
    _, _, behind = calls.body.partition(NAME)
    before, found, _ = behind.partition(ARGUMENTS)
    if calls.members is None or not found or slots(before):
        return NONE
    trail = before[len(before.rstrip()) :]
    return Seam(exact(trail, calls.members.start, calls.members.member), beyond_name)


def _head(body: str) -> re.Pattern[str] | None:
    """See `Plan.head`."""
    before, found, _ = body.partition(NAME)
    if not found or not re.fullmatch(r'\{"[^"\\⟨]+": "', before):
        return None
    return regex(re.escape(before) + r'([^"\\]{1,256})"')


def _bridge(body: str) -> Seam:
    """Only where the arguments are what follows the name."""
    before, found, _ = body.partition(NAME)[2].partition(ARGUMENTS)
    if not found or slots(before):
        return NONE
    text = exact(before).removeprefix('"')
    return Seam("", beyond_name, [text if text.endswith('"') else text + "{"])


def _marks(*patterns: str) -> list[Marker]:
    return [mark for mark in map(marker, patterns) if mark]


def _units(pattern: str) -> list[Marker]:
    """A closer, from each of its units on, and its first unit alone."""
    mark = marker(pattern)
    if mark is None:
        return []
    units = list(mark.units())
    alone = [_trimmed(whole.atoms[: len(whole.atoms) - len(rest.atoms)]) for whole, rest in pairwise(units)]
    return units + [Marker(atoms, " ".join(a for a in atoms if isinstance(a, str))) for atoms in alone]


def _steps(calls: ToolCalls, header_end: str) -> tuple[Step, ...]:
    """The steps of one call. Where messages have headers, a mark is cut after `header_end`."""
    whole = calls.call_start + (calls.body if calls.syntax is Syntax.TEXT else Slot.ARGUMENTS.placeholder)
    steps: list[Step] = []
    text = ""
    for piece in pieces(whole):
        if isinstance(piece, Slot) and piece in _REAL:
            steps += [*_cut(text, header_end), piece]
            text = ""
        else:
            text += piece.placeholder if isinstance(piece, Slot) else piece.replace("⟨", "⟨⟨⟩")
    return tuple(steps)


def _cut(text: str, header_end: str) -> list[Marker]:
    head, found, rest = text.partition(header_end) if header_end else (text, "", "")
    return _marks(head + found, rest)


def _entries(calls: ToolCalls, steps: tuple[Step, ...]) -> Iterator[tuple[Marker, Entry]]:
    """Where a call can begin, the most telling first."""
    opener = _opener(calls)
    section = marker(calls.section_start)
    lead = 1 if isinstance(steps[0], Marker) else 0
    whole = _openers(calls.section_start + opener)
    for i, mark in enumerate(whole):
        if i == 0 or mark.strong:
            yield mark, Entry(lead, not mark.strong)
    if section and section.strong and lead:
        yield section, Entry(0)
    for i, step in enumerate(steps[: _naming(steps)]):
        if i and isinstance(step, Marker):
            for mark in step.units():
                if mark.strong:
                    yield mark, Entry(i + 1)
    if calls.syntax is not Syntax.TEXT and not (whole and whole[0].strong):
        for begin in _marks('{ "', "{ '", "[ {"):
            yield begin, Entry(len(steps) - 1, weak=True, passed=False)


def _naming(steps: tuple[Step, ...]) -> int:
    """The last step that says which tool is called, behind which no call can begin: the name, else the id
    that carries it; 0 if an object literal does."""
    telling = Slot.NAME if Slot.NAME in steps else Slot.ID
    return max((i for i, step in enumerate(steps) if step is telling), default=0)


def _opener(calls: ToolCalls) -> str:
    """What stands before the first slot of a call."""
    opener = ""
    for piece in pieces(calls.call_start + (calls.body if calls.syntax is Syntax.TEXT else "")):
        if isinstance(piece, Slot) and piece is not Slot.COUNTER:
            break
        opener += COUNTER if isinstance(piece, Slot) else piece.replace("⟨", "⟨⟨⟩")
    return opener


def _openers(pattern: str) -> list[Marker]:
    """An opener, and its rests from later units on; each also without the bracket of a list at its end."""
    mark = marker(pattern)
    if mark is None:
        return []
    units = list(mark.units())
    bare = [unit for unit in units if unit.strong and unit.atoms[-1] == "["]
    return units + [Marker(_trimmed(unit.atoms[:-1]), unit.first) for unit in bare]


def _trimmed(atoms: tuple[str | Slot | None, ...]) -> tuple[str | Slot | None, ...]:
    while atoms and atoms[-1] is None:
        atoms = atoms[:-1]
    return atoms


def _ways_on(steps: tuple[Step, ...], i: int) -> MarkerSet[int]:
    """The mark at a step, and the last one before the arguments."""
    marks = [(step, j + 1) for j, step in enumerate(steps) if j >= i and isinstance(step, Marker)]
    own, last = marks[0], marks[-1]
    skips_id = Slot.ID in steps[i : last[1]] and Slot.NAME not in steps[i : last[1]]
    return MarkerSet([own, last] if skips_id else [own])


def _identity(pattern: str) -> re.Pattern[str]:
    """An id's pattern as a regular expression with the name as its group."""
    parts = {Slot.NAME: r"(.+?)", Slot.COUNTER: r"\d+"}
    text = "".join(parts.get(p, "") if isinstance(p, Slot) else re.escape(p) for p in pieces(pattern))
    return re.compile(text)
