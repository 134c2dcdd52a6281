"""The text on its way through the machine: what has come and is not used up yet.

Readers are generators over one `Stream`: they look at `text` from `at` on, move `at` over what they have
used, and `yield` when they cannot decide without more. Then `push` drops what is used and adds the next
chunk. What a reader leaves unused is therefore looked at again; each leaves no more than a bounded rest (a
mark's length), which is what makes the machine linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Hashable
from typing import TypeAlias, TypeVar

from chatlint.parse.events import ContentDelta, Event, ReasoningDelta, arguments_of
from chatlint.parse.known import CHUNK, NOTHING, PLAIN, Known, Step, memory
from chatlint.parse.seams import Seam

T = TypeVar("T")
Quiet: TypeAlias = Callable[[str], list[Event] | None]
"""What a chunk amounts to where nothing in it matters to the reader at work; None if something may."""
Reading: TypeAlias = Generator[None, None, T]
"""A reader at work: yields when it needs more text, returns T."""

BLANKS = 64
"""Longest run of whitespace that counts as part of a mark."""
_VARIES = 64
"""Longest text that is one of a kind, in characters."""

blank = re.compile(rf"\s{{0,{BLANKS}}}").match


def _asleep(_chunk: str) -> list[Event]:
    return []


class Stream:
    """Unused text. `final` says that no more will come."""

    __slots__ = (
        "_from", "_keeping", "_kept", "at", "direct", "final", "hold", "index", "known", "last",
        "left", "patient", "quiet", "taken", "text", "wake",
    )  # fmt: skip

    def __init__(self, wake: Callable[[str], list[Event]] = _asleep) -> None:
        self.text = ""
        self.at = 0
        self.final = False
        self.patient = True
        """Whether a seam that has begun is waited for; not once the text is at its end."""
        self.taken = ""
        """The mark that was passed last, as it stood in the text."""
        self.quiet: Quiet | None = None
        """The short way for the next chunk, set by a reader for as long as it is paused."""
        self.known = NOTHING
        """The chunks for which the short way need not be asked."""
        self.left = NOTHING
        """What `known` was when the readers were woken."""
        self.last = ""
        """The end of the prose said since the last mark, as far as it tells whether a mark is mentioned."""
        self.index = 0
        """The call at hand, whose arguments are what the short way says."""
        self.hold: Callable[[str], None] | None = None
        """Takes that text, where it is not said yet."""
        self.direct: Callable[[str], None] | None = None
        """Takes the arguments of the call at hand."""
        self.wake = wake
        """Has the readers go on, for a short way that finds something in the middle of a chunk."""
        self._from = 0
        self._kept: list[str] = []
        self._keeping = False

    def rest(self) -> None:
        """Nobody will be woken again. A stream that held who reads it would stay until it is collected."""
        self.wake = _asleep
        self.quiet = self.hold = self.direct = None
        self.known = NOTHING

    def push(self, chunk: str) -> None:
        """Drops what is used, adds `chunk`."""
        if not self.at:
            self.text += chunk
            return
        if self._keeping:
            self._kept.append(self.text[self._from : self.at])
            self._from = 0
        self.text = self.text[self.at :] + chunk
        self.at = 0

    def keep(self, ahead: int = 0) -> None:
        """From here, or some characters on, used text is kept, so that `rewind` can come back."""
        self._kept.clear()
        self._from = self.at + ahead
        self._keeping = True

    def rewind(self) -> None:
        """Back to where `keep` was called."""
        if self._kept:
            self.text = "".join(self._kept) + self.text
            self.at = 0
        else:
            self.at = self._from
        self.release()

    def release(self) -> None:
        """No way back is needed any more."""
        self._kept.clear()
        self._keeping = False

    def trim(self) -> None:
        """Drops what is used, so that `text` is what waits."""
        self.text = self.text[self.at :]
        self.at = 0

    def pause(self, quiet: Quiet, way: Hashable = None, hold: Callable[[str], None] | None = None) -> None:
        """Leaves the short way for what comes, the text being what waits. `way`: all that it goes by besides,
        if what it settles may be remembered. `hold`: takes what it says, if that is held."""
        self.quiet = quiet
        self.hold = hold
        self.known = NOTHING if way is None else memory.at(way, self.text)

    def settle(
        self,
        chunk: str,
        prose: ContentDelta | ReasoningDelta | None,
        said: str,
        waits: str,
        way: Hashable,
        kind: str = "",
    ) -> None:
        """Notes what the short way makes of a chunk: what is said, what waits then, who reads on. `kind`: an
        example of what waits, if any other of its kind would do as well."""
        here = self.known
        after = here.states.get(kind or waits) if way is here.way else None
        if after is None:
            after = memory.at(way, kind or waits, kind != "")
        step: Step | None = (prose, said, waits, after)
        if here.varies:
            step = self._relative(chunk, said, waits, after)
        elif said == chunk and after is here and prose is None and not waits:
            step = PLAIN
        if step is not None and len(chunk) <= CHUNK and here is not NOTHING:
            if memory.left <= 0:
                memory.forget()
            memory.left -= 1
            here[chunk] = step
        self.known = after
        self.text = waits

    def _relative(self, chunk: str, said: str, waits: str, after: Known) -> Step | None:
        """The step out of a state that varies, if it is the same whatever waits here."""
        text = self.text + chunk
        if said and said + waits == text and len(waits) < len(chunk) + (not after.varies):
            return None, None, waits, after
        return (None, None, "", after) if after is self.known and waits == text else None

    def say(self, text: str) -> list[Event]:
        """What becomes of a piece of the arguments."""
        if self.hold is not None:
            self.hold(text)
            return []
        return [arguments_of(self.index, text)] if text else []

    def slide(self, chunk: str, waits: str) -> list[Event]:
        """What a known chunk amounts to where what waits varies."""
        text, known = self.text + chunk, self.known
        if known.varies and not waits:
            self.text = text
            if len(text) > _VARIES:
                self.known = Known(known.way, known.states, True)
            return []
        self.text = waits
        return self.say(text[: len(text) - len(waits)])

    def until(self, stop: Callable[[str], object], most: int) -> Quiet:
        """The short way for a reader that waits for a chunk in which `stop` finds something, with at most so
        many characters."""

        def wait(chunk: str) -> list[Event] | None:
            if stop(chunk) or len(self.text) - self.at + len(chunk) > most:
                return None
            self.text += chunk
            return []

        return wait

    def along(self, seam: Seam, then: Callable[[str], list[Event] | None] | None = None) -> Reading[None]:
        """Waits while what comes is the beginning of a seam. `then` may take what has come when it is no
        longer, and leave a short way of its own."""
        begun, beginnings, taken = seam.begun, seam.beginnings, False

        def wait(chunk: str) -> list[Event] | None:
            nonlocal taken
            text = self.text + chunk
            if text in beginnings or begun(text, 0):
                self.settle(chunk, None, "", text, seam)
                return []
            events = then(text) if then else None
            taken = events is not None
            return events

        while self.patient and begun(self.text, self.at) and not taken:
            self.trim()
            self.pause(wait, seam)
            yield
            self.quiet = None

    def peek(self) -> Reading[str]:
        """The next character, "" at the end."""
        while self.at == len(self.text) and not self.final:
            yield
        return self.text[self.at : self.at + 1]

    def skip_blank(self) -> Reading[str]:
        """Uses up whitespace (at most `BLANKS`) and waits for what follows it. Returns the next character, ""
        at the end."""
        while True:
            char = self.solid()
            if char or self.final:
                return char
            yield

    def solid(self) -> str:
        """Uses up whitespace that is followed by something; returns that, "" if nothing has come."""
        text, at = self.text, self.at
        char = text[at : at + 1]
        if "!" <= char <= "~":
            return char
        end = blank(text, at).end()  # type: ignore[union-attr]
        if end == len(text) and not self.final:
            return ""
        self.at = end
        return text[end : end + 1]
