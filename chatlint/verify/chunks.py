"""The same message in every chunking: events add up to what the whole text gives, and take nothing back.

Chunkings are bounded in what they read: one character at a time, and a few with random cuts from a fixed seed.
Short texts are also cut once at every place.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from chatlint.conversation import JSON
from chatlint.parse.events import Event
from chatlint.parse.message import assemble
from chatlint.parse.parser import OutputParser

SHORT = 48
"""Texts up to this length are cut once at every place."""
RANDOM_CHUNKINGS = 2
LONGEST = 4_000
"""Longer texts are only read in random chunks, not character by character."""


def chunkings(text: str, *, every_cut: bool = False, seed: int = 7) -> Iterator[Sequence[str]]:
    """Ways to cut a text: singles, random chunks, and (short, or on demand) one cut at every place."""
    if len(text) <= LONGEST:
        yield tuple(text)
    source = random.Random(seed)
    for _ in range(RANDOM_CHUNKINGS):
        yield tuple(_random_chunks(text, source))
    if every_cut or len(text) <= SHORT:
        for at in range(1, len(text)):
            yield text[:at], text[at:]


def _random_chunks(text: str, source: random.Random) -> Iterator[str]:
    at = 0
    while at < len(text):
        size = source.choice((1, 1, 2, 3, 5, 8, 13))
        yield text[at : at + size]
        at += size


def streamed(parser: OutputParser, chunks: Iterable[str]) -> dict[str, JSON]:
    """The message that the events of a chunked text add up to."""
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    return assemble([*events, *parser.finish()])


def broken_chunking(
    make: Callable[[], OutputParser], text: str, whole: JSON, *, every_cut: bool = False
) -> Sequence[str] | None:
    """The first chunking that gives another message than the whole text did, None if all agree."""
    for chunks in chunkings(text, every_cut=every_cut):
        if streamed(make(), chunks) != whole:
            return chunks
    return None
