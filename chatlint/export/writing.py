"""A message as the format writes it: the parser, backwards.

What is written here is exact, whitespace too. Exports are tried against it before they are handed out, and
known formats are recognised by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from chatlint.conversation import JSON
from chatlint.parse.formats import Items, Members, OutputFormat, Syntax, ToolCalls, Values
from chatlint.parse.notation import Encoding, Written
from chatlint.parse.patterns import Slot, pieces, skeleton, slots
from chatlint.parse.schemas import type_of
from chatlint.records import dataclass, field

ID_WITH_NAME = "functions.⟨name⟩:⟨n⟩"
"""An id that stands for the name, where the template prints the client's: as clients make them."""
SAMPLE_ID = "abc000000"
"""An id where nothing says what ids look like: nine letters and digits suit every known format."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call to be written. An `id` of "" is made as the format makes ids."""

    name: str
    arguments: Mapping[str, JSON] = field(default_factory=dict)
    id: str = ""


def fill(pattern: str, values: Mapping[Slot, str]) -> str:
    """A pattern with its slots filled; slots without a value are left out."""
    return "".join(values.get(piece, "") if isinstance(piece, Slot) else piece for piece in pieces(pattern))


def write_calls(calls: ToolCalls, written: Sequence[Call], counter: int = 0) -> str:
    """The calls with all their marks; counters say `counter`, then one more for each call."""
    parts = [_call(calls, call, counter + index) for index, call in enumerate(written)]
    marks = {Slot.COUNTER: str(counter)}
    separator = fill(calls.separator, marks)
    return fill(calls.section_start, marks) + separator.join(parts) + fill(calls.section_end, marks)


def write_turn(
    output: OutputFormat, *, reasoning: str = "", content: str = "", calls: Sequence[Call] = ()
) -> str:
    """What follows the header in a turn of these parts, up to the mark that ends the turn.

    Parts are written in the format's order. Where each is a message, its end and a header stand between them.
    """
    parts = {
        "reasoning": _around(output.reasoning, reasoning) if output.reasoning else ("", ""),
        "content": _around(output.content, content),
        "tool_calls": (write_calls(output.tool_calls, calls), "")
        if output.tool_calls and calls
        else ("", ""),
    }
    shown = [(name, *parts[name]) for name in output.order if parts[name][0]]
    several = bool(output.header_end or output.end_of_message)
    text = ""
    for index, (name, part, end) in enumerate(shown):
        over = index + 1 < len(shown) and several
        closed = end or name == "tool_calls"
        between = (
            ("" if closed else _first(output.end_of_message)) + fill(output.header, _ZERO) if over else ""
        )
        text += part + end + between
    return text


_ZERO = {Slot.COUNTER: "0"}


def _first(marks: Sequence[str]) -> str:
    return fill(marks[0], _ZERO) if marks else ""


def _around(part: object, text: str) -> tuple[str, str]:
    """A part with its opener, and its closer."""
    start, end = (fill(str(getattr(part, name)), _ZERO) for name in ("start", "end"))
    return (f"{start}{text}", end) if text else ("", "")


def _call(calls: ToolCalls, call: Call, counter: int) -> str:
    values = {Slot.NAME: call.name, Slot.COUNTER: str(counter)}
    values[Slot.ID] = call.id or _identity(calls, values)
    start, end = fill(calls.call_start, values), fill(calls.call_end, values)
    if calls.syntax is Syntax.TEXT:
        return start + fill(calls.body, {**values, Slot.ARGUMENTS: _arguments(calls, call)}) + end
    return start + _literal(calls, call, values) + end


def _identity(calls: ToolCalls, values: Mapping[Slot, str]) -> str:
    """The call's id, which carries the name where nothing else does."""
    names = Slot.NAME in slots(calls.call_start + calls.body)
    return fill(calls.id or ("" if names else ID_WITH_NAME), values) or SAMPLE_ID


def _literal(calls: ToolCalls, call: Call, values: Mapping[Slot, str]) -> str:
    """The body of a call that is an object literal."""
    encode = repr if calls.syntax is Syntax.PYTHON else _json
    arguments = encode(dict(call.arguments))
    if skeleton(calls.body).arguments_quoted:
        arguments = _json(_json(call.arguments))[1:-1]
    escaped = {slot: _json(value)[1:-1] for slot, value in values.items()}
    return fill(calls.body, {**escaped, Slot.ARGUMENTS: arguments})


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)


def _arguments(calls: ToolCalls, call: Call) -> str:
    if calls.members is None:
        return _json(call.arguments)
    return write_members(calls.members, calls.values, call.arguments)


def write_members(members: Members, values: Values, written: Mapping[str, JSON]) -> str:
    """An object in a notation of marks."""
    parts = [
        fill(members.member, {Slot.KEY: key, Slot.VALUE: write_value(values, value), Slot.COUNTER: "0"})
        for key, value in written.items()
    ]
    return members.start + members.separator.join(parts) + members.end


def write_value(values: Values, value: JSON) -> str:
    """A value with the marks of its type."""
    way = values.by_type[type_of(value)]
    if isinstance(way, Members):
        return write_members(way, values, value if isinstance(value, Mapping) else {})
    if isinstance(way, Items):
        items = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
        parts = [fill(way.item, {Slot.VALUE: write_value(values, item)}) for item in items]
        return way.start + way.separator.join(parts) + way.end
    if isinstance(value, str) and (quote := quotes_of(way)):
        return quote + _json(value)[1:-1].replace('\\"', '"').replace(quote, f"\\{quote}") + quote
    if way.encoding is Encoding.RAW:
        text = value if isinstance(value, str) else _json(value)
    else:
        text = repr(value) if way.encoding is Encoding.PYTHON else _json(value)
    return way.start + text + way.end


def quotes_of(way: Written) -> str:
    """The quote of string literals whose quotes were taken for marks; "" for other notations. What stands in
    them is escaped, whatever the template's history does."""
    return way.start if way.start == way.end and way.start in ("'", '"') else ""
