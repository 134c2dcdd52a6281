"""Where a template's work may grow faster than the conversation: only a reason to measure it.

In a loop over messages (or tools): another loop over them or their positions, a filter or a slice that goes
through all of them, and a list or a text that is put together anew in every iteration.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Container, Iterator

from jinja2 import nodes

from chatlint.render.grammar import children
from chatlint.render.syntax import Use
from chatlint.render.tree import Tree

_LISTS = {"/messages": "messages", "/tools": "tools"}
_EVERY = frozenset(_LISTS.values())
_NONE: frozenset[str] = frozenset()
_GO_THROUGH = frozenset(
    {"selectattr", "rejectattr", "select", "reject", "map", "list", "reverse", "tojson", "join", "string"}
)


def growth_of(tree: Tree, places: Callable[[nodes.Node], frozenset[str]]) -> tuple[Use, ...]:
    """The lists over which work may grow faster than they do, each with its first line; `text of …` where it
    is only a text, or a list, that is put together anew."""
    loops = {id(loop): over for loop in tree.of(nodes.For) if (over := _lists(places(loop.iter)))}
    again = _repeating(tree, places) if loops else frozenset()
    found: dict[str, int] = {}
    stack = [(loop, _NONE) for loop in _outermost(tree, loops, again)] if again else []
    while stack:
        node, inside = stack.pop()
        if inside and id(node) in again:
            for name in _again(node, inside, places):
                found.setdefault(name, node.lineno)
        if type(node) is nodes.For:
            deeper = inside | loops.get(id(node), _NONE)
            stack += [(child, deeper) for child in (*node.body, *node.else_)]
            stack.append((node.iter, inside))
        else:
            stack += [(child, inside) for child in children(node)]
    return tuple(Use(name, line) for name, line in found.items())


def _outermost(tree: Tree, loops: Container[int], again: Collection[int]) -> Iterator[nodes.Node]:
    """The loops that stand in no other of `loops`, and have something of `again` in them."""
    order = {id(node): index for index, node in enumerate(tree.every)}
    marks = sorted(order[one] for one in again)
    end = -1
    for loop in tree.of(nodes.For):
        start = order[id(loop)]
        if id(loop) in loops and start > end:
            end = order[id(_last_in(loop))]
            if bisect_right(marks, start) < bisect_right(marks, end):
                yield loop


def _last_in(node: nodes.Node) -> nodes.Node:
    while below := children(node):
        node = below[-1]
    return node


def _repeating(tree: Tree, places: Callable[[nodes.Node], frozenset[str]]) -> frozenset[int]:
    """The ids of what would go through a list once more in a loop over it; none where that is only one
    loop."""
    loops = [id(loop) for loop in tree.of(nodes.For) if _again(loop, _EVERY, places)]
    through: list[nodes.Filter | nodes.Getitem]
    through = [node for node in tree.of(nodes.Filter) if node.name in _GO_THROUGH]
    through += [node for node in tree.of(nodes.Getitem) if type(node.arg) is nodes.Slice]
    more = [id(node) for node in through if node.node and _lists(places(node.node))]
    more += [id(node) for node in tree.of(nodes.Assign) if _is_put_together(node)]
    return frozenset([*loops, *more]) if more or len(loops) > 1 else frozenset()


def _lists(places: frozenset[str]) -> frozenset[str]:
    return frozenset([_LISTS[place] for place in places if place in _LISTS]) if places else _NONE


def _again(
    node: nodes.Node, inside: frozenset[str], places: Callable[[nodes.Node], frozenset[str]]
) -> frozenset[str]:
    """The lists that a node goes through once more while it is inside a loop over them."""
    gone_through: nodes.Node | None = None
    if type(node) is nodes.For:
        if _counts(node.iter):
            return inside
        gone_through = node.iter
    elif type(node) is nodes.Filter:
        gone_through = node.node if node.name in _GO_THROUGH else None
    elif type(node) is nodes.Getitem:
        gone_through = node.node if type(node.arg) is nodes.Slice else None
    elif type(node) is nodes.Assign and _is_put_together(node):
        return frozenset(f"text of {name}" for name in inside)
    return inside & _lists(places(gone_through)) if gone_through is not None else _NONE


def _counts(node: nodes.Node) -> bool:
    """Whether it is a `range` up to where the loop is, or to the length of something."""
    if not (type(node) is nodes.Call and type(node.node) is nodes.Name and node.node.name == "range"):
        return False
    for inner in (*node.args, *node.find_all((nodes.Filter, nodes.Getattr))):
        if type(inner) is nodes.Filter and inner.name in ("length", "count"):
            return True
        if type(inner) is nodes.Getattr and inner.attr in ("index", "index0", "length", "revindex"):
            return True
    return False


def _is_put_together(node: nodes.Assign) -> bool:
    """`x = x + …` and `x = x ~ …`, but for counters."""
    value = node.node
    if type(value) is nodes.Concat:
        return any(_same(node.target, part) for part in value.nodes)
    while type(value) is nodes.Add:
        if type(value.right) is nodes.Const and not isinstance(value.right.value, str):
            return False
        if _same(node.target, value.left):
            return True
        value = value.left
    return False


def _same(target: nodes.Node, value: nodes.Node) -> bool:
    if type(target) is nodes.Name:
        return type(value) is nodes.Name and value.name == target.name
    return (
        type(target) is nodes.NSRef
        and type(value) is nodes.Getattr
        and type(value.node) is nodes.Name
        and (value.node.name, value.attr) == (target.name, target.attr)
    )
