"""Seams: what stands from one slot to the next, as the format writes it.

Between two values, and between two calls, there is nothing to say until the next key or name is read; and a
model that writes as its template does writes the very same text there every time. A reader that has come to
such a place waits for all of it at once, instead of looking at each piece as it comes. A seam decides
nothing: when it is whole, or something else has come, what is there is read by the reader's own rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from chatlint.parse.patterns import pieces

_AHEAD = 64
"""So many characters of the key or name behind a seam are waited for along with it."""
LONGEST = 400
"""Longest seam, in characters; a longer one is not waited for."""


class Seam:
    """The usual text from a place on: `text` and a slot behind it, or one of `over`, behind which nothing is
    waited for. `beyond` finds a character that cannot be in the slot.
    """

    __slots__ = ("_beyond", "_most", "beginnings", "over", "text")

    def __init__(self, text: str, beyond: Callable[[str, int], object], over: Iterable[str] = ()) -> None:
        text = text if len(text) <= LONGEST else ""
        self.text = text
        self._beyond = beyond
        self.over = [one for one in over if len(one) <= LONGEST]
        beginnings = {one[:size] for one in self.over for size in range(len(one))}
        if text:
            beginnings |= {text[:size] for size in range(len(text) + 1)}
        self.beginnings = frozenset(beginnings)
        """What to wait on for, but for a beginning of the slot."""
        self._most = max(map(len, beginnings), default=-1) + _AHEAD

    def begun(self, text: str, at: int) -> bool:
        """Whether the text from a place on is a beginning of the usual text, and not yet all of it."""
        if len(text) - at > self._most:
            return False
        rest = text[at:]
        if rest in self.beginnings:
            return True
        return self.text != "" and rest.startswith(self.text) and not self._beyond(rest, len(self.text))


NONE = Seam("", re.compile("").search)
"""Nothing usual, nothing to wait for."""


def exact(*patterns: str) -> str:
    """The text that patterns stand for in a row, up to the first slot."""
    text = ""
    for pattern in patterns:
        for piece in pieces(pattern):
            if not isinstance(piece, str):
                return text
            text += piece
    return text


def past_blank(text: str, at: int) -> int:
    """The place after whitespace."""
    return len(text) - len(text[at:].lstrip())
