"""A message that was read from a model's output, and the events of reading it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from chatlint.conversation import JSON
from chatlint.parse.events import Event
from chatlint.records import dataclass, names_of
from chatlint.report.canvas import Canvas

_LABEL = 11
_NAMES = {
    "ReasoningDelta": "reasoning",
    "ContentDelta": "content",
    "ToolCallStart": "call",
    "ArgumentsDelta": "arguments",
    "ToolCallEnd": "call_end",
    "EndOfTurn": "end_of_turn",
}


def message_lines(canvas: Canvas, message: Mapping[str, JSON]) -> Iterator[str]:
    """The parts of a message, each with its name; what is empty is left out."""
    yield from _text(canvas, "reasoning", str(message["reasoning_content"]), "faint")
    yield from _text(canvas, "content", str(message["content"]), "")
    calls = message["tool_calls"]
    for call in calls if isinstance(calls, list) else ():
        function = call["function"]
        yield canvas.draw(
            [("call".ljust(_LABEL), "strong"), (function["name"], "special"), (_id(call["id"]), "faint")]
        )
        yield from canvas.fold(
            [(_spread(function["arguments"]), "input")], " " * _LABEL, [(" " * _LABEL, "")]
        )


def _text(canvas: Canvas, label: str, text: str, style: str) -> Iterator[str]:
    for index, line in enumerate(text.split("\n") if text else ()):
        first = [((label if index == 0 else "").ljust(_LABEL), "strong")]
        yield from canvas.wrap([(word, style) for word in line.split(" ")], " " * _LABEL, first)


def _id(identity: str) -> str:
    return f"  {identity}" if identity else ""


def _spread(arguments: str) -> str:
    """Arguments as JSON on one line, as they were read where they are none."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except ValueError:
        return arguments


def event_facts(event: Event) -> dict[str, JSON]:
    """An event as a JSON object: `event` says which, the rest is what it holds."""
    facts: dict[str, JSON] = {name: getattr(event, name) for name in names_of(event)}
    return {"event": _NAMES[type(event).__name__], **facts}


def random_call_id() -> str:
    """An id for a call: nine letters and digits, which templates that ask for a shape of ids take as well as
    those that take any."""
    import secrets
    import string

    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(9))


@dataclass(frozen=True, slots=True)
class Completion:
    """What all chunks of one answer have in common. `created` in seconds since 1970."""

    model: str
    created: int
    id: str = "chatcmpl-chatlint"

    def chunk(self, delta: Mapping[str, JSON], reason: str | None = None) -> dict[str, JSON]:
        """A delta as a `chat.completion.chunk` of OpenAI's streaming API."""
        choice: dict[str, JSON] = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [choice],
        }
