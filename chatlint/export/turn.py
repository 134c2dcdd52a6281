"""A whole turn as grammar: reasoning, content and calls, as the format arranges them.

Theory of operation. Two kinds of turn are told apart.

- *One message.* Text runs until a mark says what comes next. Text that is not yet anything ends at the first
  mark of reasoning or of a call, so such a mark cannot stand in content.
- *Several messages* (`end_of_message`). Each part is a message of its own, whose header says what it is.

What the generation prompt has written already is taken off the beginning of the whole turn, so that a prompt
that opens reasoning leaves exactly the rest. With tool choice `auto` calls are allowed, with `required` or a
name there is at least one and no content before it, with `none` there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatlint.conversation import JSON, Tool, objects
from chatlint.errors import UsageError, require
from chatlint.export.calls import Callee, CallGrammar, callables, triggers_of
from chatlint.export.grammar import GAP, NOTHING, Grammar, Node, Ref, Rules, Scan, atoms, choice, maybe, seq
from chatlint.export.marks import Consumer, pattern_node, too_long, until
from chatlint.export.schemas import Dialect, Literals
from chatlint.parse.formats import Marks, OutputFormat
from chatlint.parse.markers import is_strong, marker
from chatlint.parse.patterns import literal
from chatlint.parse.prompts import opening
from chatlint.records import dataclass

AUTO, REQUIRED, NONE = "auto", "required", "none"
_CALLS = "calls"


@dataclass(frozen=True, slots=True)
class Request:
    """What a grammar is made for. `tools` None: any tool. `tool_choice`: auto, required, none or a tool's
    name. `generation_prompt`: the text the prompt ends with, from the header on; None for the format's
    own."""

    tools: Sequence[Tool] | None = None
    tool_choice: str = AUTO
    parallel: bool = True
    generation_prompt: str | None = None
    answer: JSON = None

    def __post_init__(self) -> None:
        if self.tools is not None:
            objects(self.tools, "tools")
        require(self.generation_prompt or "", str, "generation_prompt")
        if self.answer is not None and self.tools and self.tool_choice != NONE:
            raise UsageError(
                "a schema for the answer and tools cannot be forced together: two hard constraints, and a "
                "grammar cannot tell which of them the model means to meet",
                hint="force the answer with tool choice none, or leave its schema out",
            )

    @property
    def forced(self) -> bool:
        """Whether a call must be made."""
        return self.tool_choice not in (AUTO, NONE)

    def allowed(self) -> list[Callee]:
        """The tools that may be called. Raises UsageError for a choice that names no tool."""
        found = callables(self.tools)
        if self.tool_choice == NONE:
            return []
        if self.tool_choice in (AUTO, REQUIRED):
            if not found and self.tool_choice == REQUIRED:
                raise UsageError("tool choice required, but there are no tools", hint="give --tools FILE")
            return found
        named = [tool for tool in found if tool.name in (None, self.tool_choice)]
        if not named:
            known = ", ".join(str(tool.name) for tool in found)
            raise UsageError(
                f"tool choice {self.tool_choice!r} is no tool",
                hint=f"auto, required, none, or one of: {known}",
            )
        return [Callee(self.tool_choice, tool.parameters) for tool in named]


def turn_grammar(output: OutputFormat, request: Request) -> Grammar:
    """The grammar of what the model writes after its prompt.

    Raises UsageError where the format cannot be said as a grammar, or the request is none.
    """
    _check_size(output)
    rules = Rules()
    return rules.finish(_after_prompt(_Turn(output, request, rules)))


def _check_size(output: OutputFormat) -> None:
    if too_long(output):
        raise UsageError("the format's marks are too long for a grammar", hint="look at the template")


@dataclass(frozen=True, slots=True)
class Woken:
    """A grammar of calls alone, and the texts that begin one: it may sleep until one is written."""

    grammar: Grammar
    triggers: tuple[str, ...]


def calls_grammar(output: OutputFormat, request: Request) -> Woken | None:
    """The calls alone, from their first mark to the end of the turn. None where a grammar cannot sleep: a
    call must be made, none may, the words of a message's header say what it is, or the prompt has begun
    it."""
    _check_size(output)
    rules = Rules()
    turn = _Turn(output, request, rules)
    if request.tool_choice != AUTO or output.header_end or not turn.may_call:
        return None
    begun = opening(output, _prompt(output, request))[0].rstrip()
    if any(begun.endswith(trigger[:size]) for trigger in turn.triggers for size in range(1, len(trigger))):
        return None
    return Woken(rules.finish(seq(turn.calls(), turn.afterwards())), tuple(turn.triggers))


def _prompt(output: OutputFormat, request: Request) -> str:
    given = request.generation_prompt
    return output.generation_prompt.text if given is None else given


def _after_prompt(turn: _Turn) -> Node:
    """The turn without what the prompt wrote of it; with the header where the prompt left it to the model."""
    output = turn.output
    prompt = _prompt(output, turn.request)
    begun, known_open = opening(output, prompt)
    if known_open and output.reasoning:
        if not output.reasoning.start.strip():
            return turn.inside(Marks("", output.reasoning.end))
        begun = output.reasoning.start + begun
    whole = turn.whole()
    header = marker(output.header)
    if header is not None and header.first not in prompt:
        return seq(maybe(pattern_node(output.header, {})), whole)
    rest = Consumer(turn.rules.bodies).node(whole, begun) if begun.strip() else whole
    return whole if rest is None else rest


@dataclass(frozen=True, slots=True)
class _Turn:
    """The parts of one format's turn, as nodes."""

    output: OutputFormat
    request: Request
    rules: Rules

    def whole(self) -> Node:
        if self.output.end_of_message or self.output.header_end:
            return self._messages()
        return self._message()

    def calls(self) -> Node:
        """The calls that are allowed.

        Raises UsageError if calls are asked for and the format has none.
        """
        if self.output.tool_calls is None:
            raise UsageError(
                "this format has no tool calls", hint="the template renders none that could be learned"
            )
        if _CALLS in self.rules.bodies:
            return Ref(_CALLS)
        grammar = CallGrammar(self.rules, self.output, self.output.tool_calls)
        return self.rules.add(_CALLS, grammar.several(self.request.allowed(), self.request.parallel))

    @property
    def may_call(self) -> bool:
        """Whether a call may or must come."""
        wanted = self.request.forced or (
            self.output.tool_calls is not None and self.request.tool_choice == AUTO
        )
        return wanted and bool(self.request.allowed())

    @property
    def triggers(self) -> list[str]:
        """Where calls begin."""
        calls = self.output.tool_calls
        return triggers_of(self.output, calls, self.request.allowed() or [Callee(None)]) if calls else []

    def afterwards(self) -> Node:
        """What may follow the calls: content, where the format has it there, else white space. An engine that
        stops at the last token of a mark shows what is before it."""
        order = self.output.order
        if {"content", "tool_calls"} <= set(order) and order.index("content") > order.index("tool_calls"):
            return Scan(ends=True, without=tuple(self.triggers))
        begun = [mark[: -len(tags[-1])] for mark in self.output.end_of_turn if len(tags := atoms(mark)) > 1]
        return seq(GAP, maybe(choice(*(pattern_node(mark, {}) for mark in begun)))) if begun else GAP

    # -- one message -------------------------------------------------------------------------------------

    def _message(self) -> Node:
        if self.request.forced:
            opened = [seq(mark, inner) for mark, inner in self._openers()]
            return seq(GAP, choice(*opened, seq(self.calls(), self.afterwards())))
        return self._free(tuple(self._exits()))

    def _body(self) -> Node:
        """What follows the reasoning."""
        return self._forced() if self.request.forced else self._free(())

    def _forced(self) -> Node:
        return seq(GAP, self.calls(), self.afterwards())

    def _free(self, reasoning: tuple[tuple[str, Node], ...]) -> Node:
        """Content, then maybe calls. `reasoning`: exits to reasoning, where it may still come."""
        if self.request.answer is not None:
            return self._answer(reasoning)
        calls = self._calls_after_trigger()
        wrapped = [marks for marks in self.output.content.every if marks.start.strip()]
        if any(not marks.start.strip() for marks in self.output.content.every):
            opened = [until(marks.start, {}, self._wrapped(marks)) for marks in wrapped]
            return Scan((*reasoning, *opened, *calls), ends=True, without=() if calls else self._no_calls())
        direct = [self.calls(), self.afterwards()] if self.may_call else [NOTHING]
        starts = [seq(pattern_node(marks.start.strip(), {}), self._wrapped(marks)) for marks in wrapped]
        openers = [seq(*_mark(stop), after) for stop, after in reasoning]
        return seq(GAP, choice(*starts, *openers, seq(*direct)))

    def _answer(self, reasoning: tuple[tuple[str, Node], ...]) -> Node:
        """Content that is JSON, in its marks; before it maybe reasoning."""
        openers = [seq(*_mark(stop), after) for stop, after in reasoning]
        return seq(GAP, choice(*openers, *(self._json(marks) for marks in self.output.content.every)))

    def _json(self, marks: Marks) -> Node:
        value = Literals(self.rules, Dialect.JSON, self.request.answer).value(self.request.answer, "answer")
        start, end = (pattern_node(mark.strip(), {}) for mark in (marks.start, marks.end))
        return seq(start, GAP, self.rules.add("answer", value), GAP, end, GAP)

    def _no_calls(self) -> tuple[str, ...]:
        return tuple(self.triggers) if self.request.tool_choice == NONE else ()

    def _calls_after_trigger(self) -> tuple[tuple[str, Node], ...]:
        """The exits of content into calls."""
        if not self.may_call:
            return ()
        calls = seq(self.calls(), self.afterwards())
        consumer = Consumer(self.rules.bodies)
        rests = [(trigger, consumer.node(calls, trigger)) for trigger in self.triggers]
        return tuple((trigger, rest) for trigger, rest in rests if rest is not None)

    def _wrapped(self, marks: Marks) -> Node:
        """Content after its opener, then maybe calls."""
        calls = maybe(seq(GAP, self.calls(), self.afterwards())) if self.may_call else NOTHING
        if not marks.end.strip():
            exits = self._calls_after_trigger()
            return Scan(exits, ends=True)
        return Scan((until(marks.end, {}, seq(GAP, calls, GAP)),))

    def _exits(self) -> Iterator[tuple[str, Node]]:
        """Each opener of reasoning as an exit of a scan."""
        for marks in self._reasoning():
            yield until(marks.start, {}, self.inside(marks))

    def _openers(self) -> Iterator[tuple[Node, Node]]:
        for marks in self._reasoning():
            yield pattern_node(marks.start.strip(), {}), self.inside(marks)

    def _reasoning(self) -> list[Marks]:
        """The marks of reasoning that a grammar can hold on to."""
        every = self.output.reasoning.every if self.output.reasoning else ()
        return [marks for marks in every if is_strong(marks.start.strip()) and marks.end.strip()]

    def inside(self, marks: Marks) -> Node:
        """Reasoning after its opener, and the rest of the turn."""
        body: Node = self.rules.add("body", self._body())
        for opened in self.output.content.every:
            if opened.start.strip() and marks.end.rstrip().endswith(opened.start.rstrip()):
                rest = Consumer(self.rules.bodies).node(body, opened.start.strip())
                body = body if rest is None else rest
        return Scan((until(marks.end, {}, body),))

    # -- several messages --------------------------------------------------------------------------------

    def _messages(self) -> Node:
        joint = seq(GAP, pattern_node(self.output.header, {}))
        thought = choice(*self._thoughts(joint)) if self._reasoning_messages() else NOTHING
        called = [self.calls()] if self.may_call else []
        if self.request.forced:
            return seq(maybe(thought), *called, GAP)
        contents = [self._content(marks, joint, called) for marks in self.output.content.every]
        return seq(maybe(thought), choice(*contents, *(seq(call, GAP) for call in called)))

    def _reasoning_messages(self) -> list[Marks]:
        every = self.output.reasoning.every if self.output.reasoning else ()
        return [marks for marks in every if marks.start.strip() and marks.end.strip()]

    def _thoughts(self, joint: Node) -> Iterator[Node]:
        for marks in self._reasoning_messages():
            yield seq(pattern_node(marks.start.rstrip(), {}), Scan((until(marks.end, {}, joint),)))

    def _content(self, marks: Marks, joint: Node, called: Sequence[Node]) -> Node:
        """A message of content: the last one, or one before the calls."""
        if self.request.answer is not None:
            return self._json(marks)
        ends = [marks.end] if marks.end.strip() else list(self.output.end_of_message)
        more = maybe(seq(joint, *called, GAP)) if called else NOTHING
        exits = tuple(until(end, {}, more) for end in ends if end.strip())
        return seq(pattern_node(marks.start.rstrip(), {}), Scan(exits, ends=True))


def _mark(stop: str) -> tuple[Node, ...]:
    return (pattern_node(literal(stop), {}),)
