"""Arguments written with marks: members, items and values, read as they come and written as JSON.

A value's type may be in its text (the marks differ) or only in the tool's schema. What is certain streams: a
raw string where nothing but a string is allowed, a quoted string, a container. The rest is held to its end.

The end of a raw value is the first closing mark after which the format can go on: the next member, or the end
of the call. Any other closing mark is the value's own text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from chatlint.limits import NESTING
from chatlint.parse.events import Event
from chatlint.parse.layouts import Layout, Way
from chatlint.parse.literals import Write, container, escaped, literal, quoted, string, typed
from chatlint.parse.markers import MORE, NO, Found, MarkerSet, begun, fit, take
from chatlint.parse.schemas import ANYTHING, STRING, Schema
from chatlint.parse.stream import Quiet, Reading, Stream, blank

T = TypeVar("T")

_SECTION, _SECTION_END = "<![CDATA[", "]]>"
"""XML's own marks around text that may hold any other."""
_KEY = 512
"""Longest key, in characters."""


class Outer(NamedTuple):
    """What ends the value around: its closing mark, for its key."""

    ends: MarkerSet[None]
    key: str

    def match(self, stream: Stream, at: int) -> Found[None] | int:
        """The outer value's closing mark at a place; NO, or MORE."""
        return fit(self.ends, stream, at, self.key)


NOWHERE = Outer(MarkerSet(()), "")


class Spot(NamedTuple):
    """Where a value stands."""

    layout: Layout
    way: Way
    key: str
    schema: Schema
    outer: Outer
    depth: int


class MemberReader:
    """Reads one call's arguments from `stream` and hands JSON text to `write`."""

    def __init__(self, stream: Stream, write: Write) -> None:
        self._stream = stream
        self._write = write

    def arguments(self, layout: Layout, schema: Schema) -> Reading[bool]:
        """All members of a call. What ends the call is left in the stream. False if a value is cut."""
        stream = self._stream
        if layout.start.entries:
            yield from take(stream, layout.start)
        elif (yield from stream.skip_blank()) == "{" and fit(layout.places, stream, stream.at) == NO:
            return (yield from container(stream, self._write))
        return (yield from self._all(layout, schema, NOWHERE, 0))

    def _all(self, layout: Layout, schema: Schema, outer: Outer, depth: int) -> Reading[bool]:
        """Members or items until something else comes; brackets are written, not read."""
        opening, closing = "{}" if layout.keyed else "[]"
        before = opening
        while (place := (yield from self._place(layout, outer))) in ("member", "separator", ""):
            if place == "separator":
                continue
            if (place == "" and layout.before is not None) or self._spent():
                break
            if not (yield from self._one(layout, schema, outer, depth, before)):
                return False
            before = ", "
        self._write(opening + closing if before == opening else closing)
        return True

    def _spent(self) -> bool:
        """Whether the text ended here."""
        return self._stream.final and self._stream.at == len(self._stream.text)

    def _one(self, layout: Layout, schema: Schema, outer: Outer, depth: int, before: str) -> Reading[bool]:
        """One member or item, the mark before it being read."""
        key, way, inner = "", layout.plain, ANYTHING
        if layout.keyed:
            found = yield from self._key(layout)
            if found is None:
                return False
            key, way = found
            inner = schema.member(key)
            before += f"{quoted(key)}: "
        else:
            way, inner = (yield from self._item_way(layout)) or way, schema.item
        self._write(before)
        if way is None or depth == NESTING:
            return False
        return (yield from self._value(Spot(layout, way, key, inner, outer, depth)))

    def _item_way(self, layout: Layout) -> Reading[Way | None]:
        """The way of an item, by the mark it begins with; whitespace before anything else is the item's."""
        stream = self._stream
        while layout.ways.entries:
            at = blank(stream.text, stream.at).end()  # type: ignore[union-attr]
            found = fit(layout.ways, stream, at)
            if isinstance(found, Found):
                stream.at = found.end
                way: Way = found.what
                return way
            if found != MORE:
                break
            yield
        return None

    def _place(self, layout: Layout, outer: Outer) -> Reading[str]:
        """What stands here, past whitespace: "member" or "separator", whose mark is passed; "end", whose mark
        is not; or "" for something else."""
        stream = self._stream
        while True:
            if not stream.solid() and (yield from stream.skip_blank()) == "":
                return "end"
            end = outer.match(stream, stream.at) if outer.ends.entries else NO
            found = fit(layout.places, stream, stream.at)
            if end != MORE and found != MORE:
                break
            now = layout.places.settled(stream.text, stream.at)
            if isinstance(now, Found) and now.what == "end":
                return "end"
            if not outer.ends.entries:
                stream.quiet = layout.places.waiting(stream, stream.at, inside=False)
            yield
            stream.quiet = None
        if isinstance(end, Found) or (stream.final and begun(layout.ends, stream.text, stream.at)):
            return "end"
        if not isinstance(found, Found):
            return ""
        place: str = found.what
        if place != "end":
            stream.at = found.end
        return place

    def _key(self, layout: Layout) -> Reading[tuple[str, Way] | None]:
        """A key up to the mark that begins its value."""
        stream = self._stream
        while True:
            found = layout.ways.find(stream.text, stream.at, stream.final)
            end = found.start if isinstance(found, Found) else found
            if end - stream.at > _KEY:
                return None
            if stream.final and not isinstance(found, Found):
                stream.at = len(stream.text)
                return None
            if isinstance(found, Found):
                key = stream.text[stream.at : end].strip()
                stream.at = found.end
                return _unquoted(key), found.what
            yield

    def _value(self, spot: Spot) -> Reading[bool]:
        """A value, its opening mark being read, and its closing mark."""
        way = spot.way
        nested = way.layout
        if way.raw and spot.layout.nested:
            nested = yield from self._bare_layout(spot)
        if nested:
            inner = NOWHERE if nested.end.entries else Outer(way.ends, spot.key)
            whole = yield from self._all(nested, spot.schema, inner, spot.depth + 1)
            if whole and nested.end.entries:
                yield from take(self._stream, nested.end)
            return whole and (yield from self._close(spot))
        yield from self._frame(way)
        char = yield from self._stream.peek()
        types = spot.schema.types
        if way.raw and char == "<" and (yield from self._enters_section()):
            return (yield from self._sections(spot))
        if way.raw and (types == STRING or (way.types == STRING and (types is None or "string" in types))):
            return (yield from self._raw_string(spot))
        if char and char in "{[(" and not (way.raw and (types is None or "string" in types)):
            whole = yield from container(self._stream, self._write)
        elif char and char in "\"'" and not way.raw:
            after = "".join(mark.first[0] for mark, _ in way.ends.entries) or spot.layout.after
            whole = yield from string(self._stream, self._write, after)
        else:
            return (yield from self._held(spot))
        return whole and (yield from self._close(spot))

    def _bare_layout(self, spot: Spot) -> Reading[Layout | None]:
        """The notation of an array or object without an own mark, as its first item or member shows it."""
        marks = spot.layout.bare_marks(spot.schema.types)
        stream = self._stream
        while marks.entries:
            at = blank(stream.text, stream.at).end()  # type: ignore[union-attr]
            closed = fit(spot.way.ends, stream, at, spot.key)
            found = fit(marks, stream, at)
            if MORE not in (closed, found):
                return found.what if isinstance(found, Found) and not isinstance(closed, Found) else None
            yield
        return None

    def _frame(self, way: Way) -> Reading[None]:
        """Passes the whitespace after an opening mark: beside a raw value only what belongs to the frame."""
        stream, trail = self._stream, way.trail
        if not way.raw:
            yield from stream.skip_blank()
            return
        while len(stream.text) - stream.at < len(trail) and not stream.final:
            if not trail.startswith(stream.text[stream.at :]):
                return
            yield
        if trail and stream.text.startswith(trail, stream.at):
            stream.at += len(trail)

    def _close(self, spot: Spot) -> Reading[bool]:
        """Passes the mark after a value that ended by itself."""
        if spot.way.ends.entries:
            yield from take(self._stream, spot.way.ends, spot.key)
        return True

    def _enters_section(self) -> Reading[bool]:
        """Whether a CDATA section begins here, whose mark is then passed."""
        stream = self._stream
        while True:
            rest = stream.text[stream.at : stream.at + len(_SECTION)]
            if rest == _SECTION:
                stream.at += len(_SECTION)
                return True
            if stream.final or not _SECTION.startswith(rest):
                return False
            yield

    def _sections(self, spot: Spot) -> Reading[bool]:
        """A value in CDATA sections, the first being entered: nothing in them closes it."""
        stream, parts, inside = self._stream, list[str](), True
        while inside:
            stop = stream.text.find(_SECTION_END, stream.at)
            if stop < 0 and not stream.final:
                stop = max(stream.at, len(stream.text) - len(_SECTION_END) + 1)
                parts.append(stream.text[stream.at : stop])
                stream.at = stop
                yield
                continue
            parts.append(stream.text[stream.at : stop] if stop >= 0 else stream.text[stream.at :])
            stream.at = stop + len(_SECTION_END) if stop >= 0 else len(stream.text)
            inside = yield from self._enters_section()
        self._write(typed("".join(parts), spot.schema.types or STRING))
        return (yield from self._close(spot))

    def _raw_string(self, spot: Spot) -> Reading[bool]:
        """A raw string that streams."""
        self._write('"')
        yield from self._to_end(spot, lambda text: self._write(escaped(text)), streams=True)
        self._write('"')
        return True

    def _held(self, spot: Spot) -> Reading[bool]:
        """A value that is not certain before its end. False if there is none yet."""
        parts: list[str] = []
        yield from self._to_end(spot, parts.append, streams=False)
        text = "".join(parts)
        if self._spent() and not text.strip():
            return False
        known = None if spot.way.raw else literal(text)
        self._write(known or typed(text if spot.way.raw else text.strip(), spot.schema.types))
        return True

    def _to_end(self, spot: Spot, part: Write, *, streams: bool) -> Reading[None]:
        """Hands the text of a raw value to `part`, piece by piece, and passes its closing mark."""
        stream, lead = self._stream, spot.way.lead
        look = stream.at
        while True:
            found = self._end(spot, look)
            if isinstance(found, Found):
                verdict = self._goes_on(spot, found.end)
                if verdict == NO:
                    look = found.start + 1
                    continue
                stop = found.start
            else:
                verdict, stop = MORE, found
            ended = verdict != MORE or stream.final
            stop -= _overlap(stream.text[stream.at : stop], lead, ended)
            part(stream.text[stream.at : stop])
            stream.at = stop
            if ended:
                stream.at = found.end if isinstance(found, Found) else len(stream.text)
                return
            stream.quiet = self._short_way(spot, found, streams)
            yield
            stream.quiet = None
            look = stream.at

    def _short_way(self, spot: Spot, found: Found[None] | int, streams: bool) -> Quiet | None:
        """What to do with chunks that settle nothing: while the value goes on, while a closing mark is on its
        way, while it is open whether one closes."""
        stream, ends, places = self._stream, spot.way.ends, spot.layout.places
        if not ends.entries:
            return None
        if isinstance(found, Found):
            at = blank(stream.text, found.end).end()  # type: ignore[union-attr]
            return None if spot.outer.ends.entries else places.waiting(stream, at, inside=False)
        if streams and stream.echo is not None:
            return self._hush(spot.way, stream.echo)
        return ends.waiting(stream, found) if found < len(stream.text) else None

    def _hush(self, way: Way, echo: Callable[[str], Event]) -> Quiet:
        """The short way through a raw string: nothing that could begin its end, or that at the very end."""
        stream, special, lead = self._stream, way.special, way.lead
        alarm, undecided = way.ends.alarm, way.ends.undecided
        stream.trim()

        def hush(chunk: str) -> list[Event] | None:
            text = stream.text + chunk
            if not special(text):
                stream.text = ""
                return [echo(text)] if text else []
            hit = alarm(text)
            stop = hit.start() if hit else len(text)
            if hit and text[stop:] not in undecided:
                return None
            stop -= _overlap(text[:stop], lead, False)
            stream.text = text[stop:]
            return [echo(escaped(text[:stop]))] if stop else []

        return hush

    def _end(self, spot: Spot, look: int) -> Found[None] | int:
        """The next mark that may end the value, from `look` on, or from where on one may come."""
        stream, ends = self._stream, spot.way.ends
        if ends.entries:
            found = ends.find(stream.text, look, stream.final, spot.key)
            return (
                found
                if isinstance(found, Found) or not stream.final
                else ends.find(stream.text, look, False, spot.key)
            )
        first = spot.layout.places.find(stream.text, look, stream.final)
        outer = spot.outer.ends.find(stream.text, look, stream.final, spot.outer.key)
        places = [place.start if isinstance(place, Found) else place for place in (first, outer)]
        nearest = (first, outer)[places.index(min(places))]
        return Found(min(places), min(places), None) if isinstance(nearest, Found) else nearest

    def _goes_on(self, spot: Spot, at: int) -> int:
        """Whether the format can go on after a closing mark that ends here: NO, MORE, or a place."""
        stream = self._stream
        if not spot.way.ends.entries:
            return at
        at = blank(stream.text, at).end()  # type: ignore[union-attr]
        if at == len(stream.text):
            return at if stream.final else MORE
        if not spot.layout.places.entries and not spot.outer.ends.entries:
            return at
        text, places, outer = stream.text, spot.layout.places, spot.outer
        fitting = (places.match(text, at), outer.ends.match(text, at, outer.key))
        if MORE in fitting:
            settled = (places.settled(text, at), outer.ends.settled(text, at, outer.key))
            return at if stream.final or settled != (NO, NO) else MORE
        return NO if fitting == (NO, NO) else at


def _unquoted(key: str) -> str:
    return key[1:-1] if len(key) > 1 and key[0] in "\"'" and key[-1] == key[0] else key


def _overlap(text: str, lead: str, ended: bool) -> int:
    """How much of the end of `text` is, or may become, the frame's whitespace before a closing mark."""
    if ended or not lead:
        return len(lead) if text.endswith(lead) else 0
    return next((size for size in range(len(lead), 0, -1) if text.endswith(lead[:size])), 0)
