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

T = TypeVar("T")
Quiet: TypeAlias = Callable[[str], list[Event] | None]
"""What a chunk amounts to where nothing in it matters to the reader at work; None if something may."""
Reading: TypeAlias = Generator[None, None, T]
"""A reader at work: yields when it needs more text, returns T."""

BLANKS = 64
"""Longest run of whitespace that counts as part of a mark."""

blank = re.compile(rf"\s{{0,{BLANKS}}}").match


class Stream:
    """Unused text. `final` says that no more will come."""

    __slots__ = ("_keeping", "_kept", "at", "echo", "final", "quiet", "taken", "text")

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.final = False
        self.taken = ""
        """The mark that was passed last, as it stood in the text."""
        self.quiet: Quiet | None = None
        """The short way for the next chunk, set by a reader for as long as it is paused."""
        self.echo: Callable[[str], Event] | None = None
        """What text becomes that a reader passes on unchanged; None where it must go through the reader."""
        self._kept: list[str] = []
        self._keeping = False

    def push(self, chunk: str) -> None:
        """Drops what is used, adds `chunk`."""
        if self.at:
            if self._keeping:
                self._kept.append(self.text[: self.at])
            self.text = self.text[self.at :] + chunk
            self.at = 0
        else:
            self.text += chunk

    def keep(self) -> None:
        """From here on, used text is kept, so that `rewind` can come back."""
        self.text = self.text[self.at :]
        self.at = 0
        self._kept.clear()
        self._keeping = True

    def rewind(self) -> None:
        """Back to where `keep` was called."""
        if self._kept:
            self.text = "".join(self._kept) + self.text
        self.at = 0
        self.release()

    def release(self) -> None:
        """No way back is needed any more."""
        self._kept.clear()
        self._keeping = False

    def pause(self, special: Callable[[str], object]) -> Reading[None]:
        """Waits for more, inside text that is passed on as it is until `special` finds something."""
        echo = self.echo
        if echo is not None:
            self.quiet = lambda chunk: None if special(chunk) or not chunk else [echo(chunk)]
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
            end = blank(self.text, self.at).end()  # type: ignore[union-attr]
            if end < len(self.text) or self.final:
                self.at = end
                return self.text[end : end + 1]
            yield
