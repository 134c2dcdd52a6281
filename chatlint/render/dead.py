"""Parts of a template that no conversation reaches: behind a condition that is always the same.

Constants are what is written as one, and variables that are set once, outside of everything, to one, before
they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from jinja2 import nodes

from chatlint.render.grammar import children

Kinds: TypeAlias = Mapping[type[nodes.Node], list[nodes.Node]]
_Known: TypeAlias = Mapping[str, bool]


def dead_nodes(root: nodes.Template, kinds: Kinds) -> frozenset[int]:
    """The ids of all nodes of a tree that are never reached. `kinds` has its nodes by class."""
    known = _settled(root, kinds.get(nodes.Name, []))
    branches = [branch for node in kinds.get(nodes.If, ()) for branch in _dead_branches(node, known)]
    branches += [one for node in kinds.get(nodes.CondExpr, ()) for one in _dead_sides(node, known)]
    return frozenset(id(node) for branch in branches for node in _below(branch))


def _settled(root: nodes.Template, names: list[nodes.Node]) -> dict[str, bool]:
    """Variables that are constants, and whether they are true. `names` are all of the tree, in order."""
    uses: dict[str, list[str]] = {}
    for name in names:
        assert isinstance(name, nodes.Name)
        uses.setdefault(name.name, []).append(name.ctx)
    found: dict[str, bool] = {}
    for statement in root.body:
        if isinstance(statement, nodes.Assign) and isinstance(statement.target, nodes.Name):
            first, *rest = uses[statement.target.name]
            if first == "store" and {"load"}.issuperset(rest) and isinstance(statement.node, nodes.Const):
                found[statement.target.name] = bool(statement.node.value)
    return found


def _dead_branches(node: nodes.Node, known: _Known) -> Iterator[nodes.Node]:
    """What stands behind a condition that is never true, and what after one that always is."""
    assert isinstance(node, nodes.If)
    decided = False
    for branch in (node, *node.elif_):
        truth = False if decided else _truth(branch.test, known)
        if truth is False:
            yield from branch.body
        if decided:
            yield branch.test
        decided = decided or truth is True
    if decided:
        yield from node.else_


def _dead_sides(node: nodes.Node, known: _Known) -> Iterator[nodes.Node]:
    assert isinstance(node, nodes.CondExpr)
    truth = _truth(node.test, known)
    if truth is False:
        yield node.expr1
    elif truth and node.expr2 is not None:
        yield node.expr2


def _truth(node: nodes.Node, known: _Known) -> bool | None:
    """Whether an expression is always true (True) or never (False)."""
    if isinstance(node, nodes.Const):
        return bool(node.value)
    if isinstance(node, nodes.Name):
        return known.get(node.name)
    if isinstance(node, nodes.Not):
        inner = _truth(node.node, known)
        return None if inner is None else not inner
    if isinstance(node, nodes.And | nodes.Or):
        sides = (_truth(node.left, known), _truth(node.right, known))
        decides = isinstance(node, nodes.Or)
        if decides in sides:
            return decides
        return None if None in sides else not decides
    return None


def _below(node: nodes.Node) -> Iterator[nodes.Node]:
    """A node and all nodes in it."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += children(node)
