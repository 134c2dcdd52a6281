"""Writes messages in a format, so that they can be read back: the opposite of the machine, and much simpler."""

from __future__ import annotations

import json

from chatlint.parse.formats import (
    Encoding,
    Items,
    Members,
    OutputFormat,
    Syntax,
    ToolCalls,
    Values,
    Written,
)
from chatlint.parse.patterns import ARGUMENTS, COUNTER, ID, KEY, NAME, VALUE


def json_type(value) -> str:
    """The name of a value's type in `Values`."""
    if isinstance(value, bool):
        return "boolean"
    names = {
        str: "string",
        int: "integer",
        float: "number",
        type(None): "null",
        list: "array",
        dict: "object",
    }
    return names[type(value)]


def encoded(value, encoding: Encoding) -> str:
    """A value's text, without marks."""
    if encoding is Encoding.RAW and isinstance(value, str):
        return value
    return repr(value) if encoding is Encoding.PYTHON else json.dumps(value, ensure_ascii=False)


def write_value(value, values: Values) -> str:
    """A value with its marks."""
    way = values.by_type[json_type(value)]
    if isinstance(way, Written):
        return way.start + encoded(value, way.encoding) + way.end
    if isinstance(way, Items):
        items = [way.item.replace(VALUE, write_value(item, values)) for item in value]
        return way.start + way.separator.join(items) + way.end
    return write_members(value, way, values)


def write_members(arguments: dict, members: Members, values: Values) -> str:
    """Arguments as members."""
    before, _, after = members.member.partition(VALUE)
    written = [
        before.replace(KEY, key) + write_value(value, values) + after.replace(KEY, key)
        for key, value in arguments.items()
    ]
    return members.start + members.separator.join(written) + members.end


def write_call(calls: ToolCalls, name: str, arguments: dict, identity: str, index: int) -> str:
    """One call with its marks."""
    if calls.members:
        text = write_members(arguments, calls.members, calls.values)
    else:
        text = json.dumps(arguments, ensure_ascii=False)
    if calls.syntax is not Syntax.TEXT and f'"{ARGUMENTS}"' in calls.body:
        text = json.dumps(text)[1:-1]
    body = calls.call_start + calls.body
    for placeholder, value in ((NAME, name), (ID, identity), (COUNTER, str(index)), (ARGUMENTS, text)):
        body = body.replace(placeholder, value)
    return body + calls.call_end


def write(output: OutputFormat, *, content: str = "", reasoning: str = "", calls=(), ids=()) -> str:
    """The text of a turn: reasoning, content, calls as (name, arguments)."""
    between = output.header if output.header_end else ""
    parts = []
    if reasoning and output.reasoning:
        parts.append(output.reasoning.start + reasoning + output.reasoning.end)
    if content:
        end = output.content.end or (output.end_of_message[0] if between and calls else "")
        parts.append(output.content.start + content + end)
    if calls:
        form = output.tool_calls
        ids = ids or [""] * len(calls)
        written = [
            write_call(form, *call, identity, i)
            for i, (call, identity) in enumerate(zip(calls, ids, strict=True))
        ]
        joint = between or form.separator
        parts.append(form.section_start + joint.join(written) + form.section_end)
    return between.join(parts)
