"""The same message in every chunking: events add up to what the whole text gives, and take nothing back.

One character at a time cuts everywhere at once, random chunks (from a fixed seed) leave marks whole and halve
others. What a check reads is bounded: characters one at a time cost far more than the same text in one piece.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from chatlint.conversation import JSON
from chatlint.parse.events import Event
from chatlint.parse.message import assemble
from chatlint.parse.parser import OutputParser
from chatlint.records import dataclass

SINGLES = 400
"""Characters of one template's texts that are read one at a time; the rest is read in random chunks."""
SHORT = 120
"""Longest text that is cut at every place."""
_SIZES = (1, 2, 3, 5, 8, 13, 21)


@dataclass(slots=True)
class Chunkings:
    """Ways to cut the texts of one template, within a bound."""

    left: int = SINGLES
    every_cut: bool = False
    """Also one cut at every place of short texts: for tests."""

    def of(self, text: str) -> Iterator[Sequence[str]]:
        """The ways for one text."""
        if len(text) <= self.left:
            self.left -= len(text)
            yield tuple(text)
        yield tuple(_random_chunks(text))
        for at in range(1, len(text) if self.every_cut and len(text) <= SHORT else 1):
            yield text[:at], text[at:]


def _random_chunks(text: str, seed: int = 7) -> Iterator[str]:
    source, at = random.Random(seed), 0
    while at < len(text):
        size = source.choice(_SIZES)
        yield text[at : at + size]
        at += size


def streamed(parser: OutputParser, chunks: Iterable[str]) -> dict[str, JSON]:
    """The message that the events of a chunked text add up to."""
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    return assemble([*events, *parser.finish()])


def broken_chunking(parser: OutputParser, text: str, whole: JSON, ways: Chunkings) -> Sequence[str] | None:
    """The first chunking that gives another message than the whole text did, None if all agree. `parser` says
    how a turn begins, and reads none itself."""
    return next((chunks for chunks in ways.of(text) if streamed(parser.anew(), chunks) != whole), None)
