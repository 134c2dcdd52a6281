"""How servers find out how to address a template: vLLM reads its source, llama.cpp runs it.

Sources: `_detect_content_format` of vLLM 0.32.0 (`renderers/hf.py`); `common/jinja/caps.cpp` of llama.cpp of
2026-10. llama.cpp notes which values its engine touched; here what counts is what is written.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from chatlint.conversation import JSON, Message
from chatlint.errors import TemplateError
from chatlint.records import dataclass
from chatlint.render.shaping import Manners

if TYPE_CHECKING:
    from jinja2 import nodes

Run: TypeAlias = Callable[[Sequence[Message], Sequence[Mapping[str, JSON]] | None], str | None]
"""Renders messages with tools; None where the template fails."""


_MAY_LOOP = re.compile(r"\bfor\b[^%]*\bin\b[^%]*content|\bmacro\b")
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
    """The nodes that matter, of one walk; loops with the macro that they stand in."""

    assignments: list[nodes.Assign] = field(default_factory=list)
    loops: list[tuple[nodes.For, nodes.Macro | None]] = field(default_factory=list)
    calls: list[nodes.Call] = field(default_factory=list)


def _walk(root: nodes.Template) -> _Nodes:
    from jinja2 import nodes

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
        elif isinstance(node, nodes.Call):
            found.calls.append(node)
        stack += [(child, macro) for child in node.iter_child_nodes()]
    return found


def _content_loops(root: nodes.Template) -> Iterator[bool]:
    from jinja2 import nodes

    found = _walk(root)
    messages = _bound(found.assignments, "messages")
    items = [
        _loop_name(loop) for loop, _ in found.loops if any(_is_access(loop.iter, name) for name in messages)
    ]
    for loop, macro in found.loops:
        if any(_is_access(loop.iter, name, "content") for name in items):
            yield True
        elif isinstance(loop.iter, nodes.Name):
            given = _given_content(found.calls, macro, items) if macro else {"content"}
            yield loop.iter.name in given


def _bound(assignments: Sequence[nodes.Assign], name: str) -> list[str]:
    """Names that hold `name`, filtered, tested or sliced: by assignments, in any order."""
    from jinja2 import nodes

    names, waiting = [name], deque([name])
    while waiting:
        known = waiting.popleft()
        for assignment in assignments:
            if _is_access(assignment.node, known):
                assert isinstance(assignment.target, nodes.Name)
                new = assignment.target.name
                if new not in names:
                    names.append(new)
                    waiting.append(new)
    return names


def _loop_name(loop: nodes.For) -> str:
    from jinja2 import nodes

    assert isinstance(loop.target, nodes.Name)
    return loop.target.name


def _is_access(node: nodes.Node, name: str, member: str = "") -> bool:
    """Whether the expression is the variable, or that member of it, filtered, tested or sliced."""
    from jinja2 import nodes

    if isinstance(node, (nodes.Filter, nodes.Test)):
        return node.node is not None and _is_access(node.node, name, member)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        return _is_access(node.node, name, member)
    if not member:
        return isinstance(node, nodes.Name) and node.ctx == "load" and node.name == name
    if isinstance(node, nodes.Getitem):
        constant = isinstance(node.arg, nodes.Const) and node.arg.value == member
        return constant and _is_access(node.node, name) and isinstance(node.node, nodes.Name)
    held = isinstance(node, nodes.Getattr) and node.attr == member and isinstance(node.node, nodes.Name)
    return held and _is_access(node.node, name)  # type: ignore[attr-defined]


def _given_content(calls: Sequence[nodes.Call], macro: nodes.Macro, items: Sequence[str]) -> set[str]:
    """Parameters of a macro that a call gives a message's content."""
    from jinja2 import nodes

    names = [argument.name for argument in macro.args]
    found: set[str] = set()
    for call in calls:
        if not isinstance(call.node, nodes.Name) or call.node.name != macro.name:
            continue
        given = [*zip(names, call.args, strict=False), *((one.key, one.value) for one in call.kwargs)]
        found |= {
            name
            for name, value in given
            if name in names and any(_is_access(value, item, "content") for item in items)
        }
    return found


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
