"""Marks in text: compiled patterns, matched with the tolerance that real output needs, and searched for.

A pattern is cut into *atoms*. An atom is text that must stand exactly so: a tag, words, punctuation. Between
atoms there may be whitespace: where the pattern has some, between two tags, and beside brackets. Atoms come
in *units*, each begun by a tag; a unit can stand for itself, so that a closer that lost its first half is
still seen, and an opener can begin at its second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from chatlint.parse.patterns import Slot, pieces
from chatlint.parse.stream import Reading, Stream, blank

T = TypeVar("T")

NO: Final = -1
"""The text is not this mark, whatever follows."""
MORE: Final = -2
"""It may be, if more text comes."""

_TAG = re.compile(r"<[^<>]*(?:>|\Z)|\[/?[A-Z][A-Z_/]+\]")
_TOKEN = re.compile(
    r"\s+|[{}(),:;]|\[(?=[\s{]|\Z)|(?<!\S)\](?=<[^<>\[\]]*>)|(?:(?!\[(?:[\s{]|\Z))[^\s{}(),:;])+"
)
_BETWEEN_TAGS = re.compile(r"(?<=>)(?=<)")
_PREFIXED_TAG = re.compile(r"[^\s<>{}(),]+<[^<>]*>")
_STRONG = re.compile(r"<[^\s<>]{2}|\[/?[A-Z][A-Z_/]+\]|[^\x00-\x7f]\S")
_digits = re.compile(r"\d*").match
name_run = re.compile(r"[^\s<>(){}\[\]\"'`,;=|｜]{1,256}").match
"""The longest text at a place that can be a tool's name or id."""

Atom: TypeAlias = str | Slot | None
"""None is a gap: whitespace may stand here."""


def is_strong(text: str) -> bool:
    """Whether `text` holds something that prose does not: a tag, `[CAPITALS]`, an unusual character."""
    return _STRONG.search(text) is not None


def _atoms_of(text: str) -> list[Atom]:
    """The atoms of literal text."""
    tags = [match.span() for match in _TAG.finditer(text)]
    prefixed = _PREFIXED_TAG.match(text)
    seam = re.compile(f"(?<=>)(?={re.escape(prefixed[0])})") if prefixed else _BETWEEN_TAGS
    atoms: list[Atom] = []
    joined = False
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word.isspace():
            atoms.append(None)
            joined = False
        elif word in "{}(),:;[]" and not any(start <= token.start() < end for start, end in tags):
            atoms += [None, word, None]
            joined = False
        else:
            parts = seam.split(word)
            if joined:
                atoms[-1] = f"{atoms[-1]}{parts.pop(0)}"
            for part in parts:
                atoms += [None, part]
            joined = True
    return atoms


class Marker:
    """One pattern, or the rest of one, ready to be matched."""

    __slots__ = ("atoms", "first", "lead", "strong", "text", "trail")

    def __init__(self, atoms: tuple[Atom, ...], text: str) -> None:
        self.atoms = atoms
        self.text = text
        """The pattern, for messages."""
        self.first = atoms[0] if atoms and isinstance(atoms[0], str) else ""
        """What to search for; "" if the mark begins with a slot."""
        self.lead = text[: len(text) - len(text.lstrip())]
        self.trail = text[len(text.rstrip()) :]
        self.strong = is_strong(self.first)

    def match(self, text: str, at: int, key: str = "") -> int:
        """Where the mark that begins at `at` ends; NO, or MORE. `key` is what ⟨key⟩ must be."""
        for atom in self.atoms:
            if atom is None:
                at = blank(text, at).end()  # type: ignore[union-attr]
                continue
            if isinstance(atom, Slot) and atom is not Slot.KEY:
                at = _pass_slot(atom, text, at)
                if at < 0:
                    return at
                continue
            solid = key if isinstance(atom, Slot) else atom
            if text.startswith(solid, at):
                at += len(solid)
            else:
                return MORE if len(text) - at < len(solid) and solid.startswith(text[at:]) else NO
        return at

    def units(self) -> Iterator[Marker]:
        """The mark from each of its units on: itself, then shorter and shorter rests."""
        yield self
        for i in range(1, len(self.atoms)):
            atom = self.atoms[i]
            if self.atoms[i - 1] is None and isinstance(atom, str) and is_strong(atom):
                yield Marker(self.atoms[i:], " ".join(a for a in self.atoms[i:] if isinstance(a, str)))

    def __repr__(self) -> str:
        return f"Marker({self.text!r})"


def _pass_slot(slot: Slot, text: str, at: int) -> int:
    """The place after a counter or a name inside a mark; NO, or MORE."""
    if slot is Slot.COUNTER:
        end = _digits(text, at).end()  # type: ignore[union-attr]
        return end if end > at or end == len(text) else NO
    run = name_run(text, at)
    return run.end() if run else MORE if at == len(text) else NO


@lru_cache(maxsize=1024)
def marker(pattern: str) -> Marker | None:
    """The mark of a pattern; None if there is nothing but whitespace in it."""
    atoms: list[Atom] = []
    for piece in pieces(pattern):
        atoms += [piece] if isinstance(piece, Slot) else _atoms_of(piece)
        if isinstance(piece, str) and piece[-1:].isspace():
            atoms.append(None)
    slim = [atom for i, atom in enumerate(atoms) if atom is not None or (i and atoms[i - 1] is not None)]
    while slim and slim[-1] is None:
        slim.pop()
    return Marker(tuple(slim), pattern) if slim else None


class Found(NamedTuple, Generic[T]):
    """A mark in the text: from `start` to `end`, and what it stands for."""

    start: int
    end: int
    what: T


class MarkerSet(Generic[T]):
    """Several marks looked for at once; of those that fit at one place the longest counts, then the first."""

    __slots__ = ("_by_first", "_longest", "_search", "alarm", "entries")

    def __init__(self, entries: Iterable[tuple[Marker, T]]) -> None:
        self.entries = tuple(entries)
        firsts = sorted({mark.first for mark, _ in self.entries if mark.first}, key=len, reverse=True)
        self._by_first: dict[str, list[tuple[Marker, T]]] = {}
        for mark, what in self.entries:
            self._by_first.setdefault(mark.first[:1], []).append((mark, what))
        self._longest = max(map(len, firsts), default=0)
        never = r"(?!)"
        self._search = re.compile("|".join(map(re.escape, firsts)) or never).search
        letters = "".join(sorted({re.escape(first[0]) for first in firsts}))
        self.alarm = re.compile(f"[{letters}]" if letters else never).search
        """Finds the first character that some mark begins with."""

    def match(self, text: str, at: int, key: str = "") -> Found[T] | int:
        """The mark at `at`, or NO or MORE. MORE also where a longer one than already fits may come."""
        best: Found[T] | int = NO
        for mark, what in self._by_first.get(text[at : at + 1], ()) if at < len(text) else self.entries:
            end = mark.match(text, at, key)
            if end == MORE:
                return MORE
            if end > (best.end if isinstance(best, Found) else at):
                best = Found(at, end, what)
        return best

    def find(self, text: str, at: int, final: bool, key: str = "") -> Found[T] | int:
        """The first mark from `at` on; else the place from which on the text may still become one."""
        open_end = len(text) if final else self._tail(text, at)
        while (hit := self._search(text, at)) and hit.start() < open_end:
            found = self.settled(text, hit.start(), key) if final else self.match(text, hit.start(), key)
            if isinstance(found, Found):
                return found
            if found == MORE:
                return hit.start()
            at = hit.start() + 1
        return open_end

    def settled(self, text: str, at: int, key: str = "") -> Found[T] | int:
        """As `match` when no more text comes: never MORE."""
        best: Found[T] | int = NO
        for mark, what in self.entries:
            end = mark.match(text, at, key)
            if end > (best.end if isinstance(best, Found) else at):
                best = Found(at, end, what)
        return best

    def _tail(self, text: str, at: int) -> int:
        """Where the longest end of `text` begins that may be the beginning of a mark."""
        size = len(text)
        at = max(at, size - self._longest + 1)
        while hit := self.alarm(text, at):
            rest = text[hit.start() :]
            if any(mark.first.startswith(rest) and mark.first != rest for mark, _ in self._by_first[rest[0]]):
                return hit.start()
            at = hit.start() + 1
        return size


def fit(marks: MarkerSet[T], stream: Stream, at: int, key: str = "") -> Found[T] | int:
    """The mark at a place; NO, or MORE while more text can come."""
    return marks.settled(stream.text, at, key) if stream.final else marks.match(stream.text, at, key)


def take(stream: Stream, marks: MarkerSet[T], key: str = "") -> Reading[T | None]:
    """Passes the mark that stands here, past whitespace; None if none does."""
    while True:
        if (yield from stream.skip_blank()) == "":
            return None
        found = fit(marks, stream, stream.at, key)
        if isinstance(found, Found):
            stream.taken = stream.text[stream.at : found.end]
            stream.at = found.end
            what: T = found.what
            return what
        if found != MORE:
            return None
        yield
