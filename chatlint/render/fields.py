"""Which parts of a conversation a template reads, without rendering it.

Every variable is given the places it may hold, as patterns of JSON pointers with `*` for "any element":
`message` in a loop over `messages` holds `/messages/*`. Assignments, loops, macro arguments and namespaces
carry places on; the order of statements is ignored, so a variable holds the union of all it is ever set to.
Rounds over the assignments are few and bounded: real templates settle within four.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from jinja2 import nodes

from chatlint.records import dataclass, field
from chatlint.render.tree import Tree, entry

Places = frozenset[str]
PlaceOf: TypeAlias = "Callable[[nodes.Node], tuple[int, int]]"
_NOWHERE: Places = frozenset()
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
    _lower: dict[tuple[Places, str], Places] = field(default_factory=dict)

    def settle(self, tree: Tree) -> None:
        """Gather the flows of all nodes of a tree and follow them until nothing changes."""
        self._macros = {node.name: node for node in tree.of(nodes.Macro)}
        for node in tree.every:
            gather = _GATHERERS.get(type(node))
            if gather:
                gather(self, node)
        for _ in range(_ROUNDS):
            self._memo.clear()
            if not self._round():
                return  # what is known then is known for good
        self._memo.clear()

    def reads(self, tree: Tree, place_of: PlaceOf) -> tuple[Read, ...]:
        """Members read, each pattern and place once, in document order."""
        methods = {id(node.node) for node in tree.of(nodes.Call)}
        found: set[tuple[int, str, int]] = set()
        for kind, members in _MEMBERS.items():
            for node in tree.of(kind):
                patterns = members(self, node)
                if patterns and id(node) not in methods:
                    line, column = node.lineno, column_of(node, place_of)
                    found.update([(line, pattern, column) for pattern in patterns])
        return tuple(Read(pattern, line, column) for line, pattern, column in sorted(found))

    def method_use(self, call: nodes.Call) -> MethodUse | None:
        """The method that a call names, if it is one."""
        if type(call.node) is not nodes.Getattr:
            return None
        return MethodUse(call.node.attr, call.lineno, tuple(sorted(self.places(call.node.node))))

    # -- flows -----------------------------------------------------------------------------------------------

    def _gather_assigned(self, node: nodes.Assign) -> None:
        self._flow(node.target, node.node, "same")
        self._gather_namespace(node)

    def _gather_loop(self, node: nodes.For) -> None:
        self._flow(node.target, node.iter, "element")
        self._flows.append(_Flow(("loop.previtem", "loop.nextitem"), node.iter, "element"))

    def _gather_with(self, node: nodes.With) -> None:
        for target, value in zip(node.targets, node.values, strict=True):
            self._flow(target, value, "same")

    def _flow(self, target: nodes.Node, source: nodes.Node, step: str) -> None:
        if type(target) is nodes.Name:
            self._hold(target.name, source, step)
        elif type(target) is nodes.NSRef:
            self._hold(f"{target.name}.{target.attr}", source, step)
        elif type(target) is nodes.Tuple:
            self._flow_tuple(target, source, step)

    def _hold(self, name: str, source: nodes.Node, step: str) -> None:
        if type(source) in _PLACES:  # a constant, say, holds no part of a conversation
            self._flows.append(_Flow((name,), source, step))

    def _flow_tuple(self, target: nodes.Tuple, source: nodes.Node, step: str) -> None:
        if step == "element" and _gives_pairs(source) and len(target.items) == 2:
            self._flow(target.items[1], source, "element")
        elif type(source) is nodes.Tuple and len(source.items) == len(target.items):
            for item, value in zip(target.items, source.items, strict=True):
                self._flow(item, value, step)

    def _gather_namespace(self, node: nodes.Assign) -> None:
        call = node.node
        if not (type(call) is nodes.Call and type(call.node) is nodes.Name):
            return
        if call.node.name == "namespace" and type(node.target) is nodes.Name:
            for keyword in call.kwargs:
                self._hold(f"{node.target.name}.{keyword.key}", keyword.value, "same")

    def _gather_arguments(self, call: nodes.Call) -> None:
        macro = self._macros.get(call.node.name) if type(call.node) is nodes.Name else None
        if macro is None:
            return
        for parameter, value in zip(macro.args, call.args, strict=False):
            self._flow(parameter, value, "same")
        for keyword in call.kwargs:
            self._hold(keyword.key, keyword.value, "same")

    def _round(self) -> bool:
        changed = False
        for flow in self._flows:
            places = self.places(flow.source)
            if not places:
                continue
            if flow.step == "element":
                places = self._below(places, "*")
            for name in flow.names:
                held = self._held.get(name, _NOWHERE)
                if not places <= held and len(held) < _WIDEST:
                    self._held[name] = held | places
                    changed = True
        return changed

    # -- places ----------------------------------------------------------------------------------------------

    def places(self, node: nodes.Node | None) -> Places:
        """Where in the conversation the value of an expression may stand."""
        find = None if node is None else _PLACES.get(type(node))
        if node is None or find is None:
            return _NOWHERE
        known = self._memo.get(id(node))
        if known is None:
            known = self._memo[id(node)] = find(self, node)
        return known

    def _below(self, places: Places, member: str) -> Places:
        """One member down. The same is asked again in every round, and for what is read."""
        if not places:
            return _NOWHERE
        known = self._lower.get((places, member))
        if known is None:
            known = self._lower[places, member] = _one_down(places, member)
        return known

    def _named(self, node: nodes.Name) -> Places:
        return self._held.get(node.name, _NOWHERE)

    def _chosen(self, node: nodes.CondExpr) -> Places:
        return self.places(node.expr1) | self.places(node.expr2)

    def _either(self, node: nodes.BinExpr) -> Places:
        return self.places(node.left) | self.places(node.right)

    def _listed(self, node: nodes.List) -> Places:
        held = (place for item in node.items for place in self.places(item))
        return frozenset(place[:-2] for place in held if place.endswith("/*"))

    def _attribute(self, node: nodes.Getattr) -> Places:
        below = self._below(self.places(node.node), node.attr)
        if type(node.node) is nodes.Name:
            return below | self._held.get(f"{node.node.name}.{node.attr}", _NOWHERE)
        return below

    def _item(self, node: nodes.Getitem) -> Places:
        places = self.places(node.node)
        if type(node.arg) is nodes.Slice:
            return places
        return self._below(places, constant_text(node.arg) or "*")

    def _filtered(self, node: nodes.Filter) -> Places:
        places = self.places(node.node)
        if node.name in _ELEMENT:
            return self._below(places, "*")
        if node.name in ("default", "d") and node.args:
            return places | self.places(node.args[0])
        return places if node.name in _SAME_LIST else _NOWHERE

    def _called(self, node: nodes.Call) -> Places:
        if type(node.node) is not nodes.Getattr:
            return _NOWHERE
        owner, method = node.node.node, node.node.attr
        if method == "get" and node.args:
            return self._below(self.places(owner), constant_text(node.args[0]) or "*")
        if method in _SAME_VALUE or method == "items":
            return self.places(owner)
        return _NOWHERE

    # -- what is read ----------------------------------------------------------------------------------------

    def _member(self, node: nodes.Getattr) -> Places:
        return self._below(self.places(node.node), node.attr)

    def _element(self, node: nodes.Getitem) -> Places:
        name = constant_text(node.arg)
        return self._below(self.places(node.node), name) if name else _NOWHERE

    def _got(self, node: nodes.Call) -> Places:
        is_get = type(node.node) is nodes.Getattr and node.node.attr == "get"
        return self._called(node) if is_get else _NOWHERE

    def _membership(self, node: nodes.Compare) -> Places:
        name = constant_text(node.expr)
        if not name.isidentifier():  # else a text that is looked for in a text
            return _NOWHERE
        found = [self.places(operand.expr) for operand in node.ops if operand.op in ("in", "notin")]
        return frozenset(place for places in found for place in self._below(places, name))

    def _filter_attribute(self, node: nodes.Filter) -> Places:
        if node.name not in ("selectattr", "rejectattr", "map", "groupby", "sort", "sum", "unique", "attr"):
            return _NOWHERE
        names = [constant_text(argument) for argument in node.args[:1]]
        names += [constant_text(keyword.value) for keyword in node.kwargs if keyword.key == "attribute"]
        inside = self.places(node.node) if node.name == "attr" else self._below(self.places(node.node), "*")
        return frozenset(
            place for name in names if name for place in self._below(inside, name.replace(".", "/"))
        )


_GATHERERS = dict(
    (
        entry(nodes.Assign, FieldWalk._gather_assigned),
        entry(nodes.For, FieldWalk._gather_loop),
        entry(nodes.With, FieldWalk._gather_with),
        entry(nodes.Call, FieldWalk._gather_arguments),
    )
)
_PLACES = dict(
    (
        entry(nodes.Name, FieldWalk._named),
        entry(nodes.Getattr, FieldWalk._attribute),
        entry(nodes.Getitem, FieldWalk._item),
        entry(nodes.Filter, FieldWalk._filtered),
        entry(nodes.Call, FieldWalk._called),
        entry(nodes.CondExpr, FieldWalk._chosen),
        entry(nodes.Or, FieldWalk._either),
        entry(nodes.And, FieldWalk._either),
        entry(nodes.Add, FieldWalk._either),
        entry(nodes.List, FieldWalk._listed),
    )
)
"""What holds parts of a conversation."""
_MEMBERS = dict(
    (
        entry(nodes.Getattr, FieldWalk._member),
        entry(nodes.Getitem, FieldWalk._element),
        entry(nodes.Call, FieldWalk._got),
        entry(nodes.Compare, FieldWalk._membership),
        entry(nodes.Filter, FieldWalk._filter_attribute),
    )
)


def _one_down(places: Places, member: str) -> Places:
    """One member down. `set x = x.function` may run on what already is one: the same name twice is once."""
    end, twice = f"/{member}", member == "*"
    return frozenset(
        [
            place + end if twice or not place.endswith(end) else place
            for place in places
            if place.count("/") < _DEEPEST
        ]
    )


def constant_text(node: nodes.Node | None) -> str:
    return node.value if type(node) is nodes.Const and isinstance(node.value, str) else ""


def column_of(node: nodes.Node, place_of: PlaceOf) -> int:
    """Where an expression begins in the line that it is said to be on."""
    line, column = place_of(node)
    return column if line == node.lineno else 0


def _gives_pairs(node: nodes.Node) -> bool:
    if type(node) is nodes.Filter:
        return node.name in ("items", "dictsort")
    return type(node) is nodes.Call and type(node.node) is nodes.Getattr and node.node.attr == "items"
