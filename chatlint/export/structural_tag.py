"""Structural tags of xgrammar, which vLLM and SGLang take in `structured_outputs` and `response_format`.

Source: xgrammar 0.2's structural tag documentation (`tag`, `triggered_tags`, `tags_with_separator`,
`sequence`, `json_schema`, `grammar`). A tag begins with exact text; what varies (ids, arguments with marks of
their own) is a grammar inside it, in xgrammar's EBNF, which reads GBNF.

Engines apply a structural tag after the reasoning, so reasoning is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chatlint.conversation import JSON
from chatlint.errors import UsageError
from chatlint.export.arguments import Notation
from chatlint.export.calls import ANY_OBJECT, Callee, CallGrammar, triggers_of
from chatlint.export.gbnf import render_gbnf
from chatlint.export.grammar import NOTHING, Node, Ref, Rules, Text, seq
from chatlint.export.marks import pattern_node
from chatlint.export.marks import tags as tags_in
from chatlint.export.schemas import Dialect, Literals
from chatlint.export.turn import Request
from chatlint.export.writing import fill
from chatlint.parse.formats import OutputFormat, Syntax, ToolCalls
from chatlint.parse.patterns import ARGUMENTS, NAME, Slot, literal, pieces


def structural_tag(output: OutputFormat, request: Request) -> dict[str, JSON]:
    """The calls that a request allows, as a structural tag.

    Raises UsageError if the format has no calls, or the request allows none.
    """
    calls = output.tool_calls
    tools = request.allowed()
    if calls is None or not tools:
        raise UsageError(
            "nothing to force: "
            + ("this format has no tool calls" if calls is None else "no tool may be called"),
            hint="a structural tag says how calls are written; give tools, and a tool choice other than none",
        )
    tags: list[JSON] = [_tag(output, calls, tool) for tool in tools]
    several = request.parallel and calls.parallel
    begin = fill(calls.section_start, {Slot.COUNTER: "0"}).lstrip()
    if begin and not calls.section_end.strip():
        first = [_after(tag, begin) for tag in tags]
        starts = dict.fromkeys(_trigger(tag) for tag in (*first, *tags))
        return _root([*first, *tags], list(starts), request, several=several)
    if begin:
        section = _section(calls, tags, begin, several)
        return _root([section], [_first(output, calls, tools, begin)], request, several=False)
    return _root(tags, triggers_of(output, calls, tools), request, several=several)


def _root(
    tags: Sequence[JSON], triggers: Sequence[str], request: Request, *, several: bool
) -> dict[str, JSON]:
    form: dict[str, JSON] = {
        "type": "triggered_tags",
        "triggers": list(triggers),
        "tags": list(tags),
        "at_least_one": request.forced,
        "stop_after_first": not several,
    }
    return {"type": "structural_tag", "format": form}


def _after(tag: JSON, begin: str) -> JSON:
    """A tag that begins with the section's mark: the first call, where nothing closes the section."""
    return {**tag, "begin": begin + str(tag["begin"])} if isinstance(tag, Mapping) else tag


def _trigger(tag: JSON) -> str:
    begin = str(tag["begin"]) if isinstance(tag, Mapping) else ""
    found = tags_in(begin)
    return found[0] if found and begin.startswith(found[0]) else begin


def _first(output: OutputFormat, calls: ToolCalls, tools: Sequence[Callee], begin: str) -> str:
    """The trigger of a section: of those that its calls have, the part that all share."""
    trigger = triggers_of(output, calls, tools)[0]
    return trigger if begin.startswith(trigger) else begin


def _section(calls: ToolCalls, tags: Sequence[JSON], begin: str, several: bool) -> dict[str, JSON]:
    """All calls between the marks of their section."""
    row: dict[str, JSON] = {
        "type": "tags_with_separator",
        "tags": list(tags),
        "separator": fill(calls.separator, {}),
        "at_least_one": True,
        "stop_after_first": not several,
    }
    return {"type": "tag", "begin": begin, "content": row, "end": fill(calls.section_end, {})}


def _tag(output: OutputFormat, calls: ToolCalls, tool: Callee) -> dict[str, JSON]:
    """One call: the exact text it begins with, what varies, the exact text it ends with."""
    before, after = (calls.call_start + calls.body).split(ARGUMENTS)
    if tool.name is not None:
        before, after = (text.replace(NAME, literal(tool.name)) for text in (before, after))
    if not calls.section_start.strip():
        before = before.lstrip()
    begin, rest = _exact(before)
    whole_end = after + calls.call_end
    end = fill(whole_end, {}) if not _varies(whole_end) else ""
    inner = _arguments(output, calls, tool, rest, "" if end else whole_end)
    return {"type": "tag", "begin": begin, "content": inner, "end": end}


def _exact(pattern: str) -> tuple[str, str]:
    """The text a pattern begins with, and the pattern from its first slot on."""
    parts = pieces(pattern)
    text = parts[0] if parts and isinstance(parts[0], str) else ""
    return text, pattern[len(literal(text)) :]


def _varies(pattern: str) -> bool:
    return any(isinstance(piece, Slot) for piece in pieces(pattern))


def _arguments(
    output: OutputFormat, calls: ToolCalls, tool: Callee, before: str, after: str
) -> Mapping[str, JSON]:
    """What varies in a call. Plain JSON arguments are a JSON Schema, anything else a grammar."""
    schema = ANY_OBJECT if tool.parameters is None else tool.parameters
    if calls.members is None and not (before or after) and calls.syntax is not Syntax.PYTHON:
        return {"type": "json_schema", "json_schema": schema}
    rules = Rules()
    name = Ref("name") if tool.name is None else Text(tool.name)
    slots = {Slot.NAME: name, Slot.ID: CallGrammar(rules, output, calls).identity(tool)}
    dialect = Dialect.PYTHON if calls.syntax is Syntax.PYTHON else Dialect.JSON
    inner: Node
    if calls.members is None:
        inner = Literals(rules, dialect, schema).value(schema, "arguments")
    else:
        inner = Notation(rules, calls.values, schema).members(calls.members, schema, "arguments")
    parts = [pattern_node(part, slots) if part else NOTHING for part in (before, after)]
    grammar = rules.finish(seq(parts[0], inner, parts[1]))
    return {"type": "grammar", "grammar": render_gbnf(grammar)}
