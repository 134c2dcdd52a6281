"""Numbers of the conversation, traced wherever they are printed.

They are an `int` and a `float` whose text has runs. In arithmetic they are plain numbers, so a result is
`Computed`. `json` and `printf` write them by the base class's own code, so the text is always the same.
"""

from __future__ import annotations

from typing import TypeAlias

from chatlint.render.runs import DERIVED, Source
from chatlint.render.trace import Traced, traced


class TracedInt(int):
    """A whole number of the conversation."""

    _source: Source

    def __repr__(self) -> str:
        return written(int.__repr__(self), self._source)

    __str__ = __repr__


class TracedFloat(float):
    """A number with a fraction or an exponent."""

    _source: Source

    def __repr__(self) -> str:
        text = float.__repr__(self)
        # `inf` and `nan` are not how JSON has them.
        return traced(text, ((len(text), self._source, 0 if text[-1].isdigit() else DERIVED),))

    __str__ = __repr__


for _kind, _name in ((TracedInt, "int"), (TracedFloat, "float")):
    _kind.__name__ = _kind.__qualname__ = _name
    _kind.__module__ = "builtins"

TracedNumber: TypeAlias = TracedInt | TracedFloat


def traced_int(value: int, source: Source) -> TracedInt:
    """`value`, found at `source`."""
    number = TracedInt(value)
    number._source = source
    return number


def traced_float(value: float, source: Source) -> TracedFloat:
    """`value`, found at `source`."""
    number = TracedFloat(value)
    number._source = source
    return number


def written(text: str, source: Source) -> Traced:
    """The text of a whole value of the conversation."""
    return traced(text, ((len(text), source, 0),))
