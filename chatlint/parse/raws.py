"""Raw values: text between marks, to the closing mark after which the format can go on.

Any other closing mark is the value's own text. Where nothing but a string is allowed the value streams; else
it is held to its end, since only then it is certain what it is. Where a value ends as most do, with the seam
to the next (`seams.py`), the reader goes on to that one by itself, between chunks too: it is then a small
machine whose state is the value at hand. Whatever is not usual is left to the readers in `members.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from chatlint.parse.events import Event, arguments_of
from chatlint.parse.layouts import Layout
from chatlint.parse.literals import Write, escaped
from chatlint.parse.markers import MORE, NO, Found
from chatlint.parse.schemas import Schema
from chatlint.parse.seams import past_blank
from chatlint.parse.spots import LONGEST_KEY, NOWHERE, Spot
from chatlint.parse.stream import Reading, Stream, blank
from chatlint.parse.values import literal, typed

_LONG = 128
"""From so many characters on text is long."""

GO, OVER = 0, 1
"""Beside NO and MORE: what was read is usual, and there may be more to read; it is, and nothing follows."""


class RawReader:
    """Reads the raw values of calls, JSON text going to `write`."""

    __slots__ = (
        "_at", "_first", "_held", "_holds", "_json", "_moved", "_spot", "_stream", "_verdict", "_write",
        "ahead", "away", "over",
    )  # fmt: skip

    def __init__(self, stream: Stream, write: Write) -> None:
        self._stream = stream
        self._write = write
        self._spot: Spot
        """Where the value at hand stands."""
        self._holds = False
        """Whether it does not stream."""
        self._held: list[str] = []
        """What has come of it then."""
        self._first: Spot | None = None
        """The spot of the first value of the last call."""
        self.ahead: Spot | None = None
        """The next value, if its marks were read along with the end of the last one, and it has not begun."""
        self.away = False
        """Whether the short way has entered by itself."""
        self.over = False
        """Whether what ends all members was seen behind the last value."""
        self._at = 0
        """How far the text was taken."""
        self._moved = False
        """Whether that is past the end of the value that was at hand."""
        self._json = ""
        """The JSON of what was."""
        self._verdict = MORE
        """Why no further: MORE must come, or NO, it is unusual, or all are OVER."""

    def enter(self, layout: Layout, schema: Schema) -> bool:
        """Passes the marks before the first value, if they stand here as usual: it is then `ahead`."""
        stream = self._stream
        before = self._enter(layout, schema, stream.text, stream.at)
        if before:
            self._write(before)
            stream.at = self._at
        return before != ""

    def _enter(self, layout: Layout, schema: Schema, text: str, at: int) -> str:
        """The same; the JSON before the value, "" if they do not."""
        if not layout.first or not text.startswith(layout.first, at):
            return ""
        at += len(layout.first)
        found = layout.ways.find(text, at, False)
        if not isinstance(found, Found) or found.start - at > LONGEST_KEY:
            return ""
        first = self._first
        if first is None or first.layout is not layout or first.around is not schema:
            first = self._first = Spot.of(layout, found.what, "", schema, schema, NOWHERE, 0)
        self._spot, before = first.next(found.what, text[at : found.start])
        self.ahead, self._at = self._spot, found.end
        return "{" + before.removeprefix(", ")

    def enter_behind(self, layout: Layout, schema: Schema) -> Callable[[str], list[Event] | None]:
        """For `Stream.along`: enters where these marks have come, and goes on as far as all is usual; then
        `away` is set."""

        def begin(text: str) -> list[Event] | None:
            before = self._enter(layout, schema, text, past_blank(text, 0))
            if not before:
                return None
            self._take(text, self._at)
            if self._verdict != MORE:
                self.ahead, self.over = None, False
                return None
            self.away = True
            self._stream.text = text[self._at :]
            self._pause()
            return [arguments_of(self._stream.index, before + self._json)]

        return begin

    def read(self, spot: Spot) -> Reading[bool]:
        """The value that begins here and its closing mark, and those that follow as usual."""
        out: list[str] = []
        self._start(spot, out)
        self._verdict = MORE
        self._write("".join(out))
        return (yield from self.resume())

    def resume(self) -> Reading[bool]:
        """Goes on with the value at hand, or ahead, up to one that is not raw and is left `ahead`, to one
        that ends in no usual way, or until all are `over`. False if the text ends before a value begins."""
        stream = self._stream
        while not self.over:
            usual = stream.patient and bool(self._spot.way.ends.entries)
            before = stream.at
            if usual:
                self._take_what_came()
            if self._verdict != MORE or not usual:
                if self._verdict == OVER or self.ahead is not None:
                    break
                if self._ended():
                    return self._finish()
                if usual and stream.at > before:
                    continue
            yield
            stream.quiet = None
        return True

    def _start(self, spot: Spot, out: list[str]) -> None:
        """The value of a spot begins."""
        self._spot, self.ahead, self._moved = spot, None, True
        self._holds = not spot.streams
        if self._holds:
            self._held = []
        else:
            out.append('"')

    # Value after value, as the format usually writes them

    def _take_what_came(self) -> None:
        """Takes what has come as far as it is usual, and leaves the short way for what will."""
        stream = self._stream
        self._take(stream.text, stream.at)
        stream.at = self._at
        if self._json:
            self._write(self._json)
        if self._verdict == MORE:
            stream.trim()
            self._pause()

    def _pause(self) -> None:
        """Leaves the short way. Where something is unusual it wakes the readers."""
        way = self._spot.way
        known = None if self.ahead else (way.closing, way.seam, self._holds)
        self._stream.pause(self._hush, known, self._held.append if self._holds else None)

    def _hush(self, chunk: str) -> list[Event]:
        """More of the value at hand, or of what stands before the one ahead."""
        stream = self._stream
        text = stream.text + chunk
        if self.ahead is None and self._spot.way.closing(text) is None:
            said = text if self._holds else escaped(text)
            stream.settle(chunk, None, said, "", stream.known.way)
            return stream.say(said)
        self._take(text, 0)
        if self._verdict != MORE:
            stream.text = text[self._at :]
            if self._json:
                self._write(self._json)
            return stream.wake("")
        if self._moved or self.ahead:
            stream.text = text[self._at :]
            self._pause()
        else:
            said = text[: self._at] if self._holds else self._json
            stream.settle(chunk, None, said, text[self._at :], stream.known.way)
        return [arguments_of(stream.index, self._json)] if self._json else []

    def _take(self, text: str, at: int) -> None:
        """Takes text from a place on, as far as it is usual."""
        out: list[str] = []
        self._at, self._moved, verdict = at, False, GO
        while verdict == GO:
            verdict = self._begin(self.ahead, text, out) if self.ahead else self._go_on(text, out)
        self._json, self._verdict = "".join(out), verdict

    def _begin(self, spot: Spot, text: str, out: list[str]) -> int:
        """The beginning of the value ahead, if it is raw."""
        at, way, trail = self._at, spot.way, spot.way.trail
        if way.layout or (way.raw and spot.layout.nested) or not way.ends.entries:
            return NO
        if not way.raw:
            at = blank(text, at).end()  # type: ignore[union-attr]
        elif text.startswith(trail, at):
            at += len(trail)
        elif trail.startswith(text[at : at + len(trail)]):
            return MORE
        char = text[at : at + 1]
        if not char:
            return MORE
        if (way.raw and char == "<") or spot.holds_literal(char):
            return NO
        self._at = at
        self._start(spot, out)
        return GO

    def _go_on(self, text: str, out: list[str]) -> int:
        """The value at hand, and those that follow it as usual, up to what may be the end of one."""
        while True:
            at, spot = self._at, self._spot
            way = spot.way
            hit = way.closing(text, at if len(text) - at < _LONG else self._far(text, at))
            stop = self._at = hit.start() if hit else len(text)
            if stop > at:
                if self._holds:
                    self._held.append(text[at:stop])
                else:
                    out.append(escaped(text[at:stop]))
            if not hit:
                return MORE
            joint = way.joint.match(text, stop) if way.joint and not spot.outer.ends.entries else None
            if joint is None:
                return self._leave(text, out)
            self._at = joint.end()
            out.append(self._closing() if self._holds else '"')
            following, before = spot.next(way.follower or way, joint[1])
            out.append(before)
            if joint[2] is None:
                self.ahead, self._moved = following, True
                return GO
            self._start(following, out)

    def _leave(self, text: str, out: list[str]) -> int:
        """The end of the value at hand, where it is not all of the usual that has come."""
        spot, way, stop = self._spot, self._spot.way, self._at
        if not spot.outer.ends.entries:
            if way.joins and text.startswith(way.seam.text, stop) and self._pass_seam(text, out):
                return GO
            if way.over and text.startswith(way.over, stop):
                out.append(self._closing())
                self._at += way.ended
                self.over = True
                return OVER
        return MORE if way.seam.begun(text, stop) else NO

    def _far(self, text: str, at: int) -> int:
        """Somewhere before the first closing mark in a long text: a search for it alone is quicker."""
        way = self._spot.way
        hit = way.ends.alarm(text, at)
        return max(at, (hit.start() if hit else len(text)) - len(way.lead))

    def _pass_seam(self, text: str, out: list[str]) -> bool:
        """The seam that stands here, the key behind it and the mark after that. False if not all has come."""
        spot, layout = self._spot, self._spot.layout
        at = self._at + len(spot.way.seam.text)
        found = layout.ways.find(text, at, False)
        if not isinstance(found, Found) or found.start - at > LONGEST_KEY:
            return False
        if layout.before is None and layout.places.match(text, at) != NO:
            return False
        self.ahead, before = spot.next(found.what, text[at : found.start])
        out += (self._closing(), before)
        self._at, self._moved = found.end, True
        return True

    def _closing(self) -> str:
        """The JSON of the value at hand, or what is left to say of it."""
        if not self._holds:
            return '"'
        spot, text = self._spot, "".join(self._held)
        known = None if spot.way.raw else literal(text)
        return known or typed(text if spot.way.raw else text.strip(), spot.schema.types)

    # One value, however it ends

    def _ended(self) -> bool:
        """Takes text up to what may end the value, by all the rules; whether it ended, its mark passed."""
        stream, lead = self._stream, self._spot.way.lead
        while True:
            found = self._end()
            verdict = self._goes_on(found.end) if isinstance(found, Found) else MORE
            if verdict != NO or not isinstance(found, Found):
                break
            self._part(found.start + 1)
        stop = found.start if isinstance(found, Found) else found
        ended = verdict != MORE or stream.final
        self._part(stop - _overlap(stream.text[stream.at : stop], lead, ended))
        if ended:
            stream.at = found.end if isinstance(found, Found) else len(stream.text)
        elif isinstance(found, Found) and not self._spot.outer.ends.entries:
            at = blank(stream.text, found.end).end()  # type: ignore[union-attr]
            stream.quiet = self._spot.layout.places.waiting(stream, at, inside=False)
        return ended

    def _part(self, stop: int) -> None:
        """Takes the value's text up to a place."""
        stream = self._stream
        text = stream.text[stream.at : stop]
        stream.at = stop
        if self._holds:
            self._held.append(text)
        elif text:
            self._write(escaped(text))

    def _finish(self) -> bool:
        """The end of the value; False if the text ended before it began."""
        stream = self._stream
        spent = stream.final and stream.at == len(stream.text)
        if spent and self._holds and not "".join(self._held).strip():
            return False
        self._write(self._closing())
        return True

    def _end(self) -> Found[None] | int:
        """The next mark that may end the value, or from where on one may come."""
        stream, spot = self._stream, self._spot
        text, at, final, ends = stream.text, stream.at, stream.final, spot.way.ends
        if ends.entries:
            found = ends.find(text, at, final, spot.key)
            return found if isinstance(found, Found) or not final else ends.find(text, at, False, spot.key)
        first = spot.layout.places.find(text, at, final)
        outer = spot.outer.ends.find(text, at, final, spot.outer.key)
        places = [place.start if isinstance(place, Found) else place for place in (first, outer)]
        nearest = (first, outer)[places.index(min(places))]
        return Found(min(places), min(places), None) if isinstance(nearest, Found) else nearest

    def _goes_on(self, at: int) -> int:
        """Whether the format can go on after a closing mark that ends here: NO, MORE, or a place."""
        stream, spot = self._stream, self._spot
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


def _overlap(text: str, lead: str, ended: bool) -> int:
    """How much of the end of `text` is, or may become, the frame's whitespace before a closing mark."""
    if ended or not lead:
        return len(lead) if text.endswith(lead) else 0
    return next((size for size in range(len(lead), 0, -1) if text.endswith(lead[:size])), 0)
