"""What a template may use up: steps, time and sizes, counted while it runs in this process.

Every loop iteration and macro call is a step, and so is every `CHARACTERS_A_STEP` characters, or
`ITEMS_A_STEP` list elements, that one operation goes through. What would be too large is refused before it
is made. All of this is deterministic; `RENDER_SECONDS` of CPU time stand behind it for what is not counted
(a comparison of two large values in a loop, say), and a worker process behind that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from time import process_time
from typing import TypeVar

from chatlint.limits import (
    NESTING,
    RENDER_INTEGER_BITS,
    RENDER_OUTPUT_CHARACTERS,
    RENDER_SECONDS,
    RENDER_TICKS,
    RENDER_VALUES,
)

CHARACTERS_A_STEP = 1024
ITEMS_A_STEP = 16
LAZY_ITEMS_A_STEP = 4
SEARCH_STEPS = 1_000_000_000
_LOOK_AT_THE_CLOCK = 8

Item = TypeVar("Item")


class BoundError(Exception):
    """A bound of `chatlint.limits` was hit. The message says which."""


class _Meter:
    __slots__ = ("deadline", "left", "look")

    def __init__(self) -> None:
        self.left = self.look = RENDER_TICKS
        self.deadline = 0.0


_meter = _Meter()


def start() -> None:
    """Begin to count for one render."""
    _meter.left = RENDER_TICKS
    _meter.look = RENDER_TICKS - _LOOK_AT_THE_CLOCK
    _meter.deadline = process_time() + RENDER_SECONDS


def used() -> int:
    """The steps of this render so far."""
    return RENDER_TICKS - _meter.left


def tick() -> None:
    """One loop iteration or macro call."""
    _meter.left -= 1
    if _meter.left < _meter.look:
        _check()


def charge(steps: int) -> None:
    """Work worth that many iterations."""
    _meter.left -= steps
    if _meter.left < _meter.look:
        _check()


def _check() -> None:
    if _meter.left < 0:
        raise BoundError(f"more than {RENDER_TICKS:,} loop iterations and macro calls, or as much other work")
    _meter.look = _meter.left - _LOOK_AT_THE_CLOCK
    if process_time() > _meter.deadline:
        raise BoundError(f"more than {RENDER_SECONDS:g} seconds of CPU time")


def sized(characters: int) -> None:
    """Refuse to make a string of that many characters if it is too long; else count the work."""
    if characters > CHARACTERS_A_STEP:
        if characters > RENDER_OUTPUT_CHARACTERS:
            raise BoundError(f"a string of more than {RENDER_OUTPUT_CHARACTERS:,} characters")
        charge(characters // CHARACTERS_A_STEP)


def items(count: int) -> None:
    """The same for a list or another container of that many elements."""
    if count > ITEMS_A_STEP:
        if count > RENDER_VALUES:
            raise BoundError(f"a container of more than {RENDER_VALUES:,} elements")
        charge(count // ITEMS_A_STEP)


def parts(count: int) -> None:
    """Count the work of an operation that looks at that many places of a string one by one."""
    items(count)
    charge(count // LAZY_ITEMS_A_STEP)


def pieces(count: int) -> None:
    """Count the work of keeping a string of that many runs."""
    if count > RENDER_VALUES:
        raise BoundError(f"a string put together from more than {RENDER_VALUES:,} pieces")
    charge(count // CHARACTERS_A_STEP)


def occurrences(text: str, part: object) -> int:
    """How often `part` is found in `text`; 0 where it is no string, which the operation itself refuses."""
    return str.count(text, part) if isinstance(part, str) else 0


def length(text: object) -> int:
    """Of a string; 0 for anything else."""
    return len(text) if isinstance(text, str) else 0


def search(text: str, *parts: object) -> None:
    """Refuse to look in `text` for a part (or for each of its characters) where that may take the product of
    their lengths: searches from the right and `strip` do."""
    for part in parts:
        if isinstance(part, str) and len(text) * len(part) > SEARCH_STEPS:
            raise BoundError(f"a search for {len(part):,} characters in {len(text):,}")


def width(value: object) -> None:
    """Refuse a field width, an indentation or a count that alone makes a string too long."""
    if isinstance(value, int) and value > RENDER_OUTPUT_CHARACTERS:
        raise BoundError(f"a string of more than {RENDER_OUTPUT_CHARACTERS:,} characters")


def widths(specification: str) -> None:
    """The same for every number that is spelled in a format string or specification."""
    digits = 0
    for character in specification:
        digits = digits + 1 if character.isdecimal() else 0
        if digits > 7:
            raise BoundError(f"a string of more than {RENDER_OUTPUT_CHARACTERS:,} characters")


def product(left: object, right: object) -> None:
    """Refuse `left * right` where it makes a string, a list or an integer too large."""
    if isinstance(left, int):
        left, right = right, left
    if not isinstance(right, int):
        return
    if isinstance(left, int):
        bits(left.bit_length() + right.bit_length())
    elif isinstance(left, (str, bytes)):
        sized(len(left) * max(right, 0))
    elif isinstance(left, Sized):
        items(len(left) * max(right, 0))


def raised(base: object, exponent: object) -> None:
    """Refuse `base ** exponent` where it makes an integer too large."""
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        bits(base.bit_length() * max(exponent, 0))


def bits(count: int) -> None:
    """Refuse an integer of that many bits if it is too large."""
    if count > RENDER_INTEGER_BITS:
        raise BoundError(f"an integer of more than {RENDER_INTEGER_BITS:,} bits")


def weigh(value: object) -> tuple[int, int]:
    """Refuse a container that is nested too deep, or holds too many values or characters (each counted as
    often as it is reached): what compares, prints or sorts it goes through all of them in one operation.
    Returns how many values there are and how deep."""
    level = [value]
    depth = seen = characters = 0
    while level:
        depth += 1
        if depth > NESTING:
            raise BoundError(f"a container nested more than {NESTING} deep")
        following: list[object] = []
        for container in level:
            kind = type(container)
            if kind is dict:
                members = container.values()  # type: ignore[attr-defined]
            elif kind is list or kind is tuple:
                members = container
            else:
                continue
            seen += len(members)
            for member in members:
                if isinstance(member, str):
                    characters += len(member)
                elif type(member) in _CONTAINERS:
                    following.append(member)
            if seen > RENDER_VALUES or len(following) > RENDER_VALUES:
                raise BoundError(f"a container of more than {RENDER_VALUES:,} values")
        level = following
    items(seen)
    sized(characters)
    return seen, depth


_CONTAINERS = frozenset((list, tuple, dict))


def light(value: Item) -> Item:
    """`value`, weighed if it is a container."""
    if isinstance(value, (list, tuple, dict)):
        weigh(value)
    return value


def counted(iterator: Iterator[Item]) -> Iterator[Item]:
    """The same items, each counted as a step's part."""
    for number, item in enumerate(iterator):
        if not number % LAZY_ITEMS_A_STEP:
            charge(1)
        yield item
