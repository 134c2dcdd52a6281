"""Runs: where the characters of one string came from.

A run is `(length, source, offset)`: that many characters of `source`, from that offset in code points;
`DERIVED` as the offset says that they are its characters no longer, only made from them. The runs of a
string are a tuple whose lengths add up to the string's. A run of length 0 is a mark: it stands between two
characters and moves with them.
"""

from __future__ import annotations

from typing import TypeAlias

from chatlint.text import Computed, Input, Literal, Origin, Span, Special

DERIVED = -1


class Source:
    """Something that characters can come from. Equal only to itself: two literals of the same text differ.

    `pointer` is "" for what is no part of the conversation.
    """

    __slots__ = ("_derived", "_first", "key", "pointer")

    def __init__(self, pointer: str, key: bool = False, fixed: Origin | None = None) -> None:
        self.pointer = pointer
        self.key = key
        self._first = self._derived = fixed

    def origin(self, offset: int) -> Origin:
        """The origin of characters from `offset` (or `DERIVED`)."""
        if not offset or not self.pointer:
            if self._first is None:
                self._first = Input(self.pointer, 0, self.key)
            return self._first
        if offset > 0:
            return Input(self.pointer, offset, self.key)
        if self._derived is None:
            self._derived = Input(self.pointer, None, self.key)
        return self._derived

    def value(self) -> Source:
        """For the name of a member, the member's value."""
        return Source(self.pointer) if self.key else self

    def child(self, index: int) -> Source:
        """For an array of the conversation, the element at `index`."""
        return Source(f"{self.pointer}/{index}") if self.pointer else self


class ContainerSource(Source):
    """A list or an object of the conversation. `texts` keeps what it was written as, and in how many steps:
    inputs do not change."""

    __slots__ = ("texts",)

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer)
        self.texts: dict[object, tuple[str, int]] = {}


Run: TypeAlias = tuple[int, Source, int]
Runs: TypeAlias = tuple[Run, ...]


def literal_source(line: int, column: int) -> Source:
    """Text of the template at a one-based place."""
    return Source("", False, Literal(line, column))


def special_source(name: str) -> Source:
    """A special token, by the variable that holds it."""
    return Source("", False, Special(name))


def computed_source(line: int) -> Source:
    """What an expression on this template line made; 0 for what the host made."""
    return Source("", False, Computed(line))


def cut(runs: Runs, start: int, stop: int) -> Runs:
    """The runs of characters `start` to `stop`; marks at either edge stay."""
    if len(runs) == 1:
        _, source, offset = runs[0]
        return ((stop - start, source, offset if offset < 0 else offset + start),)
    found: list[Run] = []
    begin = 0
    for run in runs:
        length, source, offset = run
        end = begin + length
        if end >= start:
            if begin > stop:
                break
            low, high = max(start, begin), min(stop, end)
            if high - low == length:
                found.append(run)
            elif high > low:
                found.append((high - low, source, offset if offset < 0 else offset + low - begin))
        begin = end
    return tuple(found)


def pick(runs: Runs, indices: range) -> Runs:
    """The runs of the characters at `indices`, one run each (for slices with a step)."""
    single: list[Run] = []
    for length, source, offset in runs:
        if offset < 0:
            single += [(1, source, offset)] * length
        else:
            single += [(1, source, at) for at in range(offset, offset + length)]
    return tuple(single[index] for index in indices)


def derived(runs: Runs, length: int) -> Runs:
    """Runs of `length` characters that were made from all of `runs` and are attributed to the first input
    among them, or else to the first source."""
    if not length:
        return ()
    sources = [source for size, source, _ in runs if size]
    chosen = next((source for source in sources if source.pointer), sources[0] if sources else None)
    return ((length, chosen or computed_source(0), DERIVED),)


def recast(runs: Runs, before: str, after: str) -> Runs:
    """Runs of `after`, which is as long as `before`: characters that differ are derived."""
    found: list[Run] = []
    at = 0
    for length, source, offset in runs:
        for index in range(at, at + length):
            kept = offset >= 0 and before[index] == after[index]
            found.append((1, source, offset + index - at if kept else DERIVED))
        at += length
    return fused(tuple(found))


def fused(runs: Runs) -> Runs:
    """The same runs, neighbours that continue each other made one."""
    found: list[Run] = []
    length, source, offset = 0, None, 0
    for run in runs:
        size, origin, start = run
        if origin is source and size and length:
            continues = start == offset + length and offset >= 0 if start >= 0 else offset < 0
            if continues:
                length += size
                continue
        if source is not None:
            found.append((length, source, offset))
        length, source, offset = run
    if source is not None:
        found.append((length, source, offset))
    return tuple(found)


_new = tuple.__new__
"""Half the price of calling the class."""


def spans_of(runs: Runs) -> tuple[Span, ...]:
    """Spans that cover a text with these runs, in order, without gap or overlap."""
    spans: list[Span] = []
    begin = at = offset = 0
    source: Source | None = None
    for size, origin, start in runs:
        if not size:
            continue
        if origin is source and (start == offset + at - begin and offset >= 0 if start >= 0 else offset < 0):
            at += size
            continue
        if source is not None:
            first = source._first  # most often it is that: this is `origin`, written out
            known = first is not None and (not offset or not source.pointer)
            spans.append(_new(Span, (begin, at, first if known else source.origin(offset))))
        begin, source, offset = at, origin, start
        at += size
    if source is not None:
        spans.append(_new(Span, (begin, at, source.origin(offset))))
    return tuple(spans)
