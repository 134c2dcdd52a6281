"""How members, items and values are laid out, compiled: which marks to look for, and what each would mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, Protocol, TypeAlias, TypeVar

from chatlint.lazy import regex
from chatlint.parse.markers import Found, Marker, MarkerSet, beginnings, marker
from chatlint.parse.notation import Encoding, Items, Members, Values, Written
from chatlint.parse.patterns import KEY, VALUE, Slot, slots, split_at
from chatlint.parse.schemas import ALL, STRING, Types
from chatlint.parse.seams import LONGEST, NONE, Seam, exact, past_blank
from chatlint.records import dataclass, field

T = TypeVar("T")
Place: TypeAlias = Literal["member", "separator", "end"]


class Search(Protocol):
    """`search` of a compiled pattern."""

    def __call__(self, text: str, at: int = 0, /) -> re.Match[str] | None: ...


@dataclass(slots=True)
class Way:
    """One way in which a value can begin: after `start` it is of one of `types`."""

    start: Marker | None
    types: Types
    raw: bool
    """Whether a string would stand raw, so that only a schema tells it from other types."""
    trail: str
    """Whitespace after `start` that belongs to the frame of a raw value."""
    ends: MarkerSet[None]
    """What closes the value; empty if only what follows does."""
    lead: str
    """Whitespace before `ends` that does."""
    layout: Layout | None
    """The notation of an array or object that begins so."""
    closing: Search
    """Finds a place where `lead` and `ends` begin, or may begin if more text comes."""
    end: str
    """The pattern of `ends`."""
    seam: Seam = NONE
    """From the value to the next key, or to the end of all members."""
    joins: bool = False
    """Whether the next key stands behind the seam for certain."""
    over: str = ""
    """From the value to where all members have come for certain."""
    ended: int = 0
    """So many characters of it belong to the value's own end."""

    joint: re.Pattern[str] | None = None
    """Matches the seam, the next key and its mark; its second group what is before a value that is surely
    raw. None where another mark or notation may follow."""
    follower: Way | None = None
    """The way of that value."""


@dataclass(slots=True)
class Layout:
    """Members of an object, or items of an array."""

    keyed: bool
    before: Marker | None
    """Before each key or item; None if they stand bare."""
    start: MarkerSet[None]
    end: MarkerSet[None]
    ways: MarkerSet[Way] = field(default_factory=lambda: MarkerSet[Way](()))
    plain: Way | None = None
    """The way without a mark of its own."""
    nested: dict[str, Layout] = field(default_factory=dict)
    """Notations of arrays and objects that begin without a mark of their own."""
    places: MarkerSet[Place] = field(default_factory=lambda: MarkerSet[Place](()))
    """What may stand before, between and after members."""
    bare: dict[Types | None, MarkerSet[Layout]] = field(default_factory=dict)
    """Allowed types → the marks before the first item or member of `nested` ones."""
    ends: tuple[Marker, ...] = ()
    """Those of the places that end the whole."""
    first: str = ""
    """What stands before the first key for certain; "" if that is not known."""
    after: str = ""
    """Characters that can follow a value, "" for any: they tell a closing quote from one inside."""

    def bare_marks(self, types: Types | None) -> MarkerSet[Layout]:
        """The marks that show a notation without an opening mark, where `types` are allowed."""
        if types not in self.bare:
            nested = [inner for name, inner in self.nested.items() if types is None or name in types]
            self.bare[types] = MarkerSet([(inner.before, inner) for inner in nested if inner.before])
        return self.bare[types]


class Layouts:
    """Compiles the notations of one format; nested ones refer to themselves."""

    def __init__(self, values: Values, closers: Iterable[Marker], over: str) -> None:
        self._values = values
        self._closers = tuple(closers)
        self._over = over
        """The pattern that usually ends a call."""
        self._made: dict[Members | Items, Layout] = {}

    def top(self, members: Members) -> Layout:
        """The layout of a call's arguments: what ends the call ends them."""
        return self._make(members, self._closers)

    def _nested(self, notation: Members | Items) -> Layout:
        if notation not in self._made:
            self._make(notation, ())
        return self._made[notation]

    def _make(self, notation: Members | Items, closers: tuple[Marker, ...]) -> Layout:
        keyed = isinstance(notation, Members)
        before, mid, close = _split(notation)
        start, end = (MarkerSet(one(marker(mark), None)) for mark in (notation.start, notation.end))
        layout = Layout(keyed, marker(before), start, end)
        if not closers:
            self._made[notation] = layout
        ends = [*(mark for mark, _ in end.entries), *closers]
        between = marker(notation.separator)
        places: list[tuple[Marker, Place]] = [(mark, "end") for mark in ends]
        if between:
            places.append((between, "separator"))
        if layout.before:
            places.append((layout.before, "member"))
        layout.places, layout.ends = MarkerSet(places), tuple(ends)
        separated = not marker(close) and (between or layout.before)
        layout.after = "".join(sorted({mark.first[:1] for mark, _ in places})) if separated else ""
        ways = self._ways(mid, close, layout)
        layout.plain = next((way for way in ways if way.start is None), None)
        marked = [(way.start, way) for way in ways if way.start]
        layout.ways = MarkerSet([*marked, *_any_label(mid, close, ways)])
        if isinstance(notation, Members):
            over = _up_to_end(layout, exact(self._over if closers else notation.end))
            _join(ways, layout, f"{notation.separator}{notation.member}", over)
            first = exact(notation.member)
            if layout.before and not start.entries and _leads_to_key(layout, notation.member):
                layout.first = first[past_blank(first, 0) :]
        return layout

    def _ways(self, mid: str, close: str, layout: Layout) -> list[Way]:
        """The ways of a layout, by what a value begins with."""
        ways: dict[str, Way] = {}
        for json_type, written in self._values.by_type.items():
            if not isinstance(written, Written):
                inner = self._nested(written)
                if not inner.start.entries:
                    layout.nested[json_type] = inner
                else:
                    start = f"{mid}{written.start}"
                    ways[start] = _way(start, "", close, frozenset({json_type}), False, inner)
                continue
            start = f"{mid}{written.start}"
            raw = json_type == "string" and written.encoding is Encoding.RAW
            known = ways.get(start)
            if known is None:
                ways[start] = _way(start, written.end, close, frozenset({json_type}), raw, None)
            else:
                known.types |= {json_type}
                known.raw = known.raw or raw
        if close.strip() and mid.endswith(close) and mid != close:
            bare = mid.removesuffix(
                close
            )  # what quotes every value may be missing around what needs no quotes
            ways.setdefault(bare, _way(bare, "", "", ALL - STRING, False, None))
        return list(ways.values())


def _split(notation: Members | Items) -> tuple[str, str, str]:
    """The patterns before a key (or item), between key and value, and after the value."""
    if isinstance(notation, Items):
        before, close = split_at(notation.item, Slot.VALUE)
        return before, "", close
    before, rest = split_at(notation.member, Slot.KEY) if KEY in notation.member else ("", notation.member)
    mid, _, close = rest.partition(VALUE)
    return before, mid, close


def _way(start: str, end: str, close: str, types: Types, raw: bool, inner: Layout | None) -> Way:
    mark, closing = marker(start), marker(end + close)
    lead, first = (closing.lead, closing.first) if closing else ("", "")
    trail = mark.trail if mark else ""
    ends = MarkerSet(one(closing, None))
    return Way(mark, types, raw, trail, ends, lead, inner, _closing(lead, first), end + close)


def _closing(lead: str, first: str) -> Search:
    """See `Way.closing`."""
    led = ""
    for char in reversed(lead):
        led = f"(?:{re.escape(char)}{led})?"
    begins = beginnings([first]) if first else r"(?!)"
    return re.compile(rf"{led}(?:{begins})" + (rf"|{led[:-1]}\Z" if led else "")).search


def _up_to_end(layout: Layout, text: str) -> str:
    """So much of a text as it takes to know that all members have come; "" if it does not tell."""
    at = past_blank(text, 0)
    for size in range(at + 1, min(len(text), LONGEST) + 1):
        found = layout.places.settled(text[:size], at)
        if isinstance(found, Found):
            return text[:size] if found.what == "end" else ""
    return ""


def _join(ways: list[Way], layout: Layout, following: str, over: str) -> None:
    """Gives every way its seam: to `following`, the pattern of what leads to the next value, or to `over`."""
    firsts = re.escape("".join({mark.first[0] for mark, _ in layout.ways.entries}))
    beyond = re.compile(f"[{firsts}]" if firsts else "").search
    certain = _leads_to_key(layout, following)
    for way in ways:
        whole = not slots(way.end)
        bare = [mark.first for mark, _ in way.ends.entries]
        if bare:
            usual, ended = exact(way.end, following), exact(way.end) + over
            way.over = ended if whole and over and not usual.startswith(ended) else ""
            way.ended = len(exact(way.end))
            way.seam = Seam(usual, beyond, [*bare, way.over])
            way.joins = certain and whole and way.seam.text != ""
            if way.joins:
                _set_joint(way, layout)


def _set_joint(way: Way, layout: Layout) -> None:
    """See `Way.joint`."""
    if len(layout.ways.entries) != 1 or layout.before is None or layout.nested:
        return
    (mark, following) = layout.ways.entries[0]
    if mark.alone and following.raw and following.layout is None and following.ends.entries:
        key = rf"([^{re.escape(mark.first[0])}]{{0,512}})"
        raw = rf"({re.escape(following.trail)}(?=[^<{{\[(]))?"
        way.joint = regex(f"{re.escape(way.seam.text)}{key}{re.escape(mark.first)}{raw}")
        way.follower = following


def _leads_to_key(layout: Layout, following: str) -> bool:
    """Whether what stands between a value and the next key can be nothing else."""
    text, at = exact(following), 0
    if slots(following)[0] is not Slot.KEY:
        return False
    for wanted in ("separator", "member"):
        at = past_blank(text, at)
        found = layout.places.match(text, at)
        if isinstance(found, Found) and found.what == wanted:
            at = found.end
        elif wanted == "member" and layout.before:
            return False
    return at > 0 and past_blank(text, at) == len(text)


def one(mark: Marker | None, what: T) -> list[tuple[Marker, T]]:
    """An entry of a set of marks, if there is a mark."""
    return [(mark, what)] if mark else []


def _common(texts: list[str]) -> str:
    """The longest common beginning."""
    low, high = min(texts), max(texts)
    return next((low[:i] for i, char in enumerate(low) if high[i] != char), low)


def _any_label(mid: str, close: str, ways: list[Way]) -> list[tuple[Marker, Way]]:
    """Where starts differ in one word (a type's name), the same start with any word: a type never shown."""
    starts = [way.start.text[len(mid) :] for way in ways if way.start and way.layout is None]
    if len(starts) < 2:
        return []
    prefix = re.sub(r"\w+\Z", "", _common(starts))
    suffix = re.sub(r"\A\w+", "", _common([start[::-1] for start in starts])[::-1])
    labels = [start[len(prefix) : len(start) - len(suffix)] for start in starts]
    if not suffix or not all(re.fullmatch(r"\w+", label) for label in labels):
        return []
    mark = marker(f"{mid}{prefix}{Slot.NAME.placeholder}{suffix}")
    way = _way("", "", close, ALL, True, None)
    way.trail = mark.trail if mark else ""
    return [(mark, way)] if mark else []
