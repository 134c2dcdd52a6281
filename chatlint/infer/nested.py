"""Arrays and objects that are written with marks of their own instead of as one literal.

Theory of operation. The literals between the leaves of such a value are known from its spans. From them are
subtracted the marks of strings and numbers, which are known by then; what is left at the edges and between
two leaves is start, end and separator of the notation, and what opens and closes an item or a member, found
as everywhere: common endings open, common beginnings close.
"""

from __future__ import annotations

from collections.abc import Sequence

from chatlint.infer.bodies import to_pattern
from chatlint.infer.markers import between, common_prefix, common_suffix
from chatlint.infer.members import Argument
from chatlint.infer.turns import SAME_KEY, Part, Slot, Turn
from chatlint.parse import patterns
from chatlint.parse.notation import Items, Members, Written


def _leaves(turn: Turn, argument: Argument) -> list[Slot]:
    """The slots one level below an argument, keys and values, in order."""
    call = argument.key.call
    inside = [
        slot
        for slot in turn.of_call(call)
        if slot.part is Part.VALUE and slot.path[:1] == argument.key.path and len(slot.path) == 2
    ]
    return [slot for slot in inside if slot.start >= argument.key.end]


def learn_items(
    turn: Turn, argument: Argument, text: str, around: tuple[str, str], string: Written
) -> Items | None:
    """The notation of an array of two strings. `text` runs from the key to the member's end, `around` is what
    stands there before and after every value."""
    leaves = _leaves(turn, argument)
    if len(leaves) != 2:
        return None
    first, inner, last = _gaps(turn, argument.key.end, leaves, text)
    first = first.removeprefix(around[0]).removesuffix(string.start)
    inner = inner.removeprefix(string.end).removesuffix(string.start)
    last = last.removeprefix(string.end).removesuffix(around[1])
    opener, closer = common_suffix([first, inner]), common_prefix([inner, last])
    closer, separator, opener = between(inner, closer, opener, opener)
    start, end = first[: len(first) - len(opener)], last[len(closer) :]
    item = to_pattern(opener) + patterns.VALUE + to_pattern(closer)
    return Items(item, to_pattern(separator), to_pattern(start), to_pattern(end))


def learn_object(
    turn: Turn, argument: Argument, text: str, around: tuple[str, str], string: Written, number: Written
) -> Members | None:
    """The notation of an object of a string and a number."""
    leaves = _leaves(turn, argument)
    if [slot.key for slot in leaves] != [True, False, True, False]:
        return None
    key, value, other, count = leaves
    first, inner, last = _gaps(
        turn, argument.key.end, [Slot(key.start, value.end, Part.VALUE), _joint(other, count)], text
    )
    first = first.removeprefix(around[0])
    inner = inner.removeprefix(string.end)
    last = last.removeprefix(number.end).removesuffix(around[1])
    middle = turn.literal(key.end, value.start).removesuffix(string.start)
    opener, closer = common_suffix([first, inner]), common_prefix([inner, last])
    closer, separator, opener = between(inner, closer, opener, opener + SAME_KEY + middle)
    start, end = first[: len(first) - len(opener)], last[len(closer) :]
    member = to_pattern(opener) + patterns.KEY + to_pattern(middle) + patterns.VALUE + to_pattern(closer)
    return Members(member, to_pattern(separator), to_pattern(start), to_pattern(end))


def _joint(one: Slot, other: Slot) -> Slot:
    return Slot(one.start, other.end, Part.VALUE)


def _gaps(turn: Turn, start: int, leaves: Sequence[Slot], text: str) -> tuple[str, str, str]:
    """What stands before the first of two leaves, between them and behind the second."""
    one, other = leaves
    return (
        turn.literal(start, one.start),
        turn.literal(one.end, other.start),
        text[len(turn.literal(start, other.end)) :],
    )
