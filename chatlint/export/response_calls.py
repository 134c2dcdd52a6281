"""Tool calls in a response template: anchors with captures, and one of transformers' parsers for the body."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chatlint.conversation import JSON
from chatlint.errors import UsageError
from chatlint.export.marks import first_of
from chatlint.export.writing import quotes_of
from chatlint.parse.formats import Items, Members, OutputFormat, Syntax, ToolCalls
from chatlint.parse.markers import is_strong
from chatlint.parse.notation import Encoding, Values, Written
from chatlint.parse.patterns import (
    ARGUMENTS,
    KEY,
    NAME,
    VALUE,
    Skeleton,
    Slot,
    pieces,
    skeleton,
    slots,
    split_at,
)

NAME_RUN = r"[^\s<>(){}\[\]\"'`,;=|｜]+"
_ID_AROUND = rf"(?:functions\.)?{NAME}(?::\d+)?"
"""An id that carries the name and is the client's: as clients make ids for such formats, or the name
alone."""
IDENTITY_RUN = r"[^\s<>(){}\[\]\"'`,;=|｜]*"


def cannot(reason: str) -> UsageError:
    """Why a format is no response template."""
    return UsageError(
        f"a response template cannot express this format: {reason}",
        hint="serve it with a named parser (--to vllm, --to sglang), or force it with a grammar (--to gbnf)",
    )


def loose(pattern: str, groups: Mapping[Slot, str] | None = None) -> str:
    """A pattern as a regular expression. White space may be any or none."""
    known = {Slot.COUNTER: r"\d+", **(groups or {})}
    parts = [
        known.get(piece, "") if isinstance(piece, Slot) else _loose_text(piece) for piece in pieces(pattern)
    ]
    return "".join(parts)


def _loose_text(text: str) -> str:
    return r"\s*".join(re.escape(part).replace("\\ ", " ") for part in re.split(r"\s+", text))


def exact(pattern: str, groups: Mapping[Slot, str] | None = None) -> str:
    """A pattern as a regular expression that takes white space as it stands."""
    known = {Slot.COUNTER: r"\d+", **(groups or {})}
    return "".join(
        known.get(piece, "") if isinstance(piece, Slot) else re.escape(piece) for piece in pieces(pattern)
    )


def calls_field(output: OutputFormat, calls: ToolCalls) -> dict[str, JSON]:
    """The field `tool_calls`.

    Raises UsageError that says why where it cannot be expressed.
    """
    if _is_call_list(calls):
        return _call_list(output, calls)
    if calls.syntax is not Syntax.TEXT and _is_array(calls):
        return _array(output, calls)
    return _each(output, calls)


# -- all calls in one list -------------------------------------------------------------------------------


def _is_array(calls: ToolCalls) -> bool:
    """Whether the calls are the items of one array."""
    between = calls.call_end + calls.separator + calls.call_start
    return (
        calls.section_start.rstrip().endswith("[")
        and calls.section_end.lstrip().startswith("]")
        and between.strip() == ","
    )


def _array(output: OutputFormat, calls: ToolCalls) -> dict[str, JSON]:
    """An array of objects, read whole."""
    if calls.syntax is Syntax.PYTHON:
        raise cannot("its calls are Python literals")
    found = skeleton(calls.body)
    if found.name is None or NAME in found.arguments:
        raise cannot("the only key of each call is the tool's name")
    return {
        **_list_anchors(output, calls),
        "content": "json",
        "transform": _transform(found, ""),
        "transform_each": True,
    }


def _is_call_list(calls: ToolCalls) -> bool:
    """Whether the calls are Python calls with keyword arguments in one list."""
    members = calls.members
    return (
        members is not None
        and members.member == f"{KEY}={VALUE}"
        and members.separator.strip() == ","
        and not (members.start or members.end)
        and re.sub(r"\s", "", calls.call_start + calls.body + calls.call_end) == f"{NAME}({ARGUMENTS})"
        and calls.section_start.rstrip().endswith("[")
        and calls.section_end.lstrip().startswith("]")
        and calls.separator.strip() == ","
        and _all_literals(calls.values)
    )


def _all_literals(values: Values) -> bool:
    """Whether every value is a literal; quotes that were taken for marks are quotes."""
    ways = values.by_type.values()
    return all(isinstance(way, Written) and (quotes_of(way) or _bare(way)) for way in ways)


def _bare(way: Written) -> bool:
    return way.encoding is not Encoding.RAW and not (way.start or way.end)


def _call_list(output: OutputFormat, calls: ToolCalls) -> dict[str, JSON]:
    function: dict[str, JSON] = {"name": "{name}", "arguments": "{arguments}"}
    return {
        **_list_anchors(output, calls),
        "content": "python-call-list",
        "transform": {"type": "function", "function": function},
        "transform_each": True,
    }


def _list_anchors(output: OutputFormat, calls: ToolCalls) -> dict[str, JSON]:
    """Anchors around a list whose brackets are the body's."""
    start = calls.section_start.rstrip()[:-1]
    end = calls.section_end.lstrip()[1:]
    inside = r"\[\s*" + (_begins(calls.body) if calls.syntax is not Syntax.TEXT else NAME_RUN + r"\(")
    opened = rf"\s*{loose(start.strip())}\s*(?={inside})"
    last = "}" if calls.syntax is not Syntax.TEXT else ")"
    shown = calls.section_end.partition("]")[0]
    ends = dict.fromkeys((f"{last}]", f"{last}{shown}]"))
    after = f"(?:{'|'.join(f'(?<={re.escape(text)})' for text in ends)})"
    if end.strip():
        return {"open_pattern": opened, "close_pattern": rf"{after}\s*{loose(end.strip())}\s*"}
    return {"open_pattern": opened, "close_pattern": rf"{after}\s*(?={_turn_ends(output)})"}


def _turn_ends(output: OutputFormat) -> str:
    """What ends a body that has no end of its own."""
    marks = [loose(mark.strip()) for mark in (*output.end_of_turn, *output.end_of_message) if mark.strip()]
    return "|".join([*marks, r"\Z"])


# -- each call by itself ---------------------------------------------------------------------------------


def _each(output: OutputFormat, calls: ToolCalls) -> dict[str, JSON]:
    """One region for each call."""
    if calls.syntax is Syntax.PYTHON:
        raise cannot("its calls are Python literals")
    if calls.syntax is Syntax.TEXT:
        return _text_call(output, calls)
    found = skeleton(calls.body)
    if found.name is None or NAME in found.arguments:
        raise cannot("the only key of a call is the tool's name")
    opened = loose(calls.call_start.strip(), {Slot.NAME: NAME_RUN})
    body = "" if is_strong(calls.call_start.strip()) else rf"(?={_begins(calls.body)})"
    return {
        "open_pattern": _opener(output, calls, opened + body),
        **_closer(output, calls, calls.call_end, literal=True),
        "content": "json",
        "repeats": True,
        "transform": _transform(found, "content."),
    }


def _begins(body: str) -> str:
    """How an object literal begins: its own keys up to the arguments, so that other data does not pass for a
    call."""
    before = body.partition(ARGUMENTS)[0].rstrip().removesuffix('"')
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|[^\s"]', before)
    string = r'"[^"]*"'
    return r"\s*".join(string if "⟨" in token else re.escape(token) for token in tokens)


def _transform(found: Skeleton, root: str) -> dict[str, JSON]:
    """Where name, arguments and id of a parsed object are."""
    for key in (*found.arguments, *(found.name or ()), *(found.id or ())):
        if not re.fullmatch(r"\w+", key):
            raise cannot(f"a call has the key {key!r}")
    function: dict[str, JSON] = {
        "name": f"{{{root}{'.'.join(found.name or ())}}}",
        "arguments": f"{{{root}{'.'.join(found.arguments)}}}",
    }
    identity: dict[str, JSON] = {"id": f"{{{root}{'.'.join(found.id)}}}"} if found.id else {}
    return {"type": "function", **identity, "function": function}


def _opener(output: OutputFormat, calls: ToolCalls, opened: str) -> str:
    """The opener of a call, with all that may stand before it and is no content."""
    before = [loose(mark.strip()) for mark in (calls.section_start, calls.separator) if mark.strip()]
    optional = "".join(rf"(?:{mark}\s*)?" for mark in before)
    others = [*output.content.every, *(output.reasoning.every if output.reasoning else ())]
    alike = [loose(marks.start.strip()) for marks in others if _alike(opened, marks.start)]
    unlike = rf"(?!{'|'.join(alike)})" if alike else ""
    return rf"\s*{unlike}{optional}{opened}"


def _alike(opened: str, start: str) -> bool:
    """Whether what opens another part would open a call."""
    return bool(start.strip() and re.match(opened, start, re.DOTALL))


def _closer(output: OutputFormat, calls: ToolCalls, end: str, *, literal: bool) -> dict[str, JSON]:
    """The closer of a call, with the white space behind it; without one, where the next thing begins. Behind
    a JSON literal only a bracket can stand before it, so that the mark inside a string closes nothing."""
    after = r"(?<=\})" if literal else ""
    if end.strip() in [mark.strip() for mark in output.end_of_turn] and not slots(end):
        # engines stop at it and put it back only where it is told as text
        return {"close": end.strip()}
    if end.strip():
        return {"close_pattern": rf"{after}\s*{loose(end.strip())}\s*"}
    following = [re.escape(first_of(mark)) for mark in (calls.separator, calls.call_start) if first_of(mark)]
    nexts = "|".join([*following[:1], _turn_ends(output)])
    if calls.section_end.strip():
        nexts = f"{loose(calls.section_end.strip())}|{nexts}"
    return {"close_pattern": rf"(?<=\}})\s*(?={nexts})"}


def _text_call(output: OutputFormat, calls: ToolCalls) -> dict[str, JSON]:
    """A call whose name stands in text; its arguments are the region."""
    before, after = split_at(calls.body, Slot.ARGUMENTS)
    start, end = calls.call_start + before, after + calls.call_end
    content = _content(calls)
    brackets = content.pop("brackets", False)
    if brackets:
        start, end = start.rstrip(), end.lstrip()
    opened = _named(calls, start, output.header_end)
    field: dict[str, JSON] = {"open_pattern": _opener(output, calls, opened), **content, "repeats": True}
    function: dict[str, JSON] = {"name": "{name}", "arguments": "{content}"}
    if brackets:
        field["open_pattern"] = _opener(
            output, calls, _named(calls, start[:-1], output.header_end) + r"(?=\{)"
        )
        end = end[1:]
    field |= _closer(output, calls, end, literal=content["content"] == "json")
    identity: dict[str, JSON] = {"id": "{id}"} if "(?P<id>" in opened else {}
    return {**field, "transform": {"type": "function", **identity, "function": function}}


def _named(calls: ToolCalls, start: str, header_end: str) -> str:
    """The opener of a call up to its arguments, with the groups `name` and `id`."""
    parts = slots(start)
    name = f"(?P<name>{NAME_RUN})"
    if Slot.NAME not in parts and NAME not in calls.id:
        if Slot.ID not in parts or calls.id:
            raise cannot("it does not say where a call's name is")
        short = name.replace("|｜]", "|｜:]")
        return loose(start, {Slot.ID: f"(?P<id>{_ID_AROUND.replace(NAME, short)})"})
    if Slot.NAME not in parts:
        identity = exact(calls.id, {Slot.NAME: f"(?P<name>{NAME_RUN})"})
        return loose(start, {Slot.ID: f"(?P<id>{identity})"})
    made = f"(?P<id>{loose(calls.id, {Slot.NAME: NAME_RUN})})" if calls.id else f"(?P<id>{IDENTITY_RUN})"
    first, _, rest = start.partition(NAME)
    if header_end and header_end in rest:
        return _in_header(first, rest, header_end, name)
    again = {Slot.NAME: NAME_RUN, Slot.ID: made}
    return loose(first, again) + name + _rest(rest, again)


def _rest(rest: str, groups: Mapping[Slot, str]) -> str:
    """What follows the name. A mark before an id goes with the id, which may be missing."""
    before, found, after = rest.partition(Slot.ID.placeholder)
    if not found or not before:
        return loose(rest, groups)
    return rf"(?:{loose(before)})?{groups[Slot.ID]}{loose(after, groups)}"


def _in_header(first: str, rest: str, header_end: str, name: str) -> str:
    """A name among the words of a message's header, which come in any order."""
    lead, _, word = first.rpartition(" ")
    body = rest.partition(header_end)[2]
    optional = rf"(?:{loose(lead.strip())})?" if lead.strip() else ""
    anything = rf"(?:(?!{loose(header_end)}).)*?"
    ending = loose(header_end) + loose(body, {Slot.NAME: NAME_RUN})
    return rf"{optional}\s*{loose(word)}{name}(?=[\s<]){anything}{ending}"


# -- arguments -------------------------------------------------------------------------------------------


def _content(calls: ToolCalls) -> dict[str, JSON]:
    """The parser for the arguments, and whether the brackets around them are its own."""
    if calls.members is None:
        return {"content": "json"}
    if _is_object_literal(calls):
        delims = calls.values.string
        return {
            "content": "json",
            "content_args": {
                "unquoted_keys": True,
                **({"string_delims": [[delims.start, delims.end]]} if delims.start else {}),
            },
            "brackets": True,
        }
    return {"content": "xml-inline", "content_args": _tag_pattern(calls.members, calls.values)}


def _is_object_literal(calls: ToolCalls) -> bool:
    """Whether the arguments are an object literal with bare keys, and strings in delimiters of their own."""
    before, after = split_at(calls.body, Slot.ARGUMENTS)
    members, values = calls.members, calls.values
    around = before.rstrip().endswith("{") and (after + calls.call_end).lstrip().startswith("}")
    if (
        members is None
        or members.member != f"{KEY}:{VALUE}"
        or members.separator.strip() != ","
        or not around
    ):
        return False
    # a null that stands there as None is one value lost, not the format
    others = [way for name, way in values.by_type.items() if name not in ("string", "null")]
    return all(map(_like_json, others)) and (
        bool(values.string.start) or values.string.encoding is Encoding.JSON
    )


def _like_json(way: Written | Items | Members) -> bool:
    if isinstance(way, Members):
        return (way.start, way.end, way.separator.strip()) == ("{", "}", ",")
    if isinstance(way, Items):
        return (way.start, way.end, way.separator.strip()) == ("[", "]", ",")
    return way.encoding is Encoding.JSON and not (way.start or way.end)


def _tag_pattern(members: Members, values: Values) -> dict[str, JSON]:
    """The pattern of one member for the `xml-inline` parser. Values stay text; the tools' schemas type
    them."""
    ways = values.by_type
    if any(not isinstance(way, Written) for way in ways.values()):
        raise cannot("objects or lists inside arguments have marks of their own")
    written = [way for way in ways.values() if isinstance(way, Written)]
    if any(way.encoding is Encoding.PYTHON for way in written[5:]):
        raise cannot("objects or lists inside arguments are Python literals")
    ends = {way.end for way in written}
    before, _, close = members.member.partition(VALUE)
    if len(ends) > 1 or not ((ends == {""} and close.strip()) or ends != {""}):
        raise cannot(
            "nothing ends the value of an argument" if ends == {""} else "values of each type end otherwise"
        )
    starts = list(dict.fromkeys(way.start for way in written))
    alternatives = "|".join(map(exact, starts))
    start = alternatives if len(starts) == 1 else f"(?:{alternatives})"
    key, _, mid = before.partition(KEY)
    stops = re.escape("".join(sorted({*members.separator.strip(), *mid.strip()[:1]})))
    pattern = (
        loose(key.strip())
        + rf"(?P<key>[^\s<>\"'{stops}]+?)"
        + exact(mid)
        + start
        + _value(ends.pop() + close)
    )
    value_parser: dict[str, JSON] = {}
    if values.string.encoding is not Encoding.RAW:
        value_parser = {"value_parser": {"name": "json"}}
    return {"tag_pattern": pattern, **value_parser}


def _value(close: str) -> str:
    """A value and its end: exact, a key in it is the member's own. XML's way to quote is taken off."""
    end = exact(close.rstrip(), {Slot.KEY: r"(?P=key)"})
    if close.startswith("</"):
        return rf"(?:<!\[CDATA\[)?(?P<value>.*?)(?:\]\]>)?{end}"
    return f"(?P<value>.*?){end}"
