"""How far a long run is: one line on standard error, on a terminal only."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TypeVar

Item = TypeVar("Item")

_SETTLED_SECONDS = 2.0
"""After that long a rate says something."""


class Progress:
    """Counts steps of `total`, and says what one of them waits for. Silent for a single step that waits for
    nothing, and where standard error is not a terminal."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.visible = sys.stderr.isatty()
        self._drawn = 0.0
        self._dirty = False
        self._began = time.monotonic()

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
            self.say(f"checked {self.done} of {self.total}{self.pace()}  {label}")
        return item

    def skip(self) -> None:
        """One step need not be done."""
        self.total -= 1

    def pace(self) -> str:
        """How fast it goes, and how long it will take at that; "" in the beginning."""
        seconds = time.monotonic() - self._began
        if seconds < _SETTLED_SECONDS or not self.done:
            return ""
        rate = self.done / seconds
        return f"  {rate:.3g}/s, {duration((self.total - self.done) / rate)} left"

    def say(self, text: str) -> None:
        """Show what is going on, now and then."""
        if not self.visible or time.monotonic() - self._drawn < 0.1:
            return
        from chatlint.report.canvas import canvas_for

        canvas = canvas_for(sys.stderr)
        sys.stderr.write(f"\r\x1b[K{canvas.spell(canvas.fit(text, canvas.width - 1))}")
        sys.stderr.flush()
        self._dirty, self._drawn = True, time.monotonic()


def duration(seconds: float) -> str:
    """A time a person can use: `8 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
