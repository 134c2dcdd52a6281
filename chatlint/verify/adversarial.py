"""A call whose value holds the format's own marks: what a format that escapes nothing cannot tell apart."""

from __future__ import annotations

import json
from collections.abc import Mapping

from chatlint.conversation import JSON, Message
from chatlint.infer.turns import calls_of
from chatlint.parse.formats import OutputFormat
from chatlint.probe.case import Case
from chatlint.records import replace
from chatlint.verify.written import plain


def with_own_marks(case: Case, output: OutputFormat) -> Case:
    """The case with marks of the format inside the first argument of its call."""
    value = f"Cobalt {' '.join(own_marks(output))} Emerald"
    messages = tuple(_changed(message, value) for message in case.conversation.messages)
    conversation = replace(case.conversation, messages=messages)
    return replace(case, probe="verify/own-marks", conversation=conversation)


def own_marks(output: OutputFormat) -> tuple[str, ...]:
    """What opens and closes calls and closes reasoning, each once."""
    calls = output.tool_calls
    marks = [output.reasoning.end] if output.reasoning else []
    if calls:
        closer = calls.members.member.rpartition("⟩")[2] if calls.members else ""
        marks += [closer, calls.call_end, calls.section_end, calls.section_start, calls.call_start]
    return tuple(dict.fromkeys(mark for pattern in marks if (mark := plain(pattern).strip())))


def _changed(message: Message, value: str) -> Message:
    if not calls_of(message):
        return message
    return {**message, "tool_calls": [_with_value(call, value) for call in calls_of(message)]}


def _with_value(call: Mapping[str, JSON], value: str) -> dict[str, JSON]:
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else {}
    sent = inner.get("arguments")
    arguments: JSON = json.loads(sent) if isinstance(sent, str) else sent
    if isinstance(arguments, Mapping) and arguments:
        arguments = {**arguments, next(iter(arguments)): value}
    encoded = json.dumps(arguments, ensure_ascii=False) if isinstance(sent, str) else arguments
    return {**call, "function": {**inner, "arguments": encoded}}
