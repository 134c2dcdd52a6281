"""What a user of a format holds: text in, events or a message out."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chatlint.conversation import JSON, Tool
from chatlint.errors import UsageError, require
from chatlint.parse.events import ArgumentsDelta, Draft, Event
from chatlint.parse.known import PLAIN
from chatlint.parse.machine import Machine
from chatlint.parse.message import assemble
from chatlint.parse.schemas import Tools
from chatlint.parse.stream import Stream

if TYPE_CHECKING:
    from chatlint.parse.formats import OutputFormat


_UNREAD = Stream()
"""In place of a machine's own while there is none: knows no chunk, and has no short way."""


class OutputParser:
    """Reads one turn of a model: `feed` its text as it comes, then `finish`; or `parse` a whole text.

    Not for several threads at once. Made by `OutputFormat.parser`.
    """

    def __init__(
        self,
        output: OutputFormat,
        *,
        tools: Sequence[Tool] | None = None,
        generation_prompt: str = "",
        reasoning: bool = True,
    ) -> None:
        require(generation_prompt, str, "generation_prompt", hint='the text a prompt ends with; "" for none')
        self._settings = (output, Tools(tools), generation_prompt, reasoning)
        self._begin()

    def _begin(self) -> None:
        self._made: Machine | None = None
        self._stream = _UNREAD
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._finished = False

    @property
    def _machine(self) -> Machine:
        """Made when something is fed: a parser may only be asked for whole texts."""
        if self._made is None:
            self._made = Machine(*self._settings)
            self._stream = self._made.stream
        return self._made

    def anew(self) -> OutputParser:
        """A parser for another turn that begins alike: the same format, tools and prompt, nothing fed."""
        other = OutputParser.__new__(OutputParser)
        other._settings = self._settings
        other._begin()
        return other

    def feed(self, chunk: str) -> list[Event]:
        """The events that `chunk` settles, maybe none.

        Raises UsageError after `finish`, and for what is no text.
        """
        stream = self._stream
        try:
            step = stream.known.get(chunk)
            if step is not None:  # most chunks; so this is written out
                if step is PLAIN:
                    said: str | None = chunk
                else:
                    prose, said, waits, stream.known = step
                    if said is None:
                        return stream.slide(chunk, waits)
                    stream.text = waits
                    if prose is not None:
                        stream.last = prose.text
                        return [prose]
                if not said:
                    return []
                if stream.hold is not None:
                    stream.hold(said)
                    return []
                event = Draft()
                event.index = stream.index
                event.text = said
                event.__class__ = ArgumentsDelta  # type: ignore[assignment]
                return [event]  # type: ignore[list-item]
            quiet = stream.quiet
            if quiet is not None and (events := quiet(chunk)) is not None:
                return events
            if self._finished:
                raise UsageError("this parser has finished", hint="make a new one for the next turn")
            return self._machine.advance(chunk)
        except (TypeError, AttributeError):  # asked only then: most chunks are a few characters
            require(chunk, str, "chunk", hint="`feed_bytes` takes UTF-8")
            raise

    def feed_bytes(self, chunk: bytes) -> list[Event]:
        """As `feed`, for UTF-8. An incomplete sequence at the end of a chunk waits for its rest; bytes that
        are no UTF-8 become U+FFFD."""
        try:
            text = self._decode(chunk)
        except TypeError:
            require(chunk, bytes, "chunk", hint="`feed` takes texts")
            raise
        return self.feed(text)

    def finish(self) -> list[Event]:
        """The last events: no more text comes. A second time: none."""
        if self._finished:
            return []
        events = self.feed(self._decode(b"", True))
        self._finished = True
        return events + self._machine.finish()

    def parse(self, text: str) -> dict[str, JSON]:
        """The message that a whole text is: `{"role", "content", "reasoning_content", "tool_calls"}` in the
        shape of OpenAI's chat completions; arguments are a JSON string, an id is "" where the format has
        none. Independent of what was fed."""
        require(text, str, "text")
        machine = Machine(*self._settings)
        return assemble([*machine.advance(text), *machine.finish()])

    @property
    def guessed(self) -> bool:
        """Whether reasoning or a call was read by a guess, since the format has none."""
        return self._machine.guessed

    @property
    def cut(self) -> bool:
        """Whether a call's arguments broke off."""
        return self._machine.cut
