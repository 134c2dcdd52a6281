"""What nodes of a template's tree know beside Jinja's fields: what is right below them.

Everything walks through trees, and Jinja's nodes read all their fields again for each walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeAlias

from jinja2 import nodes
from jinja2.environment import Environment

_Kinds: TypeAlias = type[nodes.Node] | tuple[type[nodes.Node], ...]

_RARE = frozenset((nodes.Block, nodes.Extends, nodes.ImportedName, nodes.NSRef))
"""Kinds that the code generator looks for in whole templates, which mostly have none."""


def settle(root: nodes.Node, environment: Environment, rare: set[type[nodes.Node]]) -> None:
    """Give every node its environment, as Jinja's parser does, and keep with it what is right below it, but
    for nodes that have that. `rare` gets those of the rare kinds that there are."""
    stack = [root]
    while stack:
        node = stack.pop()
        if "children" not in node.__dict__:
            kind = type(node)
            if kind in _RARE:
                rare.add(kind)
            below = tuple(_right_below(node))
            equip(node, environment, below, rare)
            stack += below


def equip(
    node: nodes.Node, environment: Environment, below: tuple[nodes.Node, ...], rare: set[type[nodes.Node]]
) -> None:
    node.environment = environment
    node.children = below  # type: ignore[attr-defined]
    node.find_all = partial(_find_all, below, rare) if below else _find_none  # type: ignore[assignment, method-assign]


def _right_below(node: nodes.Node) -> Iterator[nodes.Node]:
    """As `iter_child_nodes`, which is slower. A list has nodes or has none."""
    for name in node.fields:
        value = getattr(node, name, None)
        if type(value) is list:
            if value and isinstance(value[0], nodes.Node):
                yield from value
        elif value is not None and isinstance(value, nodes.Node):
            yield value


def _find_all(
    below: tuple[nodes.Node, ...], rare: set[type[nodes.Node]], kind: _Kinds
) -> Iterator[nodes.Node]:
    """Stands for a node's own `find_all`, which goes through a generator for every level above a node.
    `rare` are those of the rare kinds that the template has."""
    if kind in _RARE and kind not in rare:
        return
    stack = [*reversed(below)]
    while stack:
        node = stack.pop()
        if isinstance(node, kind):
            yield node
        stack += node.children[::-1]  # type: ignore[attr-defined]


def _find_none(kind: _Kinds) -> Iterator[nodes.Node]:
    return iter(())
