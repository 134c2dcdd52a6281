"""Arguments written with marks: members, items and values, read as they come and written as JSON.

A value's type may be in its text (the marks differ) or only in the tool's schema. What is certain streams: a
raw string where nothing but a string is allowed, a quoted string, a container. The rest is held to its end.
"""

from __future__ import annotations

from chatlint.limits import NESTING
from chatlint.parse.layouts import Layout, Way
from chatlint.parse.literals import Write, container, quoted, string
from chatlint.parse.markers import MORE, NO, Found, begun, fit, take
from chatlint.parse.raws import RawReader
from chatlint.parse.schemas import ANYTHING, STRING, Schema
from chatlint.parse.seams import Seam
from chatlint.parse.spots import LONGEST_KEY, NOWHERE, Outer, Spot, unquoted
from chatlint.parse.stream import Reading, Stream, blank
from chatlint.parse.values import typed

_SECTION, _SECTION_END = "<![CDATA[", "]]>"
"""XML's own marks around text that may hold any other."""


class MemberReader:
    """Reads the arguments of calls from `stream` and hands JSON text to `write`."""

    def __init__(self, stream: Stream, write: Write) -> None:
        self._stream = stream
        self._write = write
        self._raws = RawReader(stream, write)

    def arguments(self, layout: Layout, schema: Schema, opening: Seam) -> Reading[bool]:
        """All members of a call. What ends the call is left in the stream. False if a value is cut.
        `opening`: what usually stands before the first key."""
        stream, raws = self._stream, self._raws
        raws.away = False
        yield from stream.along(opening, None if layout.start.entries else raws.enter_behind(layout, schema))
        if raws.away:
            entered = True
        elif layout.start.entries:
            yield from take(stream, layout.start)
            entered = raws.enter(layout, schema)
        elif (stream.solid() or (yield from stream.skip_blank())) == "{" and fit(
            layout.places, stream, stream.at
        ) == NO:
            return (yield from container(stream, self._write))
        else:
            entered = raws.enter(layout, schema)
        if entered and not (yield from raws.resume()):
            return False
        return (yield from self._all(layout, schema, NOWHERE, 0, ", " if entered else ""))

    def _all(
        self, layout: Layout, schema: Schema, outer: Outer, depth: int, before: str = ""
    ) -> Reading[bool]:
        """Members or items until something else comes; brackets are written, not read. `before`: what is to
        be written before the next, if some were read."""
        opening, closing = "{}" if layout.keyed else "[]"
        before = before or opening
        while not self._over():
            spot = self._ahead()
            if spot is None:
                place = yield from self._place(layout, outer)
                if place == "separator":
                    continue
                if place == "end" or (place == "" and layout.before is not None) or self._spent():
                    break
                spot = yield from self._spot(layout, schema, outer, depth, before)
                before = ", "
            if spot is None or not (yield from self._value(spot)):
                return False
        self._write(opening + closing if before == opening else closing)
        return True

    def _ahead(self) -> Spot | None:
        """The spot of the next value, if its marks were read along with the last value's end."""
        spot, self._raws.ahead = self._raws.ahead, None
        return spot

    def _over(self) -> bool:
        """Whether what ends them all was read along with the last value's end."""
        over, self._raws.over = self._raws.over, False
        return over

    def _spent(self) -> bool:
        """Whether the text ended here."""
        return self._stream.final and self._stream.at == len(self._stream.text)

    def _spot(
        self, layout: Layout, schema: Schema, outer: Outer, depth: int, before: str
    ) -> Reading[Spot | None]:
        """Where the value of a member or item stands, the mark before the key or item being read; None if it
        has none."""
        key, way, inner = "", layout.plain, ANYTHING
        if layout.keyed:
            found = yield from self._key(layout)
            if found is None:
                return None
            key, way = found
            inner = schema.member(key)
            before += f"{quoted(key)}: "
        else:
            way, inner = (yield from self._item_way(layout)) or way, schema.item
        self._write(before)
        if way is None or depth == NESTING:
            return None
        return Spot.of(layout, way, key, inner, schema, outer, depth)

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
            if end - stream.at > LONGEST_KEY:
                return None
            if stream.final and not isinstance(found, Found):
                stream.at = len(stream.text)
                return None
            if isinstance(found, Found):
                key = unquoted(stream.text[stream.at : end])
                stream.at = found.end
                return key, found.what
            stream.quiet = layout.ways.waiting(stream, end)
            yield
            stream.quiet = None

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
        if way.raw and char == "<" and (yield from self._enters_section()):
            return (yield from self._sections(spot))
        if not char or spot.streams or not spot.holds_literal(char):
            return (yield from self._raws.read(spot))
        if char in "{[(":
            whole = yield from container(self._stream, self._write)
        else:
            after = "".join(mark.first[0] for mark, _ in way.ends.entries) or spot.layout.after
            whole = yield from string(self._stream, self._write, after)
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
