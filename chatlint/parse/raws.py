"""Raw values: text between marks, to the closing mark after which the format can go on.

Any other closing mark is the value's own text. Where nothing but a string is allowed the value streams; else
it is held to its end, since only then it is certain what it is. Where a value ends as most do, with the seam
to the next (`seams.py`), the reader goes on to that one by itself, between chunks too: it is then a small
machine whose state is the value at hand. Whatever is not usual is left to the readers in `members.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from chatlint.parse.events import Event
from chatlint.parse.layouts import Layout
from chatlint.parse.literals import Write, escaped, literal, quoted, typed
from chatlint.parse.markers import MORE, NO, Found
from chatlint.parse.schemas import Schema
from chatlint.parse.spots import LONGEST_KEY, NOWHERE, Spot, unquoted
from chatlint.parse.stream import Quiet, Reading, Stream, blank

Echo: TypeAlias = Callable[[str], Event]
_LONG = 128
"""From so many characters on text is long."""

GO, OVER = 0, 1
"""Beside NO and MORE: what was read is usual, and there may be more to read; it is, and nothing follows."""


class RawReader:
    """Reads raw values of one call, JSON text going to `write`. `echo`: what becomes of text that is said at
    once."""

    __slots__ = (
        "_at", "_echo", "_held", "_json", "_spot", "_stream", "_verdict", "_write", "ahead", "over",
    )  # fmt: skip

    def __init__(self, stream: Stream, write: Write, echo: Echo) -> None:
        self._stream = stream
        self._write = write
        self._echo = echo
        self._spot: Spot
        """Where the value at hand stands."""
        self._held: list[str] | None = None
        """What has come of it, if it does not stream."""
        self.ahead: Spot | None = None
        """The next value, if its marks were read along with the end of the last one, and it has not begun."""
        self.over = False
        """Whether what ends all members was seen behind the last value."""
        self._at = 0
        """How far the text was taken."""
        self._json = ""
        """The JSON of what was."""
        self._verdict = MORE
        """Why no further: MORE must come, or NO, it is unusual, or all are OVER."""

    def enter(self, layout: Layout, schema: Schema) -> bool:
        """Passes the marks before the first value, if they stand here as usual: it is then `ahead`."""
        stream, at = self._stream, self._stream.at + len(layout.first)
        if not layout.first or not stream.text.startswith(layout.first, stream.at):
            return False
        found = layout.ways.find(stream.text, at, False)
        if not isinstance(found, Found) or found.start - at > LONGEST_KEY:
            return False
        key = unquoted(stream.text[at : found.start])
        self._spot = self.ahead = Spot(layout, found.what, key, schema.member(key), schema, NOWHERE, 0)
        self._write(f"{{{quoted(key)}: ")
        stream.at = found.end
        return True

    def read(self, spot: Spot) -> Reading[bool]:
        """The value that begins here and its closing mark, and those that follow as usual."""
        self._start(spot)
        if spot.streams:
            self._write('"')
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

    def _start(self, spot: Spot) -> None:
        self._spot, self.ahead, self._verdict = spot, None, MORE
        self._held = None if spot.streams else []

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
            stream.quiet = self._quiet()

    def _quiet(self) -> Quiet:
        """The short way. Where something is unusual it wakes the readers."""
        stream, heed, echo, special = self._stream, self._heed, self._echo, self._spot.way.special

        def hush(chunk: str) -> list[Event]:
            text = stream.text + chunk
            if special(text):
                return heed(text)
            stream.text = ""
            return [echo(text)] if text else []

        return hush if self._held is None and self.ahead is None else self._stir

    def _stir(self, chunk: str) -> list[Event]:
        text = self._stream.text + chunk
        return self._heed(text) if self.ahead is None else self._go_through(text)

    def _heed(self, text: str) -> list[Event]:
        """More of the value at hand, with something in it that may be more than its text."""
        stream, way, stop = self._stream, self._spot.way, 0
        rest = text
        if text not in way.seam.beginnings:
            hit = way.closing(text)
            stop = hit.start() if hit else len(text)
            rest = text[stop:]
            if hit and rest not in way.seam.beginnings:
                return self._go_through(text)
        stream.text = rest
        if self._held is not None:
            self._held.append(text[:stop])
            return []
        return [self._echo(escaped(text[:stop]))] if stop else []

    def _go_through(self, text: str) -> list[Event]:
        """Text in which the value at hand may end, or with which the one ahead begins."""
        stream, seam = self._stream, self._spot.way.seam
        if self.ahead is None and text.startswith(seam.text) and seam.begun(text, 0):
            stream.text = text
            return []
        self._take(text, 0)
        stream.text = text[self._at :]
        if self._verdict == MORE:
            stream.quiet = self._quiet()
            return [self._echo(self._json)] if self._json else []
        if self._json:
            self._write(self._json)
        return stream.wake("")

    def _take(self, text: str, at: int) -> None:
        """Takes text from a place on, as far as it is usual."""
        out: list[str] = []
        self._at, self._verdict = at, GO
        while self._verdict == GO:
            self._verdict = self._begin(self.ahead, text, out) if self.ahead else self._go_on(text, out)
        self._json = "".join(out)

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
        self._start(spot)
        if self._held is None:
            out.append('"')
        return GO

    def _go_on(self, text: str, out: list[str]) -> int:
        """The value at hand, up to what may be its end, and the seam, if one is there."""
        at, way = self._at, self._spot.way
        hit = way.closing(text, at if len(text) - at < _LONG else self._far(text, at))
        stop = self._at = hit.start() if hit else len(text)
        if self._held is not None:
            self._held.append(text[at:stop])
        elif stop > at:
            out.append(escaped(text[at:stop]))
        if not hit:
            return MORE
        if not self._spot.outer.ends.entries:
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
        key = unquoted(text[at : found.start])
        out += (self._closing(), f", {quoted(key)}: ")
        self.ahead = spot.next(found.what, key)
        self._at = found.end
        return True

    def _closing(self) -> str:
        """The JSON of the value at hand, or what is left to say of it."""
        if self._held is None:
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
        if self._held is not None:
            self._held.append(text)
        elif text:
            self._write(escaped(text))

    def _finish(self) -> bool:
        """The end of the value; False if the text ended before it began."""
        stream = self._stream
        spent = stream.final and stream.at == len(stream.text)
        if spent and self._held is not None and not "".join(self._held).strip():
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
