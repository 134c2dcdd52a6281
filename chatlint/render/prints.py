"""Which values of a conversation a template prints, and where in its source.

A prompt knows of a value's characters which value they are, not which expression printed them: that is found
here, among the expressions that may hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from jinja2 import nodes

from chatlint.records import dataclass
from chatlint.render.codegen import line_and_column, line_starts
from chatlint.render.grammar import children, normalised, offset_of

PlacesOf: TypeAlias = Callable[[nodes.Node], frozenset[str]]
PlaceOf: TypeAlias = Callable[[nodes.Node], tuple[int, int]]
_HOLDERS = frozenset((nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Call, nodes.Filter))
_SILENT = frozenset((nodes.TemplateData, nodes.Const, nodes.Compare, nodes.Test))


@dataclass(frozen=True, slots=True)
class Print:
    """An expression in an output statement that may hold the value that `pattern` names (`*` stands for any
    element), at a one-based line and column."""

    pattern: str
    line: int
    column: int


def prints_of(outputs: Iterable[nodes.Output], places: PlacesOf, place_of: PlaceOf) -> tuple[Print, ...]:
    """What output statements print, in document order. `places` gives the parts of a conversation that an
    expression may be."""
    found: set[tuple[int, int, str]] = set()
    for output in outputs:
        for node, patterns in _holding(output, places):
            line, column = place_of(node)
            if line:
                found.update([(line, column, pattern) for pattern in patterns])
    return tuple(Print(pattern, line, column) for line, column, pattern in sorted(found))


def placer(source: str) -> PlaceOf:
    """What tells the one-based line and column at which an expression begins; (0, 0) where that is not
    known."""
    starts = starts_of(source)

    def place_of(node: nodes.Node) -> tuple[int, int]:
        leaf = node
        while below := children(leaf):
            leaf = below[0]
        offset = offset_of(leaf)  # mostly a name, on the left
        offset = _first_offset(node) if offset is None else offset
        return (0, 0) if offset is None else line_and_column(starts, offset)

    return place_of


@lru_cache(maxsize=4)
def starts_of(source: str) -> list[int]:
    """The offset at which each line of a source starts, as Jinja reads it. Not to be changed."""
    return line_starts(normalised(source))


def _holding(output: nodes.Output, places: PlacesOf) -> Iterator[tuple[nodes.Node, frozenset[str]]]:
    """The largest expressions that are parts of the conversation, and which. Conditions are not printed, and
    what is given to a macro the macro prints."""
    stack: list[nodes.Node] = [*output.nodes]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _HOLDERS and (patterns := places(node)):
            yield node, patterns
        elif type(node) is nodes.CondExpr:
            stack += [one for one in (node.expr1, node.expr2) if one]
        elif kind not in _SILENT and not _calls_by_name(node):
            stack += children(node)


def _calls_by_name(node: nodes.Node) -> bool:
    return type(node) is nodes.Call and type(node.node) is nodes.Name


def _first_offset(node: nodes.Node) -> int | None:
    """Where the first thing in an expression stands that has a known place: a text, say."""
    stack = [node]
    while stack:
        found = stack.pop()
        if (offset := offset_of(found)) is not None:
            return offset
        stack += reversed(children(found))
    return None
