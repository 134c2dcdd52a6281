"""Which parts of a conversation a template reads, and which roles it compares with, without rendering it.

Every variable is given the places it may hold, as patterns of JSON pointers with `*` for "any element":
`message` in a loop over `messages` holds `/messages/*`. Assignments, loops, macro arguments and namespaces
carry places on; the order of statements is ignored, so a variable holds the union of all it is ever set to.
Rounds over the assignments are few and bounded: real templates settle within four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from jinja2 import nodes

from chatlint.records import dataclass, field

Places = frozenset[str]
PlaceOf: TypeAlias = "Callable[[nodes.Node], tuple[int, int]]"
_NOWHERE: Places = frozenset()
# Nodes that have something to say: most of a tree has not.
_FLOWING = frozenset((nodes.Assign, nodes.For, nodes.With, nodes.Call))
_READING = frozenset((nodes.Getattr, nodes.Getitem, nodes.Call, nodes.Compare, nodes.Filter))
_COMPARING = frozenset((nodes.Compare, nodes.Test, nodes.Filter, nodes.Getitem))
_ROUNDS = 8
_DEEPEST = 12
_WIDEST = 48
_SAME_LIST = frozenset(
    {"list", "sort", "reverse", "unique", "selectattr", "rejectattr", "select", "reject", "dictsort", "items"}
    | {"default", "d", "trim", "string", "safe", "lower", "upper", "capitalize", "title", "replace", "indent"}
)
_SAME_VALUE = frozenset({"strip", "lstrip", "rstrip", "replace", "copy", "values", "lower", "upper", "title"})
_ELEMENT = frozenset({"first", "last", "random", "min", "max"})


@dataclass(frozen=True, slots=True)
class Read:
    """The template reads the member that `pattern` names: `/messages/*/tool_calls/*/id`."""

    pattern: str
    line: int
    column: int = 0

    @property
    def place(self) -> tuple[int, int]:
        """Line and column, the column 0 where it is not known."""
        return self.line, self.column


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


@dataclass(frozen=True, slots=True)
class MethodUse:
    """A method called on a value; `places` are the parts of the conversation that the value may be."""

    name: str
    line: int
    places: tuple[str, ...] = ()


@dataclass(slots=True)
class _Flow:
    """`names` of variables (`ns.attribute` for a namespace's) that take the value of `source`: the `same`
    value, or an `element` of it."""

    names: tuple[str, ...]
    source: nodes.Node
    step: str


@dataclass(slots=True)
class FieldWalk:
    """Gather a tree's flows, settle them, and say what is read."""

    _held: dict[str, Places] = field(
        default_factory=lambda: {name: frozenset({f"/{name}"}) for name in ("messages", "tools", "documents")}
    )
    _flows: list[_Flow] = field(default_factory=list)
    _macros: dict[str, nodes.Macro] = field(default_factory=dict)
    _memo: dict[int, Places] = field(default_factory=dict)

    def settle(self, tree: Iterable[nodes.Node]) -> None:
        """Gather the flows of all nodes of a tree (in any order) and follow them until nothing changes."""
        found = list(tree)
        self._macros = {node.name: node for node in found if isinstance(node, nodes.Macro)}
        for node in found:
            if type(node) in _FLOWING:
                self._gather(node)
        for _ in range(_ROUNDS):
            self._memo.clear()
            if not self._round():
                break
        self._memo.clear()

    def reads(self, tree: Iterable[nodes.Node], place_of: PlaceOf) -> tuple[Read, ...]:
        """Members read, each pattern and place once, in document order."""
        known = list(tree)
        methods = {id(node.node) for node in known if isinstance(node, nodes.Call)}
        members = [node for node in known if type(node) in _READING and id(node) not in methods]
        found = {
            Read(pattern, node.lineno, _column(node, place_of))
            for node in members
            for pattern in self._members(node)
        }
        return tuple(sorted(found, key=lambda read: (read.line, read.pattern, read.column)))

    def roles(self, tree: Iterable[nodes.Node], place_of: PlaceOf) -> tuple[RoleLiteral, ...]:
        """Roles compared with, in document order."""
        found = {
            RoleLiteral(role, node.lineno, *_asked(node), _column(node, place_of))
            for node in tree
            if type(node) in _COMPARING
            for role in self._role_texts(node)
        }
        return tuple(
            sorted(found, key=lambda one: (one.line, one.role, one.owner, str(one.index), one.column))
        )

    def method_use(self, call: nodes.Call) -> MethodUse | None:
        """The method that a call names, if it is one."""
        if not isinstance(call.node, nodes.Getattr):
            return None
        return MethodUse(call.node.attr, call.lineno, tuple(sorted(self.places(call.node.node))))

    # -- flows -----------------------------------------------------------------------------------------------

    def _gather(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Assign):
            self._flow(node.target, node.node, "same")
            self._gather_namespace(node)
        elif isinstance(node, nodes.For):
            self._flow(node.target, node.iter, "element")
            self._flows.append(_Flow(("loop.previtem", "loop.nextitem"), node.iter, "element"))
        elif isinstance(node, nodes.With):
            for target, value in zip(node.targets, node.values, strict=True):
                self._flow(target, value, "same")
        elif isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
            self._gather_arguments(node, self._macros.get(node.node.name))

    def _flow(self, target: nodes.Node, source: nodes.Node, step: str) -> None:
        if isinstance(target, nodes.Name):
            self._flows.append(_Flow((target.name,), source, step))
        elif isinstance(target, nodes.NSRef):
            self._flows.append(_Flow((f"{target.name}.{target.attr}",), source, step))
        elif isinstance(target, nodes.Tuple):
            self._flow_tuple(target, source, step)

    def _flow_tuple(self, target: nodes.Tuple, source: nodes.Node, step: str) -> None:
        if step == "element" and _gives_pairs(source) and len(target.items) == 2:
            self._flow(target.items[1], source, "element")
        elif isinstance(source, nodes.Tuple) and len(source.items) == len(target.items):
            for item, value in zip(target.items, source.items, strict=True):
                self._flow(item, value, step)

    def _gather_namespace(self, node: nodes.Assign) -> None:
        call = node.node
        if not (isinstance(call, nodes.Call) and isinstance(call.node, nodes.Name)):
            return
        if call.node.name == "namespace" and isinstance(node.target, nodes.Name):
            for keyword in call.kwargs:
                self._flows.append(_Flow((f"{node.target.name}.{keyword.key}",), keyword.value, "same"))

    def _gather_arguments(self, call: nodes.Call, macro: nodes.Macro | None) -> None:
        if macro is None:
            return
        for parameter, value in zip(macro.args, call.args, strict=False):
            self._flow(parameter, value, "same")
        for keyword in call.kwargs:
            self._flows.append(_Flow((keyword.key,), keyword.value, "same"))

    def _round(self) -> bool:
        changed = False
        for flow in self._flows:
            places = self.places(flow.source)
            if flow.step == "element":
                places = _below(places, "*")
            for name in flow.names:
                held = self._held.get(name, _NOWHERE)
                if not places <= held and len(held) < _WIDEST:
                    self._held[name] = held | places
                    changed = True
        return changed

    # -- places ----------------------------------------------------------------------------------------------

    def places(self, node: nodes.Node | None) -> Places:
        """Where in the conversation the value of an expression may stand."""
        if node is None:
            return _NOWHERE
        known = self._memo.get(id(node))
        if known is None:
            known = self._memo[id(node)] = self._find_places(node)
        return known

    def _find_places(self, node: nodes.Node) -> Places:
        if isinstance(node, nodes.Name):
            return self._held.get(node.name, _NOWHERE)
        if isinstance(node, nodes.Getattr):
            return self._attribute(node)
        if isinstance(node, nodes.Getitem):
            return self._item(node)
        if isinstance(node, nodes.Filter):
            return self._filtered(node)
        if isinstance(node, nodes.Call):
            return self._called(node)
        if isinstance(node, nodes.CondExpr):
            return self.places(node.expr1) | self.places(node.expr2)
        if isinstance(node, (nodes.Or, nodes.And, nodes.Add)):
            return self.places(node.left) | self.places(node.right)
        if isinstance(node, nodes.List):
            return frozenset(
                place[:-2] for item in node.items for place in self.places(item) if place.endswith("/*")
            )
        return _NOWHERE

    def _attribute(self, node: nodes.Getattr) -> Places:
        below = _below(self.places(node.node), node.attr)
        if isinstance(node.node, nodes.Name):
            return below | self._held.get(f"{node.node.name}.{node.attr}", _NOWHERE)
        return below

    def _item(self, node: nodes.Getitem) -> Places:
        places = self.places(node.node)
        if isinstance(node.arg, nodes.Slice):
            return places
        return _below(places, _constant_text(node.arg) or "*")

    def _filtered(self, node: nodes.Filter) -> Places:
        places = self.places(node.node)
        if node.name in _ELEMENT:
            return _below(places, "*")
        if node.name in ("default", "d") and node.args:
            return places | self.places(node.args[0])
        return places if node.name in _SAME_LIST else _NOWHERE

    def _called(self, node: nodes.Call) -> Places:
        if not isinstance(node.node, nodes.Getattr):
            return _NOWHERE
        owner, method = node.node.node, node.node.attr
        if method == "get" and node.args:
            return _below(self.places(owner), _constant_text(node.args[0]) or "*")
        if method in _SAME_VALUE or method == "items":
            return self.places(owner)
        return _NOWHERE

    # -- what is read ----------------------------------------------------------------------------------------

    def _members(self, node: nodes.Node) -> Places:
        if isinstance(node, nodes.Getattr):
            return _below(self.places(node.node), node.attr)
        if isinstance(node, nodes.Getitem):
            name = _constant_text(node.arg)
            return _below(self.places(node.node), name) if name else _NOWHERE
        if isinstance(node, nodes.Call):
            return self._called(node) if _is_get(node) else _NOWHERE
        if isinstance(node, nodes.Compare):
            return self._membership(node)
        if isinstance(node, nodes.Filter):
            return self._filter_attribute(node)
        return _NOWHERE

    def _membership(self, node: nodes.Compare) -> Places:
        name = _constant_text(node.expr)
        if not name.isidentifier():  # else a text that is looked for in a text
            return _NOWHERE
        found = [self.places(operand.expr) for operand in node.ops if operand.op in ("in", "notin")]
        return frozenset(place for places in found for place in _below(places, name))

    def _filter_attribute(self, node: nodes.Filter) -> Places:
        if node.name not in ("selectattr", "rejectattr", "map", "groupby", "sort", "sum", "unique", "attr"):
            return _NOWHERE
        names = [_constant_text(argument) for argument in node.args[:1]]
        names += [_constant_text(keyword.value) for keyword in node.kwargs if keyword.key == "attribute"]
        inside = self.places(node.node) if node.name == "attr" else _below(self.places(node.node), "*")
        return frozenset(place for name in names if name for place in _below(inside, name.replace(".", "/")))

    # -- roles -----------------------------------------------------------------------------------------------

    def _role_texts(self, node: nodes.Node) -> list[str]:
        if isinstance(node, nodes.Compare):
            operands = [node.expr, *(operand.expr for operand in node.ops)]
            return _texts(operands) if any(self._is_role(operand) for operand in operands) else []
        if isinstance(node, nodes.Test) and self._is_role(node.node):
            return _texts(node.args)
        if isinstance(node, nodes.Filter) and node.name in ("selectattr", "rejectattr"):
            attribute = _constant_text(node.args[0] if node.args else None)
            return _texts(node.args[2:]) if attribute == "role" else []
        if isinstance(node, nodes.Getitem) and self._is_role(node.arg) and isinstance(node.node, nodes.Dict):
            return _texts([pair.key for pair in node.node.items])
        return []

    def _is_role(self, node: nodes.Node) -> bool:
        return any(place.startswith("/messages/") and place.endswith("/role") for place in self.places(node))


def _below(places: Places, member: str) -> Places:
    """One member down. `set x = x.function` may run on what already is one: the same name twice is once."""
    return frozenset(
        place if place.endswith(f"/{member}") and member != "*" else f"{place}/{member}"
        for place in places
        if place.count("/") < _DEEPEST
    )


def _constant_text(node: nodes.Node | None) -> str:
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else ""


def _column(node: nodes.Node, place_of: PlaceOf) -> int:
    """Where an expression begins in the line that it is said to be on."""
    line, column = place_of(node)
    return column if line == node.lineno else 0


def _asked(node: nodes.Node) -> tuple[int | None, str]:
    """Whose role is compared: which element of a list (the 0 of `messages[0].role == 'system'`), None for any
    or several, and the variable."""
    operands = [node.expr, *(one.expr for one in node.ops)] if isinstance(node, nodes.Compare) else []
    operands = [node.node] if isinstance(node, nodes.Test) else operands
    owners = [one.node for one in operands if isinstance(one, (nodes.Getattr, nodes.Getitem))]
    indices = {_constant_index(one) for one in owners}
    names = [one.name for one in owners if isinstance(one, nodes.Name)]
    return indices.pop() if len(indices) == 1 else None, names[0] if names else ""


def _constant_index(node: nodes.Node) -> int | None:
    if isinstance(node, nodes.Filter) and node.name in ("first", "last"):
        return 0 if node.name == "first" else -1
    if not isinstance(node, nodes.Getitem):
        return None
    if isinstance(node.arg, nodes.Neg) and isinstance(node.arg.node, nodes.Const):
        value = node.arg.node.value
        return -value if isinstance(value, int) else None
    return node.arg.value if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, int) else None


def _texts(operands: Iterable[nodes.Node]) -> list[str]:
    found = []
    for node in operands:
        inner = node.items if isinstance(node, (nodes.List, nodes.Tuple)) else [node]
        found += [text for text in map(_constant_text, inner) if text]
    return found


def _is_get(node: nodes.Call) -> bool:
    return isinstance(node.node, nodes.Getattr) and node.node.attr == "get"


def _gives_pairs(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter):
        return node.name in ("items", "dictsort")
    return isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr) and node.node.attr == "items"
