"""Whether a template loops over the contents of messages: what vLLM goes by.

Source: `_detect_content_format` of vLLM 0.32.0 (`renderers/hf.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from jinja2 import nodes

from chatlint.render.grammar import children
from chatlint.render.tree import Tree


def loops_over_content(tree: Tree) -> bool:
    """Whether vLLM finds a loop over a message's content; what it cannot follow counts as none."""
    loops = tree.of(nodes.For)
    try:
        messages = _bound(tree.of(nodes.Assign), "messages")
        items = {_loop_name(loop) for loop in loops if _accessed(loop.iter) in messages}
    except AssertionError:
        return False
    if any(_accessed(loop.iter, "content") in items for loop in loops):
        return True
    names = {loop.iter.name for loop in loops if type(loop.iter) is nodes.Name}
    return bool(names) and (_outside_macros(tree, names) or _in_macros(tree, items))


def _outside_macros(tree: Tree, names: Set[str]) -> bool:
    """Whether a loop that stands in no macro goes over `content`. `names` are what all loops go over."""
    if "content" not in names:
        return False
    return not tree.of(nodes.Macro) or "content" in _loops_in(tree.root)


def _in_macros(tree: Tree, items: Set[str]) -> bool:
    """Whether a loop of a macro goes over a parameter that a call gives a message's content."""
    macros = tree.of(nodes.Macro) if items else ()
    calls = _by_name(tree.of(nodes.Call)) if macros else {}
    for macro in macros:
        given = _given_content(calls.get(macro.name, ()), macro, items)
        if given and not given.isdisjoint(_loops_in(macro)):
            return True
    return False


def _by_name(calls: Sequence[nodes.Call]) -> Mapping[str, list[nodes.Call]]:
    found: defaultdict[str, list[nodes.Call]] = defaultdict(list)
    for call in calls:
        if type(call.node) is nodes.Name:
            found[call.node.name].append(call)
    return found


def _loops_in(outer: nodes.Node) -> Iterator[str]:
    """The variables that loops go over, but for those in a macro further in."""
    stack = [*children(outer)]
    while stack:
        node = stack.pop()
        if type(node) is nodes.For and type(node.iter) is nodes.Name:
            yield node.iter.name
        if type(node) is not nodes.Macro:
            stack += children(node)


def _bound(assignments: Sequence[nodes.Assign], name: str) -> set[str]:
    """Names that hold `name`, filtered, tested or sliced: by assignments, in any order."""
    holders: defaultdict[str, list[nodes.Assign]] = defaultdict(list)
    for assignment in assignments:
        holders[_accessed(assignment.node)].append(assignment)
    names, waiting = {name}, [name]
    while waiting:
        for assignment in holders.pop(waiting.pop(), ()):
            assert type(assignment.target) is nodes.Name
            if assignment.target.name not in names:
                names.add(assignment.target.name)
                waiting.append(assignment.target.name)
    return names


def _loop_name(loop: nodes.For) -> str:
    assert type(loop.target) is nodes.Name
    return loop.target.name


def _accessed(node: nodes.Node | None, member: str = "") -> str:
    """The variable that the expression is, or whose member it is, filtered, tested or sliced; "" if none."""
    while (
        type(node) is nodes.Filter
        or type(node) is nodes.Test
        or (type(node) is nodes.Getitem and type(node.arg) is nodes.Slice)
    ):
        node = node.node
    if member:
        node = _owner(node, member)
    return node.name if type(node) is nodes.Name and node.ctx == "load" else ""


def _owner(node: nodes.Node | None, member: str) -> nodes.Node | None:
    """What the expression takes the member from, None if it is another expression."""
    if type(node) is nodes.Getitem:
        constant = type(node.arg) is nodes.Const and node.arg.value == member
        return node.node if constant else None
    return node.node if type(node) is nodes.Getattr and node.attr == member else None


def _given_content(calls: Sequence[nodes.Call], macro: nodes.Macro, items: Set[str]) -> set[str]:
    """Parameters of a macro that one of its calls gives a message's content."""
    names = [argument.name for argument in macro.args]
    given = (
        pair
        for call in calls
        for pair in (*zip(names, call.args, strict=False), *((one.key, one.value) for one in call.kwargs))
    )
    return {name for name, value in given if name in names and _accessed(value, "content") in items}
