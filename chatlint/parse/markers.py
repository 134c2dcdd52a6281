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

from chatlint.lazy import regex
from chatlint.parse.events import Event
from chatlint.parse.patterns import Slot, pieces
from chatlint.parse.seams import LONGEST
from chatlint.parse.stream import Quiet, Reading, Stream, blank

T = TypeVar("T")

NO: Final = -1
"""The text is not this mark, whatever follows."""
MORE: Final = -2
"""It may be, if more text comes."""

_TAG = regex(r"<[^<>]*(?:>|\Z)|\[/?[A-Z][A-Z_/]+\]")
_TOKEN = regex(r"\s+|[{}(),:;]|\[(?=[\s{]|\Z)|(?<!\S)\](?=<[^<>\[\]]*>)|(?:(?!\[(?:[\s{]|\Z))[^\s{}(),:;])+")
_BETWEEN_TAGS = regex(r"(?<=>)(?=<)")
_PREFIXED_TAG = regex(r"[^\s<>{}(),]+<[^<>]*>")
_STRONG = regex(r"<[^\s<>]{2}|\[/?[A-Z][A-Z_/]+\]|[^\x00-\x7f]\S")
_digits = re.compile(r"\d*").match
_IN_NAME = r"[^\s<>(){}\[\]\"'`,;=|｜]"
in_name = re.compile(_IN_NAME).match
"""Whether a character can be inside a name."""
beyond_name = re.compile(_IN_NAME.replace("[^", "[")).search
"""Finds a character that cannot."""
NAME_RUN = rf"\w{_IN_NAME}{{0,255}}"
name_run = re.compile(NAME_RUN).match
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

    __slots__ = ("alone", "atoms", "first", "lead", "strong", "text", "trail")

    def __init__(self, atoms: tuple[Atom, ...], text: str) -> None:
        self.atoms = atoms
        self.text = text
        """The pattern, for messages."""
        self.first = atoms[0] if atoms and isinstance(atoms[0], str) else ""
        """What to search for; "" if the mark begins with a slot."""
        self.lead = text[: len(text) - len(text.lstrip())]
        self.trail = text[len(text.rstrip()) :]
        self.strong = is_strong(self.first)
        self.alone = len(atoms) == 1 and bool(self.first)
        """Whether the mark is nothing but its first atom."""

    def match(self, text: str, at: int, key: str = "") -> int:
        """Where the mark that begins at `at` ends; NO, or MORE. `key` is what ⟨key⟩ must be."""
        for atom in self.atoms:
            if atom is None:
                at = blank(text, at).end()  # type: ignore[union-attr]
                continue
            if isinstance(atom, Slot):
                if atom is not Slot.KEY:
                    at = _pass_slot(atom, text, at)
                    if at < 0:
                        return at
                    continue
                atom = key
            if not text.startswith(atom, at):
                return MORE if len(text) - at < len(atom) and atom.startswith(text[at:]) else NO
            at += len(atom)
        return at

    def pending(self, text: str, at: int) -> tuple[int, str] | None:
        """Where the mark that begins at a place waits for the rest of an atom, and the atom; None if it does
        not, or a slot stands before."""
        for atom in self.atoms:
            if atom is None:
                at = blank(text, at).end()  # type: ignore[union-attr]
            elif isinstance(atom, Slot):
                return None
            elif text.startswith(atom, at):
                at += len(atom)
            else:
                return (at, atom) if atom.startswith(text[at:]) else None
        return None

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


_found = tuple.__new__
"""As `Found(…)`, without the detour over a function of Python's own: marks are found by the million."""


def beginnings(words: Iterable[str], depth: int = 4) -> str:
    """A regular expression for the first characters of each word, or for fewer where the text ends there."""
    following: dict[str, list[str]] = {}
    for word in words:
        following.setdefault(word[0], []).append(word[1:])
    branches = []
    for letter, rests in following.items():
        deeper = depth > 1 and all(rests)
        branches.append(re.escape(letter) + (rf"(?:\Z|{beginnings(rests, depth - 1)})" if deeper else ""))
    return "|".join(branches)


@lru_cache(maxsize=1024)
def _begun(atom: str) -> frozenset[str]:
    """The beginnings of an atom; none of a very long one, for they would be as many."""
    return frozenset(atom[:size] for size in range(1, len(atom) if len(atom) <= LONGEST else 0))


class MarkerSet(Generic[T]):
    """Several marks looked for at once; of those that fit at one place the longest counts, then the first."""

    __slots__ = (
        "_at_first",
        "_beginnings",
        "_fitting",
        "_long",
        "_longest",
        "_search",
        "alarm",
        "entries",
        "undecided",
    )

    def __init__(self, entries: Iterable[tuple[Marker, T]]) -> None:
        self.entries = tuple(entry for entry in entries if entry[0].first)
        firsts = sorted({mark.first for mark, _ in self.entries}, key=len, reverse=True)
        distinct: dict[tuple[Atom, ...], tuple[Marker, T]] = {}
        for entry in self.entries:
            distinct.setdefault(entry[0].atoms, entry)
        self._fitting = {
            first: [entry for entry in distinct.values() if first.startswith(entry[0].first)]
            for first in firsts
        }
        """First atom → the marks that may stand where it stands, of equal ones the first."""
        self._beginnings = frozenset[str]().union(*map(_begun, firsts))
        self._long = [first for first in firsts if len(first) > LONGEST]
        self.undecided = self._beginnings - set(firsts)
        """Texts that may come to begin a mark, and are none yet."""
        self._longest = max(map(len, firsts), default=0)
        never = r"(?!)"
        pattern = re.compile("|".join(map(re.escape, firsts)) or never)
        self._search, self._at_first = pattern.search, pattern.match
        self.alarm = re.compile(beginnings(firsts) or never).search
        """Finds a place where a mark begins, or may begin if more text comes, by its first characters."""

    def match(self, text: str, at: int, key: str = "") -> Found[T] | int:
        """The mark at `at`, or NO or MORE. MORE also where a longer one than already fits may come."""
        if len(text) - at < self._longest and self._begins(text, at):
            return MORE
        hit = self._at_first(text, at)
        return self._fit(text, at, key, self._fitting[hit[0]], True) if hit else NO

    def settled(self, text: str, at: int, key: str = "") -> Found[T] | int:
        """As `match` when no more text comes: never MORE."""
        hit = self._at_first(text, at)
        return self._fit(text, at, key, self._fitting[hit[0]], False) if hit else NO

    def _fit(
        self, text: str, at: int, key: str, entries: list[tuple[Marker, T]], waits: bool
    ) -> Found[T] | int:
        """The longest of some marks that fits; MORE if one may come to, and that is waited for."""
        what, best = None, at
        for entry in entries:
            mark = entry[0]
            end = at + len(mark.first) if mark.alone else mark.match(text, at, key)
            if end == MORE and waits:
                return MORE
            if end > best:
                what, best = entry, end
        return NO if what is None else _found(Found, (at, best, what[1]))

    def _begins(self, text: str, at: int) -> bool:
        """Whether the rest of the text may be the beginning of a first atom."""
        if at >= len(text):
            return bool(self.entries)
        rest = text[at:]
        if rest in self._beginnings or not self._long:
            return rest in self._beginnings
        return any(rest != one and one.startswith(rest) for one in self._long)

    def waiting(self, stream: Stream, at: int, *, inside: bool = True) -> Quiet:
        """The short way for a reader that waits for the mark at a place: while the text from there on is the
        beginning of a first atom, or (`inside`) a mark's next atom is on its way, it would wait on."""
        text, undecided = stream.text, self.undecided
        hit = self._at_first(text, at) if inside else None
        for entry in self._fitting[hit[0]] if hit else ():
            pending = entry[0].pending(text, at)
            if pending:
                at, undecided = pending[0], _begun(pending[1])
                break

        def wait(chunk: str) -> list[Event] | None:
            text = stream.text + chunk
            if text[at:] not in undecided:
                return None
            stream.text = text
            return []

        return wait

    def find(self, text: str, at: int, final: bool, key: str = "") -> Found[T] | int:
        """The first mark from `at` on; else the place from which on the text may still become one."""
        sure = len(text) if final else len(text) - self._longest + 1
        while (hit := self._search(text, at)) and hit.start() < sure:
            found = self._fit(text, hit.start(), key, self._fitting[hit[0]], not final)
            if isinstance(found, Found):
                return found
            if found == MORE:
                return hit.start()
            at = hit.start() + 1
        return len(text) if final else self._find_near_end(text, max(at, sure), key)

    def _find_near_end(self, text: str, at: int, key: str) -> Found[T] | int:
        """The same, where marks may be cut off by the end of what has come."""
        while hit := self.alarm(text, at):
            found = self.match(text, hit.start(), key)
            if isinstance(found, Found):
                return found
            if found == MORE:
                return hit.start()
            at = hit.start() + 1
        return len(text)


def fit(marks: MarkerSet[T], stream: Stream, at: int, key: str = "") -> Found[T] | int:
    """The mark at a place; NO, or MORE while more text can come."""
    return marks.settled(stream.text, at, key) if stream.final else marks.match(stream.text, at, key)


def look(stream: Stream, marks: MarkerSet[T], key: str = "") -> Reading[Found[T] | None]:
    """The mark that stands here, past whitespace; None if none does."""
    while True:
        if not stream.solid() and (yield from stream.skip_blank()) == "":
            return None
        found = fit(marks, stream, stream.at, key)
        if isinstance(found, Found):
            return found
        if found != MORE:
            return None
        stream.quiet = marks.waiting(stream, stream.at)
        yield
        stream.quiet = None


def take(stream: Stream, marks: MarkerSet[T], key: str = "") -> Reading[T | None]:
    """Passes the mark that stands here, past whitespace; None if none does."""
    found: Found[T] | int | None = fit(marks, stream, stream.at, key) if stream.solid() else MORE
    if found == MORE:
        found = yield from look(stream, marks, key)
    if not isinstance(found, Found):
        return None
    stream.taken = stream.text[stream.at : found.end]
    stream.at = found.end
    what: T = found.what
    return what


def begun(marks: Iterable[Marker], text: str, at: int) -> bool:
    """Whether the text ends inside one of the marks."""
    return any(mark.match(text, at) == MORE for mark in marks)
