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
    begins = list(dict.fromkeys(mark[:size] for mark in marks for size in range(len(mark))))
    known = [begin for begin in begins if not any(mark in begin for mark in marks)]
    number = {begin: index for index, begin in enumerate(known)}
    letters = sorted({char for mark in marks for char in mark})
    return [_state(begin, letters, marks, number) for begin in known]


def _state(begin: str, letters: Sequence[str], marks: Sequence[str], number: dict[str, int]) -> State:
    moves: list[tuple[str, int]] = []
    completes: list[tuple[str, str]] = []
    for char in letters:
        text = begin + char
        done = [mark for mark in marks if text.endswith(mark)]
        if done:
            completes.append((char, max(done, key=len)))
            continue
        longest = next(text[at:] for at in range(len(text) + 1) if text[at:] in number)
        if longest:
            moves.append((char, number[longest]))
    return State(tuple(moves), tuple(completes))
