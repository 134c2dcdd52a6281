"""Parts of a template that no conversation reaches: behind a condition that is always the same.

Constants are what is written as one, and variables that are set once, outside of everything, to one, before
they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from jinja2 import nodes

from chatlint.render.tree import Tree, nodes_below

_Known: TypeAlias = Mapping[str, bool]


def dead_nodes(tree: Tree) -> frozenset[int]:
    """The ids of all nodes of a tree that are never reached."""
    known = _settled(tree)
    branches = [branch for node in tree.of(nodes.If) for branch in _dead_branches(node, known)]
    branches += [one for node in tree.of(nodes.CondExpr) for one in _dead_sides(node, known)]
    return frozenset(id(node) for branch in branches for node in nodes_below(branch))


def _settled(tree: Tree) -> dict[str, bool]:
    """Variables that are constants, and whether they are true."""
    found = {
        statement.target.name: bool(statement.node.value)
        for statement in tree.root.body
        if type(statement) is nodes.Assign
        and type(statement.target) is nodes.Name
        and type(statement.node) is nodes.Const
    }
    if not found:
        return {}
    uses: dict[str, list[str]] = {name: [] for name in found}
    for name in tree.of(nodes.Name):
        if name.name in uses:
            uses[name.name].append(name.ctx)
    return {name: truth for name, truth in found.items() if _is_set_once(*uses[name])}


def _is_set_once(first: str, *rest: str) -> bool:
    """Whether a variable that is used so is set before all else, and not again."""
    return first == "store" and {"load"}.issuperset(rest)


def _dead_branches(node: nodes.If, known: _Known) -> Iterator[nodes.Node]:
    """What stands behind a condition that is never true, and what after one that always is."""
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


def _dead_sides(node: nodes.CondExpr, known: _Known) -> Iterator[nodes.Node]:
    truth = _truth(node.test, known)
    if truth is False:
        yield node.expr1
    elif truth and node.expr2 is not None:
        yield node.expr2


def _truth(node: nodes.Node, known: _Known) -> bool | None:
    """Whether an expression is always true (True) or never (False)."""
    if type(node) is nodes.Const:
        return bool(node.value)
    if type(node) is nodes.Name:
        return known.get(node.name)
    if type(node) is nodes.Not:
        inner = _truth(node.node, known)
        return None if inner is None else not inner
    if type(node) is nodes.And or type(node) is nodes.Or:
        sides = (_truth(node.left, known), _truth(node.right, known))
        decides = type(node) is nodes.Or
        if decides in sides:
            return decides
        return None if None in sides else not decides
    return None
