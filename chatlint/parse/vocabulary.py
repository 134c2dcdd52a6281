"""A format in the words of the report: llama.cpp's nine, and further ones where it has no word.

llama.cpp's analyser (`common/chat-diff-analyzer.cpp`) names how reasoning, content and calls are set apart.
Its words are kept; it has none for Python calls, for channels with recipients and for nested elements.
"""

from __future__ import annotations

from enum import StrEnum

from chatlint.conversation import JSON
from chatlint.parse import saved
from chatlint.parse.formats import OutputFormat, ReasoningState, Syntax, ToolCalls
from chatlint.parse.notation import Items, Members, Written
from chatlint.parse.patterns import Slot, split_at


class ReasoningMode(StrEnum):
    """Whether reasoning is set apart by marks."""

    NONE = "NONE"
    TAG_BASED = "TAG_BASED"
    CHANNEL = "CHANNEL"
    """A word in the message's header says so."""


class ContentMode(StrEnum):
    """Whether content is set apart by marks."""

    PLAIN = "PLAIN"
    ALWAYS_WRAPPED = "ALWAYS_WRAPPED"
    WRAPPED_WITH_REASONING = "WRAPPED_WITH_REASONING"
    """In some turns only: after reasoning, beside calls."""


class ToolFormat(StrEnum):
    """How a call is written."""

    NONE = "NONE"
    JSON_NATIVE = "JSON_NATIVE"
    TAG_WITH_JSON = "TAG_WITH_JSON"
    TAG_WITH_TAGGED = "TAG_WITH_TAGGED"
    PYTHON_CALL = "PYTHON_CALL"
    CHANNEL_WITH_RECIPIENT = "CHANNEL_WITH_RECIPIENT"
    NESTED_ELEMENTS = "NESTED_ELEMENTS"
    """Marks around each argument, and around what is inside arrays and objects, too."""


class CallIdPosition(StrEnum):
    """Where a call's id stands."""

    NONE = "NONE"
    PRE_FUNC_NAME = "PRE_FUNC_NAME"
    BETWEEN_FUNC_AND_ARGS = "BETWEEN_FUNC_AND_ARGS"
    POST_ARGS = "POST_ARGS"


def in_words(output: OutputFormat) -> dict[str, JSON]:
    """The format as the report states it. `saved` is the whole of it, for `OutputFormat.from_dict`."""
    calls = output.tool_calls
    return {
        "reasoning_mode": reasoning_mode(output),
        "content_mode": content_mode(output),
        "tool_format": tool_format(output),
        "call_id_position": call_id_position(calls) if calls else CallIdPosition.NONE,
        "family": None,
        "confidence": output.confidence,
        "reasoning": _reasoning(output),
        "content": {"start": output.content.start, "end": output.content.end},
        "tool_calls": _tool_calls(calls) if calls else None,
        "saved": output.to_dict(),
    }


def reasoning_mode(output: OutputFormat) -> ReasoningMode:
    """How reasoning is told from the rest."""
    if output.reasoning is None:
        return ReasoningMode.NONE
    return ReasoningMode.CHANNEL if output.header_end else ReasoningMode.TAG_BASED


def content_mode(output: OutputFormat) -> ContentMode:
    """How content is told from the rest."""
    wrapped = [bool(marks.start) for marks in output.content.every]
    if not any(wrapped):
        return ContentMode.PLAIN
    return ContentMode.ALWAYS_WRAPPED if all(wrapped) else ContentMode.WRAPPED_WITH_REASONING


def tool_format(output: OutputFormat) -> ToolFormat:
    """What kind of writing a call is."""
    calls = output.tool_calls
    if calls is None:
        return ToolFormat.NONE
    if output.header_end:
        return ToolFormat.CHANNEL_WITH_RECIPIENT
    if calls.syntax is not Syntax.TEXT:
        return ToolFormat.JSON_NATIVE if calls.syntax is Syntax.JSON else ToolFormat.PYTHON_CALL
    if calls.members is None:
        return ToolFormat.TAG_WITH_JSON
    if isinstance(calls.values.array, Items) or isinstance(calls.values.object, Members):
        return ToolFormat.NESTED_ELEMENTS
    called = f"{Slot.NAME.placeholder}(" in calls.body
    return ToolFormat.PYTHON_CALL if called else ToolFormat.TAG_WITH_TAGGED


def call_id_position(calls: ToolCalls) -> CallIdPosition:
    """Where the id stands beside name and arguments."""
    whole = calls.call_start + calls.body
    places = {slot: whole.find(slot.placeholder) for slot in (Slot.ID, Slot.NAME, Slot.ARGUMENTS)}
    if places[Slot.ID] < 0:
        return CallIdPosition.NONE
    if places[Slot.ID] > places[Slot.ARGUMENTS]:
        return CallIdPosition.POST_ARGS
    before_name = places[Slot.ID] < places[Slot.NAME] or places[Slot.NAME] < 0
    return CallIdPosition.PRE_FUNC_NAME if before_name else CallIdPosition.BETWEEN_FUNC_AND_ARGS


def _reasoning(output: OutputFormat) -> JSON:
    if output.reasoning is None:
        return None
    prompt = output.generation_prompt
    states = (prompt.reasoning, *(switched.reasoning for switched in prompt.by_switch))
    return {
        "start": output.reasoning.start,
        "end": output.reasoning.end,
        "opened_by_prompt": ReasoningState.OPEN in states,
    }


def _tool_calls(calls: ToolCalls) -> JSON:
    whole = calls.call_start + calls.body
    return {
        "section_start": calls.section_start,
        "section_end": calls.section_end,
        "call_start": calls.call_start,
        "call_end": calls.call_end,
        "separator": calls.separator,
        "body": calls.body,
        "name": _around(whole, Slot.NAME),
        "arguments": _around(calls.body, Slot.ARGUMENTS),
        "id": _around(whole, Slot.ID),
        "values": {name: _value(way) for name, way in calls.values.by_type.items()}
        if calls.members
        else None,
        "guess": calls.guess,
    }


def _around(pattern: str, slot: Slot) -> JSON:
    """What stands before and after a slot, up to the next one; None where the pattern has no such slot."""
    if slot.placeholder not in pattern:
        return None
    before, after = split_at(pattern, slot)
    return {"before": before.rpartition("⟩")[2], "after": after.partition("⟨")[0]}


def _value(way: Written | Items | Members) -> JSON:
    kind = {Written: "text", Items: "items", Members: "members"}[type(way)]
    return {"written": kind, **saved.to_dict(way)}
