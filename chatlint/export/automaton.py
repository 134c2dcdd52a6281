"""Text up to the first of several marks, as an automaton: what a grammar of characters needs to say it.

The states are the beginnings of marks (Aho and Corasick, 1975): in a state stands the longest end of the text
read so far that may become a mark.
"""

from __future__ import annotations

from collections.abc import Sequence

from chatlint.errors import UsageError
from chatlint.limits import SCAN_MARK_CHARACTERS
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class State:
    """Where each character leads from here: to a state by number, or to the mark it completes. Any other
    character leads to the first state."""

    moves: tuple[tuple[str, int], ...]
    completes: tuple[tuple[str, str], ...]
    """Character and the mark that ends with it."""


def states_of(marks: Sequence[str]) -> list[State]:
    """The automaton for marks, none of them empty. A mark that begins with a whole other one is never
    reached.

    Raises UsageError for marks that no model writes.
    """
    if sum(map(len, marks)) > SCAN_MARK_CHARACTERS:
        raise UsageError("the format's marks are too long for a grammar", hint="look at the template")
    children = _tree(marks)
    whole = set(marks)
    tables: list[_Table] = [{}]
    begins, behind = [""], [0]
    for number, begin in enumerate(begins):
        table = dict(tables[behind[number]])
        for char in children[begin]:
            text = begin + char
            after = tables[behind[number]].get(char, 0) if begin else 0
            if text in whole:
                table[char] = text
            elif isinstance(after, int):
                table[char] = len(begins)
                begins.append(text)
                behind.append(after)
                tables.append({})
        tables[number] = table
    return [_state(table) for table in tables]


_Table = dict[str, int | str]
"""Where each character leads: to a state, or to the mark it completes."""


def _tree(marks: Sequence[str]) -> dict[str, list[str]]:
    """What follows each beginning of a mark."""
    children: dict[str, dict[str, None]] = {"": {}}
    for mark in marks:
        for at, char in enumerate(mark):
            children.setdefault(mark[:at], {})[char] = None
    return {begin: list(found) for begin, found in children.items()}


def _state(table: _Table) -> State:
    ways = sorted(table.items())
    return State(
        tuple((char, to) for char, to in ways if isinstance(to, int)),
        tuple((char, to) for char, to in ways if isinstance(to, str)),
    )
