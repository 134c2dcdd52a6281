"""The text on its way through the machine: what has come and is not used up yet.

Readers are generators over one `Stream`: they look at `text` from `at` on, move `at` over what they have
used, and `yield` when they cannot decide without more. Then `push` drops what is used and adds the next
chunk. What a reader leaves unused is therefore looked at again; each leaves no more than a bounded rest (a
mark's length), which is what makes the machine linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

from chatlint.parse.events import Event
from chatlint.parse.seams import Seam

T = TypeVar("T")
Quiet: TypeAlias = Callable[[str], list[Event] | None]
"""What a chunk amounts to where nothing in it matters to the reader at work; None if something may."""
Reading: TypeAlias = Generator[None, None, T]
"""A reader at work: yields when it needs more text, returns T."""

BLANKS = 64
"""Longest run of whitespace that counts as part of a mark."""

blank = re.compile(rf"\s{{0,{BLANKS}}}").match


def _asleep(_chunk: str) -> list[Event]:
    return []


class Stream:
    """Unused text. `final` says that no more will come."""

    __slots__ = (
        "_from", "_keeping", "_kept", "at", "direct", "echo", "final", "patient", "quiet", "taken", "text",
        "wake",
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
        self.echo: Callable[[str], Event] | None = None
        """What text becomes that is written to `direct`; None where there is no call to write to."""
        self.direct: Callable[[str], None] | None = None
        """Takes the arguments of the call at hand."""
        self.wake = wake
        """Has the readers go on, for a short way that finds something in the middle of a chunk."""
        self._from = 0
        self._kept: list[str] = []
        self._keeping = False

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

    def until(self, stop: Callable[[str], object], most: int) -> Quiet:
        """The short way for a reader that waits for a chunk in which `stop` finds something, with at most so
        many characters."""

        def wait(chunk: str) -> list[Event] | None:
            if stop(chunk) or len(self.text) - self.at + len(chunk) > most:
                return None
            self.text += chunk
            return []

        return wait

    def along(self, seam: Seam) -> Reading[None]:
        """Waits while what comes is the beginning of a seam."""
        begun, beginnings = seam.begun, seam.beginnings

        def wait(chunk: str) -> list[Event] | None:
            text = self.text + chunk
            if text not in beginnings and not begun(text, 0):
                return None
            self.text = text
            return []

        while self.patient and begun(self.text, self.at):
            self.trim()
            self.quiet = wait
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
