"""Which roles a template compares those of messages with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from jinja2 import nodes

from chatlint.records import dataclass
from chatlint.render.fields import PlaceOf, Places, column_of, constant_text
from chatlint.render.tree import Tree

PlacesOf: TypeAlias = Callable[[nodes.Node], Places]


@dataclass(frozen=True, slots=True)
class RoleLiteral:
    """The template compares a message's role with this text: any message's, or that of the one at `index`, as
    Python counts. `owner` is the variable that holds the message, "" for none."""

    role: str
    line: int
    index: int | None = None
    owner: str = ""
    column: int = 0

    @property
    def place(self) -> tuple[int, int]:
        """Line and column, the column 0 where it is not known."""
        return self.line, self.column

    def may_be(self, index: int, count: int) -> bool:
        """Whether it may be about the message at `index` of `count`."""
        return self.index is None or self.index in (index, index - count)


def roles_of(tree: Tree, places: PlacesOf, place_of: PlaceOf) -> tuple[RoleLiteral, ...]:
    """Roles compared with, in document order. `places` gives the parts of a conversation that an expression
    may be, `place_of` where it begins."""
    found = {
        (role, node.lineno, *_asked(node), column_of(node, place_of))
        for node, operands in _comparing(tree, places)
        for role in _texts(operands)
    }
    literals = [RoleLiteral(*one) for one in found]
    return tuple(
        sorted(literals, key=lambda one: (one.line, one.role, one.owner, str(one.index), one.column))
    )


def _comparing(tree: Tree, places: PlacesOf) -> Iterator[tuple[nodes.Node, list[nodes.Expr]]]:
    """What compares a role, and the expressions that it compares it with or that are it."""
    for comparison in tree.of(nodes.Compare):
        operands = [comparison.expr, *(operand.expr for operand in comparison.ops)]
        if any(_is_role(places(operand)) for operand in operands):
            yield comparison, operands
    for test in tree.of(nodes.Test):
        if test.args and _is_role(places(test.node)):
            yield test, test.args
    for choice in tree.of(nodes.Filter):
        by_role = choice.args and constant_text(choice.args[0]) == "role"
        if by_role and choice.name in ("selectattr", "rejectattr"):
            yield choice, choice.args[2:]
    for item in tree.of(nodes.Getitem):
        if type(item.node) is nodes.Dict and _is_role(places(item.arg)):
            yield item, [pair.key for pair in item.node.items]


def _is_role(places: Places) -> bool:
    return bool(places) and any(
        place.startswith("/messages/") and place.endswith("/role") for place in places
    )


def _asked(node: nodes.Node) -> tuple[int | None, str]:
    """Whose role is compared: which element of a list (the 0 of `messages[0].role == 'system'`), None for any
    or several, and the variable."""
    operands = [node.expr, *(one.expr for one in node.ops)] if type(node) is nodes.Compare else []
    operands = [node.node] if type(node) is nodes.Test else operands
    owners = [one.node for one in operands if type(one) is nodes.Getattr or type(one) is nodes.Getitem]
    indices = {_constant_index(one) for one in owners}
    names = [one.name for one in owners if type(one) is nodes.Name]
    return indices.pop() if len(indices) == 1 else None, names[0] if names else ""


def _constant_index(node: nodes.Node) -> int | None:
    if type(node) is nodes.Filter and node.name in ("first", "last"):
        return 0 if node.name == "first" else -1
    if type(node) is not nodes.Getitem:
        return None
    if type(node.arg) is nodes.Neg and type(node.arg.node) is nodes.Const:
        value = node.arg.node.value
        return -value if isinstance(value, int) else None
    return node.arg.value if type(node.arg) is nodes.Const and isinstance(node.arg.value, int) else None


def _texts(operands: Iterable[nodes.Node]) -> list[str]:
    found = []
    for node in operands:
        inner = node.items if type(node) is nodes.List or type(node) is nodes.Tuple else [node]
        found += [text for text in map(constant_text, inner) if text]
    return found
