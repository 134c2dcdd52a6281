"""The format in the nine words that llama.cpp has for formats, with more where it has none.

| field | llama.cpp's words | ours besides |
|---|---|---|
| reasoning_mode | NONE TAG_BASED TOOLS_ONLY | |
| content_mode | PLAIN ALWAYS_WRAPPED WRAPPED_WITH_REASONING | |
| tool_format | NONE JSON_NATIVE TAG_WITH_JSON TAG_WITH_TAGGED | PYTHON_CALLS, NESTED_ELEMENTS, … |
| call_id_position | NONE PRE_FUNC_NAME BETWEEN_FUNC_AND_ARGS POST_ARGS | |
"""

from __future__ import annotations

from chatlint.infer.markers import atoms, is_tag
from chatlint.parse import patterns
from chatlint.parse.formats import OutputFormat, Syntax, ToolCalls
from chatlint.parse.notation import Items, Members
from chatlint.records import dataclass

TOOLS_ONLY = "only beside calls"
"""Beginning of the ground's note where reasoning shows only in turns with calls."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One word per question."""

    reasoning_mode: str
    content_mode: str
    tool_format: str
    call_id_position: str


def vocabulary(output: OutputFormat) -> Vocabulary:
    """The words for a format."""
    return Vocabulary(
        _reasoning_mode(output),
        _content_mode(output),
        _tool_format(output),
        _call_id_position(output.tool_calls),
    )


def _reasoning_mode(output: OutputFormat) -> str:
    if output.reasoning is None:
        return "NONE"
    ground = output.grounds.get("reasoning")
    return "TOOLS_ONLY" if ground and ground.note.startswith(TOOLS_ONLY) else "TAG_BASED"


def _content_mode(output: OutputFormat) -> str:
    if output.content.start.strip():
        return "ALWAYS_WRAPPED"
    wrapped = any(marks.start.strip() for marks in output.content.alternatives)
    return "WRAPPED_WITH_REASONING" if wrapped and output.reasoning else "PLAIN"


def _tool_format(output: OutputFormat) -> str:
    calls = output.tool_calls
    if calls is None:
        return "NONE"
    if output.header_end or _is_addressed(output, calls):
        return "RECIPIENT_CHANNELS"
    if calls.syntax is not Syntax.TEXT:
        return "JSON_NATIVE"
    if calls.members is None:
        return "TAG_WITH_JSON"
    if isinstance(calls.values.object, Members) or isinstance(calls.values.array, Items):
        return "NESTED_ELEMENTS"
    return "TAG_WITH_TAGGED" if _has_tag(calls.members.member) else "PYTHON_CALLS"


def _is_addressed(output: OutputFormat, calls: ToolCalls) -> bool:
    """Whether content begins as calls do, with another word in the name's place."""
    start = output.content.start
    return bool(calls.call_start.strip()) and start.startswith(calls.call_start) and not _has_tag(start)


def _has_tag(member: str) -> bool:
    return any(is_tag(atom) or atom[0] == "<" for atom in atoms(member))


def _call_id_position(calls: ToolCalls | None) -> str:
    if calls is None or patterns.ID not in calls.body:
        return "NONE"
    at, arguments = calls.body.index(patterns.ID), calls.body.index(patterns.ARGUMENTS)
    if at > arguments:
        return "POST_ARGS"
    named = calls.call_start + calls.body[:at]
    return "BETWEEN_FUNC_AND_ARGS" if patterns.NAME in named else "PRE_FUNC_NAME"
