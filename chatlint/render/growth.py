"""Where a template's work may grow faster than the conversation: only a reason to measure it.

In a loop over messages (or tools): another loop over them or their positions, a filter or a slice that goes
through all of them, and a list or a text that is put together anew in every iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jinja2 import nodes

from chatlint.render.grammar import children
from chatlint.render.syntax import Use

_LISTS = {"/messages": "messages", "/tools": "tools"}
_GO_THROUGH = frozenset(
    {"selectattr", "rejectattr", "select", "reject", "map", "list", "reverse", "tojson", "join", "string"}
)


def growth_of(
    root: nodes.Node,
    kinds: Mapping[type[nodes.Node], list[nodes.Node]],
    places: Callable[[nodes.Node], frozenset[str]],
) -> tuple[Use, ...]:
    """The lists over which work may grow faster than they do, each with its first line; `text of …` where it
    is only a text, or a list, that is put together anew."""
    if not _may_grow(kinds, places):
        return ()
    found: dict[str, int] = {}
    stack: list[tuple[nodes.Node, frozenset[str]]] = [(root, frozenset())]
    while stack:
        node, inside = stack.pop()
        if inside:
            for name in _again(node, inside, places):
                found.setdefault(name, node.lineno)
        if isinstance(node, nodes.For):
            loops = inside | {_LISTS[place] for place in places(node.iter) if place in _LISTS}
            stack += [(child, loops) for child in (*node.body, *node.else_)]
            stack.append((node.iter, inside))
        else:
            stack += [(child, inside) for child in children(node)]
    return tuple(Use(name, line) for name, line in found.items())


def _may_grow(
    kinds: Mapping[type[nodes.Node], list[nodes.Node]], places: Callable[[nodes.Node], frozenset[str]]
) -> bool:
    """Whether anything of it is there at all, inside a loop or not."""
    every = frozenset(_LISTS.values())
    loops = kinds.get(nodes.For, [])
    more = [node for kind in (nodes.Filter, nodes.Getitem, nodes.Assign) for node in kinds.get(kind, ())]
    return len([loop for loop in loops if _again(loop, every, places)]) > 1 or any(
        _again(node, every, places) for node in more
    )


def _again(
    node: nodes.Node, inside: frozenset[str], places: Callable[[nodes.Node], frozenset[str]]
) -> frozenset[str]:
    """The lists that a node goes through once more while it is inside a loop over them."""
    gone_through: nodes.Node | None = None
    if isinstance(node, nodes.For):
        if _counts(node.iter):
            return inside
        gone_through = node.iter
    elif isinstance(node, (nodes.Filter, nodes.Getitem)) and _goes_through(node):
        gone_through = node.node
    elif isinstance(node, nodes.Assign) and _is_put_together(node):
        return frozenset(f"text of {name}" for name in inside)
    if gone_through is None:
        return frozenset()
    return inside & {_LISTS[place] for place in places(gone_through) if place in _LISTS}


def _counts(node: nodes.Node) -> bool:
    """Whether it is a `range` up to where the loop is, or to the length of something."""
    if not (isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "range"):
        return False
    for inner in (*node.args, *node.find_all((nodes.Filter, nodes.Getattr))):
        if isinstance(inner, nodes.Filter) and inner.name in ("length", "count"):
            return True
        if isinstance(inner, nodes.Getattr) and inner.attr in ("index", "index0", "length", "revindex"):
            return True
    return False


def _goes_through(node: nodes.Filter | nodes.Getitem) -> bool:
    if isinstance(node, nodes.Filter):
        return node.name in _GO_THROUGH
    return isinstance(node.arg, nodes.Slice)


def _is_put_together(node: nodes.Assign) -> bool:
    """`x = x + …` and `x = x ~ …`, but for counters."""
    value = node.node
    if isinstance(value, nodes.Concat):
        return any(_same(node.target, part) for part in value.nodes)
    while isinstance(value, nodes.Add):
        if isinstance(value.right, nodes.Const) and not isinstance(value.right.value, str):
            return False
        if _same(node.target, value.left):
            return True
        value = value.left
    return False


def _same(target: nodes.Node, value: nodes.Node) -> bool:
    if isinstance(target, nodes.Name):
        return isinstance(value, nodes.Name) and value.name == target.name
    return (
        isinstance(target, nodes.NSRef)
        and isinstance(value, nodes.Getattr)
        and isinstance(value.node, nodes.Name)
        and (value.node.name, value.attr) == (target.name, target.attr)
    )
