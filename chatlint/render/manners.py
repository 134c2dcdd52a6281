"""How servers find out how to address a template: vLLM reads its source, llama.cpp runs it.

Source: `common/jinja/caps.cpp` of llama.cpp of 2026-10. It notes which values its engine touched; here what
counts is what is written. For vLLM see `content_loops`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from chatlint.conversation import JSON, Message
from chatlint.errors import TemplateError
from chatlint.lazy import regex
from chatlint.render.shaping import Manners

Run: TypeAlias = Callable[[Sequence[Message], Sequence[Mapping[str, JSON]] | None], str | None]
"""Renders messages with tools; None where the template fails."""


_MAY_LOOP = regex(r"\bfor\b[^%]*\bin\b[^%]*content|\bmacro\b")
"""Without one of these no loop goes over a content, and the tree need not be walked."""

# -- vLLM ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def vllm_manners(source: str) -> Manners:
    """Contents are lists of parts where a loop of the template goes over one, else texts."""
    if not _MAY_LOOP.search(source):
        return manners_by_loops(False)
    from chatlint.render.content_loops import loops_over_content
    from chatlint.render.environment import parse_template
    from chatlint.render.tree import tree_of

    try:
        return manners_by_loops(loops_over_content(tree_of(parse_template(source))))
    except TemplateError:
        return manners_by_loops(False)


def manners_by_loops(over_content: bool) -> Manners:
    """vLLM's manners, where `loops_over_content` is known."""
    return Manners(typed=over_content, string=not over_content)


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
