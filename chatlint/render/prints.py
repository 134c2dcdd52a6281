"""Which values of a conversation a template prints, and where in its source.

A prompt knows of a value's characters which value they are, not which expression printed them: that is found
here, among the expressions that may hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from jinja2 import nodes

from chatlint.records import dataclass
from chatlint.render.codegen import line_and_column, line_starts
from chatlint.render.grammar import children, normalised, offset_of

_HOLDERS = (nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Call, nodes.Filter)


@dataclass(frozen=True, slots=True)
class Print:
    """An expression in an output statement that may hold the value that `pattern` names (`*` stands for any
    element), at a one-based line and column."""

    pattern: str
    line: int
    column: int


def prints_of(
    outputs: Iterable[nodes.Node], places: Callable[[nodes.Node], frozenset[str]], source: str
) -> tuple[Print, ...]:
    """What output statements print, in document order. `places` gives the parts of a conversation that an
    expression may be."""
    place_of = placer(source)
    found = {
        Print(pattern, *place)
        for output in outputs
        for node in _holding(output, places)
        if (place := place_of(node)) != (0, 0)
        for pattern in places(node)
    }
    return tuple(sorted(found, key=lambda one: (one.line, one.column, one.pattern)))


def placer(source: str) -> Callable[[nodes.Node], tuple[int, int]]:
    """What tells the one-based line and column at which an expression begins; (0, 0) where that is not
    known."""
    starts = line_starts(normalised(source))

    def place_of(node: nodes.Node) -> tuple[int, int]:
        offset = _offset(node)
        offset = _first_offset(node) if offset is None else offset
        return (0, 0) if offset is None else line_and_column(starts, offset)

    return place_of


def _holding(output: nodes.Node, places: Callable[[nodes.Node], frozenset[str]]) -> Iterator[nodes.Node]:
    """The largest expressions that are parts of the conversation. Conditions are not printed, and what is
    given to a macro the macro prints."""
    stack = [output]
    while stack:
        node = stack.pop()
        if isinstance(node, _HOLDERS) and places(node):
            yield node
        elif isinstance(node, nodes.CondExpr):
            stack += [one for one in (node.expr1, node.expr2) if one]
        elif not isinstance(node, nodes.Compare | nodes.Test) and not _calls_by_name(node):
            stack += children(node)


def _calls_by_name(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name)


def _first_offset(node: nodes.Node) -> int | None:
    """Where the first thing in an expression stands that has a known place: a text, say."""
    stack = [node]
    while stack:
        found = stack.pop()
        if (offset := offset_of(found)) is not None:
            return offset
        stack += reversed(children(found))
    return None


def _offset(node: nodes.Node) -> int | None:
    """Where an expression begins: at the name on its left."""
    while not isinstance(node, nodes.Name):
        inner = children(node)
        if not inner:
            return None
        node = inner[0]
    return offset_of(node)
