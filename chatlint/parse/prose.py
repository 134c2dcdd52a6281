"""Reasoning and content on their way out: what was said since the last mark, how the next text is said."""

from __future__ import annotations

from typing import TypeVar

from chatlint.parse.events import Event, Scribe, content_of, reasoning_of
from chatlint.parse.known import NOTHING
from chatlint.parse.markers import MarkerSet
from chatlint.parse.stream import BLANKS, Stream

T = TypeVar("T")
_SENTENCE_ENDS = frozenset(".!?:;…。！？：；)]}>\"'`*»”’")
_OPENING_QUOTES = frozenset("`“‘«([{")


class Prose:
    """The prose at hand."""

    __slots__ = (
        "_content_said", "_scribe", "_stream", "apart", "fresh", "in_reasoning", "literal", "marked",
        "wrapped",
    )  # fmt: skip

    def __init__(self, stream: Stream, scribe: Scribe, *, apart: bool, marked: bool) -> None:
        self._stream = stream
        self._scribe = scribe
        self.apart = apart
        """Whether reasoning is set apart; else it is said as content, its marks too."""
        self.in_reasoning = False
        self.wrapped = False
        """Whether content was opened by a mark."""
        self.fresh = True
        """Whether nothing was said since the last mark."""
        self.marked = marked
        """Whether there was a mark: then whitespace before the first word belongs to it."""
        self.literal = False
        """Whether an opener stands in it as text: then its closer is text too."""
        self._content_said = False

    def say(self, text: str) -> None:
        """More of it. Whitespace after a mark is the mark's, unless it parts two pieces of content."""
        if self.fresh and self.marked:
            words = text.lstrip()
            text = text if words and self._content_said and not self.in_reasoning else words
        if not text:
            return
        self.fresh = False
        self._stream.last = self._stream.last[-1:] + text
        if self.in_reasoning and self.apart:
            self._scribe.reasoning(text)
        else:
            self._content_said = True
            self._scribe.content(text)

    def pause(self, marks: MarkerSet[T]) -> None:
        """Leaves the short way: `marks.alarm` finds no beginning of a mark in what waits and a chunk, or one
        at the very end that is `undecided`, and then waits."""
        stream, alarm, undecided = self._stream, marks.alarm, marks.undecided
        delta = reasoning_of if self.in_reasoning and self.apart else content_of
        way = delta, marks

        def hush(chunk: str) -> list[Event] | None:
            text = stream.text + chunk
            hit = alarm(text)
            before = text
            if hit:
                before = text[: hit.start()]
                if text[len(before) :] not in undecided:
                    return None
            said = before.rstrip()
            if len(before) - len(said) > BLANKS:
                return None
            rest = text[len(said) :]
            if not said:
                stream.settle(chunk, None, "", rest, way)
                return []
            event = delta(said)
            if said == '"' or said == "'":  # what it is depends on what was said before: see `mentions`
                stream.text = rest
                stream.known = NOTHING
                stream.last = stream.last[-1:] + said
            else:
                stream.settle(chunk, event, "", rest, way)
                stream.last = said
            return [event]

        stream.pause(hush, way)

    def after_mark(self) -> None:
        """A mark was passed; the next prose begins."""
        self.fresh = self.marked = True
        self.literal = False
        self._stream.last = ""

    def mentions(self, waiting: str) -> bool:
        """Whether a mark that follows `waiting` is spoken about, not used: it stands in the middle of a
        sentence, or a quotation opens before it. `waiting` is what is not said yet."""
        if self.fresh and not waiting.strip():
            return False
        text = self._stream.last[-80:] + waiting[-80:]
        if text[-1:] in _OPENING_QUOTES or (text[-1:] in ("'", '"') and not text[-2:-1].strip()):
            return True
        words = text.rstrip()
        gap = text[len(words) :]
        return bool(gap) and "\n" not in gap and words[-1:] not in _SENTENCE_ENDS
