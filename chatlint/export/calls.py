"""Tool calls as grammar: for the tools that may be called, one call or several, with their marks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from chatlint.conversation import JSON, JSONObject, Tool
from chatlint.errors import UsageError
from chatlint.export.arguments import Notation
from chatlint.export.grammar import GAP, NOTHING, Many, Node, Ref, Rules, Text, choice, maybe, seq
from chatlint.export.marks import pattern_node
from chatlint.export.schemas import Dialect, Literals
from chatlint.export.writing import ID_WITH_NAME
from chatlint.lazy import regex
from chatlint.parse.formats import OutputFormat, Syntax, ToolCalls
from chatlint.parse.markers import is_strong
from chatlint.parse.patterns import ARGUMENTS, ID, NAME, Slot, pieces
from chatlint.records import dataclass

ANY_OBJECT: JSONObject = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Callee:
    """A tool as far as a grammar needs it. `name` is None for any tool."""

    name: str | None
    parameters: JSON = None


def callables(tools: Sequence[Tool] | None) -> list[Callee]:
    """The tools of a request; one of any name where none are given.

    Raises UsageError for what is no tool definition.
    """
    if tools is None:
        return [Callee(None)]
    return [_callable(tool, index) for index, tool in enumerate(tools)]


def _callable(tool: Tool, index: int) -> Callee:
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise UsageError(
            f"tools[{index}]: expected a function with a name",
            hint='such as {"type": "function", "function": {"name": "look", "parameters": {…}}}',
        )
    return Callee(str(function["name"]), function.get("parameters", function.get("input_schema")))


class CallGrammar:
    """The calls of one format, for these tools."""

    def __init__(self, rules: Rules, output: OutputFormat, calls: ToolCalls) -> None:
        self._rules = rules
        self._calls = calls
        handing_over = {mark.strip() for mark in output.end_of_turn}
        self._hands_over = bool(output.header_end) or calls.call_end.strip() in handing_over
        """Whether a call's end ends the turn, or its message: engines stop there, and may not show it."""
        unsaid = output.end_of_message and output.header.strip() not in calls.separator
        ends = [maybe(pattern_node(mark, {})) for mark in output.end_of_message]
        self._header = seq(*ends, maybe(pattern_node(output.header, {}))) if unsaid else NOTHING
        """Between calls that are messages of their own."""

    def several(self, tools: Sequence[Callee], parallel: bool) -> Node:
        """One call, or more if `parallel` and the format has room for them, with the section's marks."""
        calls = self._calls
        slots = self._slots(tools[0])
        bodies = choice(*(self._rules.add(f"call-{tool.name or 'any'}", self.body(tool)) for tool in tools))
        end = pattern_node(calls.call_end, slots)
        more = seq(end, pattern_node(calls.separator, slots), self._header, bodies)
        last = maybe(end) if self._hands_over else end
        row = seq(bodies, Many(more), last) if parallel and calls.parallel else seq(bodies, last)
        return seq(pattern_node(calls.section_start, slots), row, pattern_node(calls.section_end, slots))

    def body(self, tool: Callee) -> Node:
        """One call without its end."""
        slots = self._slots(tool)
        start = pattern_node(self._calls.call_start, slots)
        if self._calls.syntax is not Syntax.TEXT:
            return seq(start, self._literal(tool))
        return seq(start, pattern_node(self._calls.body, {**slots, Slot.ARGUMENTS: self._arguments(tool)}))

    def _slots(self, tool: Callee) -> Mapping[Slot, Node]:
        name = Ref("name") if tool.name is None else Text(tool.name)
        return {Slot.NAME: name, Slot.ID: self.identity(tool)}

    def identity(self, tool: Callee) -> Node:
        """A call's id: as the format makes ids, else with the name where nothing else says it, else any."""
        name = Ref("name") if tool.name is None else Text(tool.name)
        if self._calls.id:
            return pattern_node(self._calls.id, {Slot.NAME: name})
        if NAME in self._calls.body or NAME in self._calls.call_start:
            return Ref("identity")
        return choice(pattern_node(ID_WITH_NAME, {Slot.NAME: name}), name)

    def _arguments(self, tool: Callee) -> Node:
        schema = ANY_OBJECT if tool.parameters is None else tool.parameters
        name = f"{tool.name or 'any'}-arguments"
        if self._calls.members is None:
            return self._rules.add(name, Literals(self._rules, Dialect.JSON, schema).value(schema, name))
        notation = Notation(self._rules, self._calls.values, schema)
        return self._rules.add(name, notation.members(self._calls.members, schema, name))

    # -- object literals ---------------------------------------------------------------------------------

    def _literal(self, tool: Callee) -> Node:
        """A body that is an object literal, its members as the format orders them."""
        dialect = Dialect.PYTHON if self._calls.syntax is Syntax.PYTHON else Dialect.JSON
        bare = re.sub(r'"(?:[^"\\]|\\.)*"|⟨\w+⟩', _quoted, self._calls.body)
        return self._part(json.loads(bare), tool, dialect)

    def _part(self, part: JSON, tool: Callee, dialect: Dialect) -> Node:
        """A piece of the literal: an object, an array, a slot or a constant."""
        comma, colon = seq(GAP, Text(","), GAP), seq(GAP, Text(":"), GAP)
        if isinstance(part, Mapping):
            rows = [
                (seq(self._word(key, tool), colon, self._part(value, tool, dialect)), value == ID)
                for key, value in part.items()
            ]
            return seq(Text("{"), GAP, *_members(rows, comma), GAP, Text("}"))
        if isinstance(part, Sequence) and not isinstance(part, str):
            items = [self._part(item, tool, dialect) for item in part]
            return seq(Text("["), GAP, *_joined(items, comma), GAP, Text("]"))
        if part == _BARE + ARGUMENTS:
            return self._object(tool, dialect)
        return self._word(part, tool) if isinstance(part, str) else Text(json.dumps(part))

    def _object(self, tool: Callee, dialect: Dialect) -> Node:
        schema = ANY_OBJECT if tool.parameters is None else tool.parameters
        name = f"{tool.name or 'any'}-arguments"
        return self._rules.add(name, Literals(self._rules, dialect, schema).value(schema, name))

    def _word(self, word: str, tool: Callee) -> Node:
        """A string of the literal; arguments inside a string are JSON that was made a string."""
        bare, word = word.startswith(_BARE), word.removeprefix(_BARE)
        if ARGUMENTS in word or (word == ID and not self._calls.id):
            return Ref("string")
        slots = self._slots(tool)
        if tool.name is not None:
            slots = {**slots, Slot.NAME: Text(json.dumps(tool.name, ensure_ascii=False)[1:-1])}
        inner = [slots[p] if isinstance(p, Slot) and p in slots else _escaped(p) for p in pieces(word)]
        return seq(*inner) if bare else seq(Text('"'), *inner, Text('"'))


_BARE = "⟨bare⟩"


def _quoted(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == '"' else f'"{_BARE}{match[0]}"'


def _escaped(piece: str | Slot) -> Node:
    return Ref("digits") if isinstance(piece, Slot) else Text(json.dumps(piece, ensure_ascii=False)[1:-1])


def _members(rows: Sequence[tuple[Node, bool]], comma: Node) -> Iterator[Node]:
    """Members in a row. An id may be missing: engines make ids of their own."""
    for index, (row, optional) in enumerate(rows):
        if optional and len(rows) > 1:
            yield maybe(seq(comma, row) if index else seq(row, comma))
        else:
            yield from (comma, row) if index and not (index == 1 and rows[0][1]) else (row,)


def _joined(rows: Sequence[Node], between: Node) -> Iterator[Node]:
    for index, row in enumerate(rows):
        yield from (between, row) if index else (row,)


def triggers_of(output: OutputFormat, calls: ToolCalls, tools: Sequence[Callee]) -> list[str]:
    """The texts at which a call has begun for sure: its first tags, as many as no other mark begins with;
    without one, all that stands before the name, and each name with what follows it, so that prose and data
    that look similar are left alone."""
    whole = _leading(calls.section_start + calls.call_start + calls.body).lstrip()
    tag = _OPENER.match(whole)
    if tag and is_strong(tag[0]):
        others = [mark.lstrip() for mark in _other_openers(output)]
        begun = [whole[: match.end()] for match in _TAG.finditer(whole)]
        distinct = [text for text in begun if not any(other.startswith(text) for other in others)]
        return distinct[:1] or [tag[0] if not begun else whole.rstrip()]
    return list(dict.fromkeys(_named(calls, whole, tool.name) for tool in tools))


_OPENER = regex(r"[^<\s\w]*<[^<>\s]*>?|\[/?[A-Z][A-Z_/]+\]")
_TAG = regex(r"<[^<>\s]*>|<[^<>\s]+\Z|\[/?[A-Z][A-Z_/]+\]")


def _other_openers(output: OutputFormat) -> Iterator[str]:
    """The marks that open other parts, or messages."""
    for marks in (*(output.reasoning.every if output.reasoning else ()), *output.content.every):
        yield marks.start
    yield output.header


def _named(calls: ToolCalls, whole: str, name: str | None) -> str:
    """An opener with a tool's name, and the character after it, where the name is what comes next."""
    _, found, after = (calls.section_start + calls.call_start + calls.body).partition(NAME)
    next_text = _leading(after)
    opens = pieces(calls.section_start + calls.call_start + calls.body)
    named = name is not None and found and Slot.NAME in opens and _first_slot(opens) is Slot.NAME
    return f"{whole}{name}{next_text[:1]}" if named else whole


def _first_slot(parts: Sequence[str | Slot]) -> Slot | None:
    return next((part for part in parts if isinstance(part, Slot)), None)


def _leading(pattern: str) -> str:
    """The literal text that a pattern begins with."""
    parts = pieces(pattern)
    return parts[0] if parts and isinstance(parts[0], str) else ""
