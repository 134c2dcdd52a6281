"""The nodes of a parsed template, gone through once: in document order, and by class.

No class of nodes that a template holds has another one below it, so a node's own class says what it is:
`type(node) is nodes.Name`, and a table by class in place of a chain of questions. `isinstance` asks Jinja's
metaclass, which takes several times as long.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

from jinja2 import nodes

from chatlint.records import dataclass

Kinds: TypeAlias = Mapping[type[nodes.Node], list[nodes.Node]]
_Node = TypeVar("_Node", bound=nodes.Node)
_Walk = TypeVar("_Walk")
_Said = TypeVar("_Said")


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree's nodes: all of them, and those of each class, each in document order."""

    root: nodes.Template
    every: list[nodes.Node]
    kinds: Kinds

    def of(self, kind: type[_Node]) -> Sequence[_Node]:
        """The nodes of a class."""
        return self.kinds.get(kind, ())  # type: ignore[return-value]

    def without(self, left_out: Collection[int]) -> Tree:
        """The tree but for nodes with these ids."""
        return _sorted(self.root, [node for node in self.every if id(node) not in left_out])


def tree_of(root: nodes.Template) -> Tree:
    """The nodes of a tree that was parsed here, found without recursion."""
    return _sorted(root, nodes_below(root))


def nodes_below(root: nodes.Node) -> list[nodes.Node]:
    """A node and every node below it, in document order."""
    found: list[nodes.Node] = []
    stack: list[nodes.Node] = [root]
    while stack:
        node = stack.pop()
        found.append(node)
        if below := node.children:  # type: ignore[attr-defined]
            stack += below[::-1]
    return found


def _sorted(root: nodes.Template, every: list[nodes.Node]) -> Tree:
    kinds: defaultdict[type[nodes.Node], list[nodes.Node]] = defaultdict(list)
    for node in every:
        kinds[type(node)].append(node)
    return Tree(root, every, kinds)


def entry(
    kind: type[_Node], method: Callable[[_Walk, _Node], _Said]
) -> tuple[type[nodes.Node], Callable[[_Walk, nodes.Node], _Said]]:
    """A class and a walk's method for its nodes, for a table by class; there it may be called with any."""
    return kind, cast("Callable[[_Walk, nodes.Node], _Said]", method)
