"""How far a long run is: one line on standard error, on a terminal only."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TypeVar

Item = TypeVar("Item")


class Progress:
    """Counts steps of `total`, and says what one of them waits for. Silent for a single step that waits for
    nothing, and where standard error is not a terminal."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.visible = sys.stderr.isatty()
        self._drawn = 0.0
        self._dirty = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._dirty:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def step(self, item: Item, label: str) -> Item:
        """One step is done; gives back `item`."""
        self.done += 1
        if self.total > 1:
            self.say(f"checked {self.done} of {self.total}  {label}")
        return item

    def say(self, text: str) -> None:
        """Show what is going on, now and then."""
        if not self.visible or time.monotonic() - self._drawn < 0.1:
            return
        from chatlint.report.canvas import canvas_for

        canvas = canvas_for(sys.stderr)
        sys.stderr.write(f"\r\x1b[K{canvas.spell(canvas.fit(text, canvas.width - 1))}")
        sys.stderr.flush()
        self._dirty, self._drawn = True, time.monotonic()
