"""How servers find out how to address a template: vLLM reads its source, llama.cpp runs it.

Sources: `_detect_content_format` of vLLM 0.32.0 (`renderers/hf.py`); `common/jinja/caps.cpp` of llama.cpp of
2026-10. llama.cpp notes which values its engine touched; here what counts is what is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from chatlint.conversation import JSON, Message
from chatlint.errors import TemplateError
from chatlint.lazy import regex
from chatlint.records import dataclass, field
from chatlint.render.shaping import Manners

if TYPE_CHECKING:
    from jinja2 import nodes

Run: TypeAlias = Callable[[Sequence[Message], Sequence[Mapping[str, JSON]] | None], str | None]
"""Renders messages with tools; None where the template fails."""


_MAY_LOOP = regex(r"\bfor\b[^%]*\bin\b[^%]*content|\bmacro\b")
"""Without one of these no loop goes over a content, and the tree need not be walked."""

# -- vLLM ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def vllm_manners(source: str) -> Manners:
    """Contents are lists of parts where a loop of the template goes over one, else texts."""
    from chatlint.render.environment import parse_template

    try:
        return manners_by_loops(bool(_MAY_LOOP.search(source)) and loops_over_content(parse_template(source)))
    except TemplateError:
        return manners_by_loops(False)


def manners_by_loops(over_content: bool) -> Manners:
    """vLLM's manners, where `loops_over_content` is known."""
    return Manners(typed=over_content, string=not over_content)


def loops_over_content(root: nodes.Template) -> bool:
    """Whether vLLM finds a loop over a message's content; what it cannot follow counts as none."""
    try:
        return any(_content_loops(root))
    except AssertionError:
        return False


@dataclass(slots=True)
class _Nodes:
    """The nodes that matter, of one walk; loops with the macro that they stand in, calls by the
    name that is called."""

    assignments: list[nodes.Assign] = field(default_factory=list)
    loops: list[tuple[nodes.For, nodes.Macro | None]] = field(default_factory=list)
    calls: defaultdict[str, list[nodes.Call]] = field(default_factory=lambda: defaultdict(list))


def _walk(root: nodes.Template) -> _Nodes:
    from jinja2 import nodes

    from chatlint.render.grammar import children

    found = _Nodes()
    stack: list[tuple[nodes.Node, nodes.Macro | None]] = [(root, None)]
    while stack:
        node, macro = stack.pop()
        if isinstance(node, nodes.For):
            found.loops.append((node, macro))
        elif isinstance(node, nodes.Macro):
            macro = node
        elif isinstance(node, nodes.Assign):
            found.assignments.append(node)
        elif isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
            found.calls[node.node.name].append(node)
        stack += [(child, macro) for child in children(node)]
    return found


def _content_loops(root: nodes.Template) -> Iterator[bool]:
    from jinja2 import nodes

    found = _walk(root)
    messages = _bound(found.assignments, "messages")
    items = {_loop_name(loop) for loop, _ in found.loops if _accessed(loop.iter) in messages}
    for loop, macro in found.loops:
        if _accessed(loop.iter, "content") in items:
            yield True
        elif isinstance(loop.iter, nodes.Name):
            given = _given_content(found.calls[macro.name], macro, items) if macro else {"content"}
            yield loop.iter.name in given


def _bound(assignments: Sequence[nodes.Assign], name: str) -> set[str]:
    """Names that hold `name`, filtered, tested or sliced: by assignments, in any order."""
    from jinja2 import nodes

    holders: defaultdict[str, list[nodes.Assign]] = defaultdict(list)
    for assignment in assignments:
        holders[_accessed(assignment.node)].append(assignment)
    names, waiting = {name}, [name]
    while waiting:
        for assignment in holders.pop(waiting.pop(), ()):
            assert isinstance(assignment.target, nodes.Name)
            if assignment.target.name not in names:
                names.add(assignment.target.name)
                waiting.append(assignment.target.name)
    return names


def _loop_name(loop: nodes.For) -> str:
    from jinja2 import nodes

    assert isinstance(loop.target, nodes.Name)
    return loop.target.name


def _accessed(node: nodes.Node | None, member: str = "") -> str:
    """The variable that the expression is, or whose member it is, filtered, tested or sliced; "" if none."""
    from jinja2 import nodes

    while isinstance(node, (nodes.Filter, nodes.Test)) or (
        isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice)
    ):
        node = node.node
    if member:
        node = _owner(node, member)
    return node.name if isinstance(node, nodes.Name) and node.ctx == "load" else ""


def _owner(node: nodes.Node | None, member: str) -> nodes.Node | None:
    """What the expression takes the member from, None if it is another expression."""
    from jinja2 import nodes

    if isinstance(node, nodes.Getitem):
        constant = isinstance(node.arg, nodes.Const) and node.arg.value == member
        return node.node if constant else None
    return node.node if isinstance(node, nodes.Getattr) and node.attr == member else None


def _given_content(calls: Sequence[nodes.Call], macro: nodes.Macro, items: Set[str]) -> set[str]:
    """Parameters of a macro that one of its calls gives a message's content."""
    names = [argument.name for argument in macro.args]
    given = (
        pair
        for call in calls
        for pair in (*zip(names, call.args, strict=False), *((one.key, one.value) for one in call.kwargs))
    )
    return {name for name, value in given if name in names and _accessed(value, "content") in items}


# -- llama.cpp -----------------------------------------------------------------------------------------------

_TEXT = "Thimble"
_SYSTEM = "Ostrich"
_VALUE = "Marzipan"
_CALLED = "sprocket"
_TOOL: Mapping[str, JSON] = {
    "type": "function",
    "function": {
        "name": "tool1",
        "description": "Tool description",
        "parameters": {
            "type": "object",
            "properties": {"arg": {"type": "string", "description": "Arg description"}},
            "required": ["arg"],
        },
    },
}


def llama_cpp_manners(run: Run) -> Manners:
    """What llama.cpp finds by running the template on five small conversations."""
    part: JSON = [{"type": "text", "text": _TEXT}]
    as_text = run([{"role": "user", "content": _TEXT}], None)
    as_parts = run([{"role": "user", "content": part}], None)
    string = as_text is not None and _TEXT in as_text
    typed = as_parts is not None and _TEXT in as_parts and f"'{_TEXT}'" not in as_parts
    content: JSON = _TEXT if string or not typed else part
    stated: JSON = _SYSTEM if content is _TEXT else [{"type": "text", "text": _SYSTEM}]
    system = run([{"role": "system", "content": stated}, {"role": "user", "content": content}], None)
    calls, objects = _calls(run)
    return Manners(typed, string or not typed, system is not None and _SYSTEM in system, calls, objects)


def _calls(run: Run) -> tuple[bool, bool]:
    """Whether it takes calls, and their arguments as objects."""
    with_object = run(_one_call({"arg": _VALUE}), [_TOOL])
    if with_object is not None:
        return _CALLED in with_object or _VALUE in with_object, _VALUE in with_object
    return run(_one_call(f'{{"arg": "{_VALUE}"}}'), [_TOOL]) is not None, False


def _one_call(arguments: JSON) -> list[Message]:
    call: JSON = {
        "id": "call00001",
        "type": "function",
        "function": {"name": _CALLED, "arguments": arguments},
    }
    return [
        {"role": "user", "content": _TEXT},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "Tool response", "tool_call_id": "call00001"},
        {"role": "assistant", "content": "The tool response"},
        {"role": "user", "content": _TEXT},
    ]
