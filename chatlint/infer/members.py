"""Arguments that have a place each: the marks around a key, a value and between two of them.

Theory of operation. With n the call's head, k a key, v a value: the literals n→k and v→k end with what
opens a member; v→k and v→(end of the call) begin with what closes one; what is left between is the
separator. The values compared here are plain strings; `values.py` then finds how other types differ from
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from chatlint.infer.bodies import Body, to_pattern
from chatlint.infer.markers import between, common_prefix, common_suffix
from chatlint.infer.turns import SAME_KEY, Part, Slot, Turn
from chatlint.parse import patterns
from chatlint.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call in a turn: its key's slot, and where its value's own inputs begin and end
    (None if the value shows no input)."""

    key: Slot
    start: int | None
    end: int | None

    @property
    def name(self) -> str:
        return self.key.path[0]


@dataclass(frozen=True, slots=True)
class MemberMarks:
    """The literals of a member with a string value (placeholders inside): before the key, between key and
    value, after the value, and between two members."""

    open: str
    middle: str
    close: str
    separator: str


def arguments_of(turn: Turn, call: int) -> tuple[Argument, ...]:
    """The arguments of a keyed call, in the order of the turn."""
    slots = turn.of_call(call)
    found = []
    for key in slots:
        if key.part is Part.KEY:
            own = [slot for slot in slots if slot.part is Part.VALUE and slot.path[:1] == key.path]
            own = [slot for slot in own if slot.start >= key.end]
            found.append(
                Argument(
                    key, min((s.start for s in own), default=None), max((s.end for s in own), default=None)
                )
            )
    return tuple(found)


@dataclass(slots=True)
class _Literals:
    """The literals around keys and values of several calls."""

    head: list[str]
    middle: list[str]
    between: list[str]
    last: list[str]


def learn_members(calls: Iterable[tuple[Turn, Sequence[Body]]]) -> MemberMarks | None:
    """The marks of members from calls whose values are all plain strings; None if they do not agree."""
    found = _Literals([], [], [], [])
    for turn, bodies in calls:
        for index in range(len(bodies)):
            _collect(found, turn, index, _ceiling(turn, bodies, index))
    if not found.head or not found.middle or len(set(found.middle)) > 1:
        return None
    opener = common_suffix([*found.head, *found.between])
    closer = common_prefix([*found.between, *found.last])
    if not found.between:
        return MemberMarks(opener, found.middle[0], closer, "")
    whole = opener + SAME_KEY + found.middle[0]
    closer, separator, opener = between(found.between[0], closer, opener, whole)
    return MemberMarks(opener, found.middle[0], closer, separator)


def _ceiling(turn: Turn, bodies: Sequence[Body], index: int) -> int:
    return bodies[index + 1].start if index + 1 < len(bodies) else _next_part(turn, bodies[index].end)


def _next_part(turn: Turn, end: int) -> int:
    """Where the next slot after the last call begins (content behind calls), else the turn's end."""
    return min((slot.start for slot in turn.slots if slot.start >= end), default=len(turn.text))


def _collect(found: _Literals, turn: Turn, call: int, ceiling: int) -> None:
    arguments = arguments_of(turn, call)
    if any(argument.start is None for argument in arguments) or not arguments:
        return
    heads = [slot.end for slot in turn.slots if slot.end <= arguments[0].key.start]
    found.head.append(turn.literal(max(heads, default=0), arguments[0].key.start))
    for position, argument in enumerate(arguments):
        assert argument.start is not None
        assert argument.end is not None
        found.middle.append(turn.literal(argument.key.end, argument.start))
        if position + 1 < len(arguments):
            found.between.append(turn.literal(argument.end, arguments[position + 1].key.start))
        else:
            found.last.append(turn.literal(argument.end, ceiling))


def with_members(turn: Turn, bodies: Sequence[Body], marks: MemberMarks) -> tuple[Body, ...]:
    """The bodies with their extents and patterns, now that the marks of members are known."""
    return tuple(_settled(turn, index, body, marks) for index, body in enumerate(bodies))


def _settled(turn: Turn, index: int, body: Body, marks: MemberMarks) -> Body:
    if not body.keyed:
        return body
    arguments = arguments_of(turn, index)
    if not arguments:
        return body
    first = arguments[0].key
    start = first.start - _width(turn, first.start, marks.open)
    last = arguments[-1].end if arguments[-1].end is not None else arguments[-1].key.end
    end = last + _width(turn, last, marks.close, forward=True)
    pattern, at = "", body.start
    for slot in turn.of_call(index):
        if slot.end <= start and slot.part in (Part.NAME, Part.ID):
            pattern += to_pattern(turn.literal(at, slot.start)) + _SLOT[slot.part]
            at = slot.end
    pattern += to_pattern(turn.literal(at, start)) + patterns.ARGUMENTS
    return replace(body, end=end, pattern=pattern)


_SLOT: Mapping[Part, str] = {Part.NAME: patterns.NAME, Part.ID: patterns.ID}


def _width(turn: Turn, at: int, mark: str, *, forward: bool = False) -> int:
    """How many characters of the turn a mark takes beside `at` (a placeholder stands for one or more)."""
    for width in _widths(len(mark), len(turn.text)):
        piece = turn.literal(at, at + width) if forward else turn.literal(at - width, at)
        if piece == mark:
            return width
    return 0


def _widths(least: int, most: int) -> Iterator[int]:
    return iter(range(least, min(least + 200, most) + 1))
