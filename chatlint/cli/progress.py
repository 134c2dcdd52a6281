"""How far a long run is: one line on standard error, on a terminal only."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TypeVar

Item = TypeVar("Item")


class Progress:
    """Counts steps of `total`. Silent for a single step and where standard error is not a terminal."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.visible = total > 1 and sys.stderr.isatty()
        self._drawn = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.visible:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def step(self, item: Item, label: str) -> Item:
        """One step is done; gives back `item`."""
        self.done += 1
        if self.visible and time.monotonic() - self._drawn > 0.1:
            from chatlint.report.canvas import canvas_for

            canvas = canvas_for(sys.stderr)
            line = canvas.fit(f"checked {self.done} of {self.total}  {label}", canvas.width - 1)
            sys.stderr.write(f"\r\x1b[K{canvas.spell(line)}")
            sys.stderr.flush()
            self._drawn = time.monotonic()
        return item
