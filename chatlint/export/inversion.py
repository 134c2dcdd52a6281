"""Whether a response template reads back what a format writes.

A few messages are written, in the turn of a prompt that opened nothing and in that of the format's own
prompt, and read with both. Only what our own parser reads back is held against the template.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from chatlint.conversation import JSON
from chatlint.export.response_calls import cannot
from chatlint.export.response_reading import Refused, ResponseReader, Unreadable
from chatlint.export.response_template import response_template
from chatlint.export.samples import LOOK, TOOLS
from chatlint.export.writing import Call, fill, write_turn
from chatlint.parse.formats import OutputFormat
from chatlint.records import dataclass, field

_ALL = Call("look", {"city": 'of "007"\nand more', "sure": True, "tags": ["a", "b"], "where": {"zone": 4}})
REASONING = ("thinking", "reasoning_content", "reasoning")
"""The fields that hold reasoning, by whoever named them."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A message as its parts; calls as (name, arguments)."""

    content: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, JSON], ...] = ()

    def to_json(self) -> dict[str, JSON]:
        """What there is of it."""
        calls = [{"name": name, "arguments": arguments} for name, arguments in self.calls]
        parts: dict[str, JSON] = {"content": self.content, "reasoning": self.reasoning, "tool_calls": calls}
        return {name: part for name, part in parts.items() if part}


@dataclass(frozen=True, slots=True)
class Sample:
    """A message to be written and read back."""

    what: str
    content: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()

    @property
    def parts(self) -> Parts:
        """What must come back."""
        calls = tuple((call.name, dict(call.arguments)) for call in self.calls)
        return Parts(self.content, self.reasoning, calls)


SAMPLES = (
    Sample("an answer", content="It is late."),
    Sample("reasoning and an answer", "It is late.", "Hm.\nWell."),
    Sample("a call", calls=(LOOK,)),
    Sample("a call without arguments", calls=(Call("rest"),)),
    Sample("a call after text", "I look.", calls=(LOOK,)),
    Sample("a call after reasoning", reasoning="Hm.\nWell.", calls=(LOOK,)),
    Sample("two calls", calls=(LOOK, Call("rest"))),
    Sample("two calls after text", "I look.", calls=(LOOK, Call("rest"))),
    Sample("arguments of every kind", calls=(_ALL,)),
)


@dataclass(frozen=True, slots=True)
class Misreading:
    """A message that comes back otherwise. `error` says why transformers refuses the text, "" if it reads
    it."""

    what: str
    prompt: str
    text: str
    wanted: Parts
    found: Parts = field(default_factory=Parts)
    error: str = ""

    def told(self) -> str:
        """The difference in words."""
        if self.error:
            return f"{self.what} cannot be read: {self.error}"
        found = json.dumps(self.found.to_json(), ensure_ascii=False)
        return f"{self.what} comes back as {found}"


def proven_template(output: OutputFormat) -> dict[str, JSON]:
    """The format as a response template that reads it back.

    Raises UsageError that says why where there is none.
    """
    template = response_template(output)
    try:
        reader = ResponseReader(template)
    except (Refused, Unreadable) as error:
        raise cannot(str(error)) from None
    for misread in misreadings(reader, output):
        raise cannot(misread.told())
    return template


def misreadings(reader: ResponseReader, output: OutputFormat) -> Iterator[Misreading]:
    """Every sample that a response template reads otherwise than it was written."""
    for sample in SAMPLES:
        if not _expressible(sample, output):
            continue
        turn = write_turn(output, reasoning=sample.reasoning, content=sample.content, calls=sample.calls)
        for prompt, text in _prompts(output, turn):
            if _by_parser(output, prompt, text) != sample.parts:
                continue
            misread = _misread(reader, sample, prompt, text)
            if misread:
                yield misread
                break


def _expressible(sample: Sample, output: OutputFormat) -> bool:
    calls = output.tool_calls
    if sample.calls and (calls is None or (len(sample.calls) > 1 and not calls.parallel)):
        return False
    if sample.reasoning and output.reasoning is None:
        return False
    return not (sample.content and sample.calls and ("content", "tool_calls") in output.exclusive)


def _prompts(output: OutputFormat, turn: str) -> Iterator[tuple[str, str]]:
    """The turn after its header alone, and after the format's own prompt where that begins the turn."""
    header = fill(output.header, {})
    yield header, turn
    prompt = output.generation_prompt.text
    tail = prompt[prompt.rfind(header) + len(header) :] if header and header in prompt else ""
    if tail.strip() and turn.startswith(tail):
        yield prompt, turn[len(tail) :]


def _by_parser(output: OutputFormat, prompt: str, text: str) -> Parts:
    return _parts(output.parser(TOOLS, prompt).parse(text))


def _misread(reader: ResponseReader, sample: Sample, prompt: str, text: str) -> Misreading | None:
    try:
        found = _parts(reader.read(prompt, text, TOOLS))
    except Refused as error:
        return Misreading(sample.what, prompt, text, sample.parts, error=str(error))
    return None if found == sample.parts else Misreading(sample.what, prompt, text, sample.parts, found)


def _parts(message: Mapping[str, JSON]) -> Parts:
    """A message's parts, whatever it calls its reasoning and however it holds its arguments."""
    reasoning = next((str(message[name]) for name in REASONING if message.get(name)), "")
    calls = message.get("tool_calls")
    found = [_call(call) for call in calls] if isinstance(calls, list) else []
    content = message.get("content")
    shown = "".join(map(str, content)) if isinstance(content, list) else str(content or "")
    return Parts(shown.strip(), reasoning.strip(), tuple(found))


def _call(call: JSON) -> tuple[str, JSON]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return "", None
    arguments = function.get("arguments")
    try:
        return str(function.get("name")), json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return str(function.get("name")), arguments
