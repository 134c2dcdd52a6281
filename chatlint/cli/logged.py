"""Many logged outputs: does the model write what its template says?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from chatlint.cli.inputs import numbered_lines, objects, value_of_line
from chatlint.conversation import JSON, Tool
from chatlint.errors import UsageError
from chatlint.parse.formats import OutputFormat
from chatlint.parse.message import assemble
from chatlint.parse.parser import OutputParser
from chatlint.parse.patterns import pieces
from chatlint.records import dataclass, field
from chatlint.report.canvas import Canvas

FATES = {
    "whole": "read whole",
    "guessed": "read by a guess: the format has no such part",
    "cut": "cut off inside a call's arguments",
    "left": "with a mark of the format left in the content",
    "other": "read as another message than the one logged with it",
    "broken": "no JSON, or a line without an output",
}
"""What can become of an output, and how it is said."""

_TEXT = ("text", "output", "completion", "response", "input")
_MESSAGE = ("message", "expect", "expected")
_EXAMPLES = 3
_SHORTEST_MARK = 3


@dataclass(slots=True)
class Tally:
    """How many outputs met which fate, with examples: (line, the output's beginning)."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FATES, 0))
    examples: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    @property
    def all_whole(self) -> bool:
        """Whether every output was read whole."""
        return self.counts["whole"] == sum(self.counts.values())

    def add(self, fate: str, line: int, text: str) -> None:
        """One more output."""
        self.counts[fate] += 1
        examples = self.examples.setdefault(fate, [])
        if fate != "whole" and len(examples) < _EXAMPLES:
            examples.append((line, text[:200]))

    def to_dict(self) -> dict[str, JSON]:
        """The counts and the examples."""
        shown: dict[str, JSON] = {
            fate: [{"line": line, "text": text} for line, text in examples]
            for fate, examples in self.examples.items()
            if examples
        }
        return {"outputs": sum(self.counts.values()), **self.counts, "examples": shown}


def read_all(
    output: OutputFormat, path: str, tools: tuple[Tool, ...] | None, prompt: str, reasoning: bool
) -> Tally:
    """Read every line of a file: a JSON string, or an object with the output as `text` and maybe `tools`,
    `generation_prompt` and the `message` it should be."""
    tally = Tally()
    marks = tuple(_marks(output))
    fault: UsageError | None = None
    for number, line in numbered_lines(path):
        try:
            entry = _entry(line, f"{path}:{number}")
            text = _output(entry, f"{path}:{number}")
        except UsageError as error:
            fault = fault or error
            tally.add("broken", number, line)
            continue
        own = objects(entry["tools"], f"{path}:{number}: tools") if entry.get("tools") else tools
        parser = output.parser(own, str(entry.get("generation_prompt", prompt)), reasoning)
        message = assemble([*parser.feed(text), *parser.finish()])
        tally.add(_fate(parser, message, entry, marks), number, text)
    if fault and tally.counts["broken"] == sum(tally.counts.values()):
        raise fault  # it is no log at all
    return tally


def _entry(line: str, place: str) -> Mapping[str, JSON]:
    record = value_of_line(line, place)
    return record if isinstance(record, Mapping) else {"text": record}


def _output(entry: Mapping[str, JSON], place: str) -> str:
    for name in _TEXT:
        text = entry.get(name)
        if isinstance(text, str):
            return text
    raise UsageError(f"{place}: no output", hint=f"one of {', '.join(_TEXT)}, or a JSON string")


def _fate(
    parser: OutputParser, message: Mapping[str, JSON], entry: Mapping[str, JSON], marks: Iterable[str]
) -> str:
    if parser.cut:
        return "cut"
    wanted = next((entry[name] for name in _MESSAGE if isinstance(entry.get(name), Mapping)), None)
    if isinstance(wanted, Mapping) and not _same(message, wanted):
        return "other"
    if parser.guessed:
        return "guessed"
    left = wanted is None and any(mark in str(message["content"]) for mark in marks)
    return "left" if left else "whole"


def _same(message: Mapping[str, JSON], wanted: Mapping[str, JSON]) -> bool:
    texts = ("content", "reasoning_content")
    return all((wanted.get(name) or "") == message[name] for name in texts) and _calls(message) == _calls(
        wanted
    )


def _calls(message: Mapping[str, JSON]) -> list[tuple[JSON, JSON]]:
    """Name and arguments of each call, nested as OpenAI has it or flat."""
    calls = message.get("tool_calls")
    found = []
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function", call)
        found.append((function.get("name"), _value(function.get("arguments"))))
    return found


def _value(arguments: JSON) -> JSON:
    try:
        value: JSON = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
    return value


def _marks(output: OutputFormat) -> Iterator[str]:
    """Literal text that only the format's own marks hold."""
    patterns = [mark for part in (output.reasoning,) if part for mark in (part.start, part.end)]
    if output.tool_calls:
        patterns += [
            output.tool_calls.section_start,
            output.tool_calls.call_start,
            output.tool_calls.call_end,
        ]
    for pattern in patterns:
        for piece in pieces(pattern):
            if (
                isinstance(piece, str)
                and len(piece.strip()) >= _SHORTEST_MARK
                and not piece.strip().isalnum()
            ):
                yield piece.strip()


def tally_lines(canvas: Canvas, tally: Tally) -> Iterator[str]:
    """The counts as a person reads them."""
    total = sum(tally.counts.values())
    yield canvas.draw([(f"{total} outputs", "strong")])
    for fate, count in tally.counts.items():
        if count:
            style = "good" if fate == "whole" else "part"
            yield from canvas.wrap(
                [(word, "") for word in FATES[fate].split(" ")], " " * 8, [(f"{count:6}  ", style)]
            )
        for line, text in tally.examples.get(fate, ()):
            yield canvas.draw(
                [(f"        line {line}  ", "faint"), (canvas.fit(text, canvas.width - 24), "")]
            )
