"""What short chunks have amounted to, so that it is not worked out again.

A model's chunks are tokens, few and ever the same, and where nothing in a chunk matters, what it amounts to
depends on little: on who reads (the `way`) and on what waits. So an automaton grows from what comes. Its
states are `Known`, one for each way and what waits there; its steps are chunks. What a short way
(`stream.py`) has worked out it notes with `Stream.settle`; from then on a look-up in `OutputParser.feed` is
all there is to such a chunk. A chunk in which something matters, so that readers are woken, is never noted.

Numbers wait for their ends, and hardly any comes again. What a chunk does to one is yet the same for all of a
kind, so these have one state between them: one that *varies*.

One memory serves all parsers. It is bounded, and full it is emptied: a text that never says a thing twice
gains nothing, and costs little more.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from chatlint.parse.events import ContentDelta, ReasoningDelta

CHUNK = 24
"""Longest chunk that is noted, in characters."""
_WAITS = 64
"""The most that may wait in a state that is kept."""
_MOST = 1 << 15
"""How many chunks and states are noted, in all."""


class Known(dict[str, "Step"]):
    """The chunks known in one state. `way`: who reads, and where. `varies`: whether what waits here is not
    always the same text, but one of a kind that no chunk tells from another, like a number on its way."""

    __slots__ = ("states", "varies", "way")

    def __init__(self, way: Hashable, states: dict[str, Known], varies: bool) -> None:
        super().__init__()
        self.way = way
        self.states = states
        """What waits → the state of this way."""
        self.varies = varies


Step: TypeAlias = tuple[ContentDelta | ReasoningDelta | None, str | None, str, Known]
"""What a chunk amounts to: prose, or a piece of a call's arguments; then what waits, and the next state.
In a state that varies the piece is None: all is said but what of the chunk waits; nothing, if that is "" and
the next state varies too."""

NOTHING = Known(None, {}, False)
"""The state in which no chunk is known, nor comes to be."""
PLAIN: Step = (None, "", "", NOTHING)
"""The step of every chunk that is a piece of the arguments as it stands, and after which all is as before."""


class Memory:
    """All that is known."""

    __slots__ = ("_ways", "left")

    def __init__(self) -> None:
        self._ways: dict[Hashable, dict[str, Known]] = {}
        self.left = _MOST
        """So many more are noted before all is forgotten."""

    def at(self, way: Hashable, waits: str, varies: bool = False) -> Known:
        """The state in which so much waits, or a text of which that is an example."""
        states = self._ways.get(way)
        known = states.get(waits) if states is not None else None
        if known is None:
            if self.left <= 0:
                self.forget()
            self.left -= 1
            states = self._ways.setdefault(way, {})
            known = Known(way, states, varies)
            if len(waits) <= _WAITS:
                states[waits] = known
        return known

    def forget(self) -> None:
        """Every state is emptied, since a parser may be in one, from which it could reach all others."""
        ways, self._ways = self._ways, {}
        self.left = _MOST
        for states in list(ways.values()):
            for known in list(states.values()):
                known.clear()
            states.clear()


memory = Memory()
