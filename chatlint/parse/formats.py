"""How a model writes: the output format, as data.

Theory of operation. A *turn* is a header (the role header; the prompt ends with it, so the model does not
write it), then parts, then an end. There are three parts, and each is text between two marks:

    reasoning     start … end
    content       start … end          both "" in most formats: whatever is nothing else is content
    tool_calls    section_start  call  separator  call …  section_end
                  a call is     call_start body call_end

Marks are *patterns* (`patterns.py`): literal text, with placeholders such as `⟨name⟩` where something varies.
The *body* of a call is a pattern too, and its `syntax` says how it is read:

    json, python   one object literal: members in any order, whitespace free; the pattern is its skeleton
    text           text: the literals stand as they are, in this order, around the slots

⟨arguments⟩ stands for all arguments. In a text body they are one JSON object unless `members` says how each
is written: a pattern around ⟨key⟩ and ⟨value⟩. `values` (`notation.py`) then says how a value of each JSON
type is written: after which start, before which end, in which encoding. Where starts or ends differ by type
the value is *self-typed*, else the tool's schema decides. Arrays and objects may have a notation of marks of
their own (`Items`, `Members`), which nests.

Whitespace in a mark is tolerant when read, at its edges too; beside a raw value it is exact, as written here.

Four formats, as examples:

1. One JSON object per call, between tags:

    OutputFormat(header="<|im|>assistant\\n", end_of_turn=("<|end|>",),
        tool_calls=ToolCalls(call_start="<call>\\n", call_end="\\n</call>", separator="\\n",
                             body='{"name": "⟨name⟩", "arguments": ⟨arguments⟩}'))

2. Arguments as elements, values raw and typed by the tool's schema:

    ToolCalls(call_start="<call>\\n<do=", body="⟨name⟩>\\n⟨arguments⟩", call_end="</do>\\n</call>",
              separator="\\n", syntax=Syntax.TEXT, members=Members("<with=⟨key⟩>\\n⟨value⟩\\n</with>\\n"))

3. Channels. Several messages make a turn; each has a header whose words, in any order, say what its body is.
   `header_end` ends them. Reasoning here needs the word "thoughts", a call the recipient before ⟨name⟩:

    OutputFormat(header="<|from|>assistant", header_end="<|body|>",
        reasoning=Reasoning("<|on|>thoughts<|body|>", "<|end|>"),
        content=Content("<|on|>answer<|body|>", "", alternatives=(Marks("<|on|>aside<|body|>", "<|end|>"),)),
        tool_calls=ToolCalls(call_start=" to=tools.", call_end="<|do|>", syntax=Syntax.TEXT,
                             body="⟨name⟩<|on|>aside json<|body|>⟨arguments⟩"),
        end_of_turn=("<|done|>", "<|do|>"), end_of_message=("<|end|>",))

4. Everything in elements, values labelled with their type, a counter per call:

    OutputFormat(reasoning=Reasoning("<|+|>thoughts<|:|>", "<|-|>thoughts<|:|>"),
        content=Content("<|+|>answer<|:|>", "<|-|>answer<|:|>"),
        tool_calls=ToolCalls(
            section_start="<|+|>calls<|:|>", section_end="<|-|>calls<|:|>", syntax=Syntax.TEXT,
            call_start='<|+|>call of="', body='⟨name⟩" no="⟨n⟩"<|:|>⟨arguments⟩', call_end="<|-|>call<|:|>",
            members=Members('<|+|>argument key="⟨key⟩" type="⟨value⟩<|-|>argument<|:|>'),
            values=Values(string=Written('string"<|:|>'),
                          number=Written('number"<|:|>', encoding=Encoding.JSON), …)))

Python calls are members too: `Members("⟨key⟩=⟨value⟩", separator=", ")` between `⟨name⟩(` and `)`. An object
whose only key is the tool's name is the skeleton `{"⟨name⟩": ⟨arguments⟩}`. An id that carries the name is a
body without ⟨name⟩: `⟨id⟩<|with|>⟨arguments⟩`, or, if its make is known, `id="functions.⟨name⟩:⟨n⟩"`.

`OutputFormat.to_dict` and `from_dict` save and load; nothing else is needed to read a model's output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from chatlint.conversation import JSON, Tool
from chatlint.errors import UsageError
from chatlint.parse import patterns, saved
from chatlint.parse.notation import Encoding, Items, Members, Values, Written, check_marks
from chatlint.parse.patterns import Slot
from chatlint.records import dataclass, field

if TYPE_CHECKING:
    from chatlint.parse.parser import OutputParser

__all__ = [
    "Confidence",
    "Content",
    "Encoding",
    "GenerationPrompt",
    "Ground",
    "Items",
    "Marks",
    "Members",
    "OutputFormat",
    "Reasoning",
    "ReasoningState",
    "SwitchedPrompt",
    "Syntax",
    "ToolCalls",
    "Values",
    "Written",
]

SCHEMA = "chatlint.format/1"


class Syntax(StrEnum):
    """How the body of a call is read."""

    JSON = "json"
    PYTHON = "python"
    """As JSON, with Python's literals."""
    TEXT = "text"


class Confidence(StrEnum):
    """How sure a part of a format is. NONE: it could not be learned; the note says why."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


class ReasoningState(StrEnum):
    """What a generation prompt leaves behind."""

    OPEN = "open"
    """The model starts inside its reasoning."""
    CLOSED = "closed"
    """A reasoning block was opened and closed: the model starts after it."""
    NONE = "none"
    """Nothing was opened; the model may open its reasoning itself."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Two patterns around a part; "" where there is none."""

    start: str = ""
    end: str = ""

    def __post_init__(self) -> None:
        check_marks(self, ("start", "end"))


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How reasoning is set apart."""

    start: str = ""
    """Before the reasoning; "" if the model never writes it (the header or the prompt does)."""
    end: str = ""
    """After the reasoning; "" if only what follows ends it."""
    alternatives: tuple[Marks, ...] = ()
    """Other marks that open it: by switch, as in generation prompts, in other turns."""
    guess: bool = False
    """The template never showed reasoning; the marks come from elsewhere (a switch, a constant, a prompt)."""

    def __post_init__(self) -> None:
        check_marks(self, ("start", "end"))

    @property
    def every(self) -> tuple[Marks, ...]:
        """All pairs of marks, the usual one first."""
        return (Marks(self.start, self.end), *self.alternatives)


@dataclass(frozen=True, slots=True)
class Content:
    """How content is set apart: by default it is what is nothing else."""

    start: str = ""
    """Before the content, "" for plain."""
    end: str = ""
    """After the content, where it is not the end of the message or turn."""
    alternatives: tuple[Marks, ...] = ()
    """Other wrappers: beside calls, in the last turn, in another channel."""

    def __post_init__(self) -> None:
        check_marks(self, ("start", "end"))

    @property
    def every(self) -> tuple[Marks, ...]:
        """All pairs of marks, the usual one first."""
        return (Marks(self.start, self.end), *self.alternatives)


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """How tool calls are written."""

    section_start: str = ""
    """Before the first call, once."""
    section_end: str = ""
    """After the last call, once."""
    call_start: str = ""
    """Before each call's body. May hold ⟨n⟩, and ⟨name⟩ where the name also stands inside the body."""
    call_end: str = ""
    """After each call's body."""
    separator: str = ""
    """Between two calls, beside their own marks."""
    parallel: bool = True
    """Whether one turn may hold several calls; False is a limit of the template."""
    body: str = '{"name": "⟨name⟩", "arguments": ⟨arguments⟩}'
    """The call between its marks, see the module. In a json or python body a quoted ⟨arguments⟩ means a
    string that holds the arguments' JSON text. A text body runs from its first slot to its last."""
    syntax: Syntax = Syntax.JSON
    id: str = ""
    """What ids look like, from ⟨name⟩ and ⟨n⟩, where the template makes them or they carry the name."""
    members: Members | None = None
    """How ⟨arguments⟩ of a text body are written; None: as one JSON (or Python) object."""
    values: Values = field(default_factory=Values)
    """How values are written inside `members`."""
    guess: bool = False
    """The template never showed a call; the format comes from elsewhere."""

    def __post_init__(self) -> None:
        every = (Slot.NAME, Slot.ID, Slot.ARGUMENTS, Slot.COUNTER)
        patterns.check(self.body, "tool_calls.body", allowed=every, once=(Slot.ARGUMENTS,))
        for name in ("section_start", "section_end", "call_start", "call_end", "separator"):
            patterns.check(getattr(self, name), f"tool_calls.{name}", allowed=(Slot.NAME, Slot.COUNTER))
        patterns.check(self.id, "tool_calls.id", allowed=(Slot.NAME, Slot.COUNTER))
        if not {Slot.NAME, Slot.ID} & {*patterns.slots(self.body), *patterns.slots(self.call_start)}:
            raise UsageError(
                f"tool_calls.body: neither ⟨name⟩ nor ⟨id⟩ in {self.body!r}",
                hint="a call must say which tool it calls",
            )
        if self.syntax is not Syntax.TEXT:
            patterns.skeleton(self.body)


@dataclass(frozen=True, slots=True)
class SwitchedPrompt:
    """What the generation prompt becomes when template kwargs are set."""

    switches: Mapping[str, JSON] = field(default_factory=dict)
    """The template kwargs: `{"enable_thinking": false}`."""
    text: str = ""
    reasoning: ReasoningState = ReasoningState.NONE


@dataclass(frozen=True, slots=True)
class GenerationPrompt:
    """What the template adds after the last message, so that the model answers (plain text, not patterns)."""

    text: str = ""
    """From the header on; "" if the template adds nothing."""
    reasoning: ReasoningState = ReasoningState.NONE
    by_switch: tuple[SwitchedPrompt, ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """Why a part of the format is believed."""

    confidence: Confidence = Confidence.HIGH
    evidence: tuple[str, ...] = ()
    """Case ids."""
    note: str = ""
    """What is uncertain, or why it could not be learned."""


PARTS = ("reasoning", "content", "tool_calls")


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """How a model writes one turn. Plain data: saved, compared, and read with, without its template."""

    header: str = ""
    """What starts every assistant turn (and each further message of one turn); "" if nothing does."""
    header_end: str = ""
    """Where messages carry words between `header` and body (channel, recipient): the mark that ends them."""
    generation_prompt: GenerationPrompt = field(default_factory=GenerationPrompt)
    reasoning: Reasoning | None = None
    """None if the format has no reasoning, as far as known."""
    content: Content = field(default_factory=Content)
    tool_calls: ToolCalls | None = None
    """None if the format has no calls, as far as known."""
    end_of_turn: tuple[str, ...] = ()
    """Marks that hand over to the user or to a tool."""
    end_of_message: tuple[str, ...] = ()
    """Marks that end a message while the turn goes on."""
    order: tuple[str, ...] = PARTS
    """The parts in the order in which the template writes them."""
    exclusive: tuple[tuple[str, str], ...] = ()
    """Pairs of parts that never stand in one message: `("content", "tool_calls")`."""
    grounds: Mapping[str, Ground] = field(default_factory=dict)
    """By field of this class ("tool_calls", also "tool_calls.values"): confidence and evidence."""

    def __post_init__(self) -> None:
        check_marks(self, ("header", "header_end"))
        for name in ("end_of_turn", "end_of_message"):
            for mark in getattr(self, name):
                patterns.check(mark, name, allowed=(Slot.COUNTER,))

    @property
    def confidence(self) -> Confidence:
        """The lowest confidence of any part."""
        found = [ground.confidence for ground in self.grounds.values()]
        return max(found, key=list(Confidence).index, default=Confidence.HIGH)

    @property
    def evidence(self) -> tuple[str, ...]:
        """Every case id that some part rests on, once."""
        return tuple(dict.fromkeys(case for ground in self.grounds.values() for case in ground.evidence))

    def parser(
        self, tools: Sequence[Tool] | None = None, generation_prompt: str = "", reasoning: bool = True
    ) -> OutputParser:
        """A parser for one turn in this format.

        `tools` are OpenAI tool definitions: their names tell calls from prose where no mark does, their
        schemas type untyped arguments. `generation_prompt` is the text the prompt ended with, from the header
        on (a whole prompt will do if the format has a header): what it opened is open, what it began is the
        message's beginning. With `reasoning=False` reasoning stays in the content, marks included.

        Raises UsageError for tools that are no list of objects and a prompt that is no text.
        """
        from chatlint.parse.parser import OutputParser

        return OutputParser(self, tools=tools, generation_prompt=generation_prompt, reasoning=reasoning)

    def to_dict(self) -> dict[str, JSON]:
        """Plain JSON with `"schema": "chatlint.format/1"`, every field written."""
        return {"schema": SCHEMA, **saved.to_dict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, JSON]) -> OutputFormat:
        """The format that `to_dict` saved. Fields left out take their defaults; unknown fields are refused.

        Raises UsageError with the place and what was expected there.
        """
        rest = dict(saved.mapping(data, "format"))
        schema = rest.pop("schema", None)
        if schema != SCHEMA:
            raise UsageError(
                f'format: expected "schema": "{SCHEMA}", found {schema!r}',
                hint="formats are saved by OutputFormat.to_dict(), maybe in another version of chatlint",
            )
        return saved.from_dict(cls, rest, "format")
