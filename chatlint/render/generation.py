"""Where `{% generation %}` blocks are in the prompt.

transformers measures a block's place while the template runs, by what has been printed so far; in a macro,
a `set` or a `filter` block that is too early. So two answers are kept: the spans that the text really has
(marks that move with it), and those that transformers reports.
"""

from __future__ import annotations

from chatlint.render.runs import Runs, Source
from chatlint.render.trace import Traced, runs_of, traced
from chatlint.text import Computed

emitted: list[str] = []
"""What the template has printed so far."""
reported: list[tuple[int, int]] = []
"""What transformers takes the blocks' places to be."""


class _Mark(Source):
    __slots__ = ("block", "opens")

    def __init__(self, block: int, opens: bool) -> None:
        super().__init__("", False, Computed(0))
        self.block = block
        self.opens = opens


def start() -> None:
    """Begin a render."""
    emitted.clear()
    reported.clear()


def enclosed(text: str) -> Traced:
    """The text of a block, between its marks."""
    begin = sum(map(len, emitted))
    block = len(reported)
    reported.append((begin, begin + len(text)))
    return traced(text, ((0, _Mark(block, True), 0), *runs_of(text), (0, _Mark(block, False), 0)))


def blocks(runs: Runs) -> tuple[tuple[int, int], ...]:
    """The spans between marks, in order; a block that the template cut off has none."""
    if not reported:
        return ()
    opened: dict[int, int] = {}
    closed: dict[int, int] = {}
    at = 0
    for length, source, _ in runs:
        at += length
        if isinstance(source, _Mark):
            if source.opens:
                opened.setdefault(source.block, at)
            else:
                closed[source.block] = at
    return tuple(sorted((opened[block], closed[block]) for block in opened if block in closed))
