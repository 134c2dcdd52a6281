"""From events to a message, and to the chunks that OpenAI's streaming API sends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from chatlint.conversation import JSON
from chatlint.parse.events import (
    ArgumentsDelta,
    ContentDelta,
    EndOfTurn,
    Event,
    ReasoningDelta,
    ToolCallEnd,
    ToolCallStart,
)


class Call:
    """A call coming together."""

    __slots__ = ("_arguments", "id", "name")

    def __init__(self, name: str, identity: str) -> None:
        self.name = name
        self.id = identity
        self._arguments: list[str] = []

    def add(self, text: str) -> None:
        """More of the arguments."""
        self._arguments.append(text)

    def to_dict(self) -> dict[str, JSON]:
        """In the shape of OpenAI's chat completions."""
        function: dict[str, JSON] = {"name": self.name, "arguments": "".join(self._arguments)}
        return {"id": self.id, "type": "function", "function": function}


def assemble(events: Iterable[Event]) -> dict[str, JSON]:
    """The message that events add up to: role, content, reasoning_content, tool_calls."""
    content: list[str] = []
    reasoning: list[str] = []
    calls: list[Call] = []
    for event in events:
        match event:
            case ContentDelta(text):
                content.append(text)
            case ReasoningDelta(text):
                reasoning.append(text)
            case ToolCallStart(_, identity, name):
                calls.append(Call(name, identity))
            case ArgumentsDelta(index, text):
                calls[index].add(text)
            case ToolCallEnd(index, identity):
                calls[index].id = identity or calls[index].id
            case EndOfTurn():
                pass
    return {
        "role": "assistant",
        "content": "".join(content),
        "reasoning_content": "".join(reasoning),
        "tool_calls": [call.to_dict() for call in calls],
    }


def deltas(events: Iterable[Event], identify: Callable[[], str] | None = None) -> Iterator[dict[str, JSON]]:
    """The `delta` of one `chat.completion.chunk` for each event that has one.

    Clients link results to calls by ids, and take them from a call's first delta: `identify` makes one where
    the model has given none by then. If the model's own comes after the arguments it is left out: a call has
    one id. Without `identify` it comes in a delta of its own. Source: OpenAI's API reference, "The chat
    completion chunk object"; `reasoning_content` as vLLM, SGLang and DeepSeek's API have it.
    """
    without_id: set[int] = set()
    for event in events:
        match event:
            case ContentDelta(text):
                yield {"content": text}
            case ReasoningDelta(text):
                yield {"reasoning_content": text}
            case ToolCallStart(index, identity, name):
                identity = identity or (identify() if identify else "")
                without_id |= set() if identity else {index}
                function: dict[str, JSON] = {"name": name, "arguments": ""}
                yield _call_delta(index, {"id": identity, "type": "function", "function": function})
            case ArgumentsDelta(index, text):
                yield _call_delta(index, {"function": {"arguments": text}})
            case ToolCallEnd(index, identity) if identity and index in without_id:
                yield _call_delta(index, {"id": identity})
            case _:
                pass


def _call_delta(index: int, parts: dict[str, JSON]) -> dict[str, JSON]:
    return {"tool_calls": [{"index": index, **parts}]}


def finish_reason(events: Iterable[Event]) -> str:
    """What OpenAI's API calls it: "length" if a call broke off, so that clients do not make it; "tool_calls"
    if there was a call; else "stop"."""
    reason = "stop"
    for event in events:
        match event:
            case ToolCallEnd(complete=False):
                return "length"
            case ToolCallStart():
                reason = "tool_calls"
            case _:
                pass
    return reason
