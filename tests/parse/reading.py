"""Reads a text whole, character by character and cut in other ways, and holds the machine to its promises."""

from __future__ import annotations

import json
import random

from chatlint.parse.events import (
    ArgumentsDelta,
    ContentDelta,
    EndOfTurn,
    Event,
    ReasoningDelta,
    ToolCallEnd,
    ToolCallStart,
)
from chatlint.parse.formats import OutputFormat
from chatlint.parse.message import assemble

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}
TOOLS = [WEATHER, NOW]


def chunks_of(text: str, size: int) -> list[str]:
    """The text in pieces of one size."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def random_chunks(text: str, seed: int) -> list[str]:
    """The text in pieces of random sizes, empty ones too."""
    source = random.Random(seed)
    pieces, at = [], 0
    while at < len(text):
        size = source.choice((0, 1, 1, 2, 3, 5, 8, 13))
        pieces.append(text[at : at + size])
        at += size
    return pieces


def stream(output: OutputFormat, chunks: list[str], **settings) -> list[Event]:
    """All events of a text that comes in chunks."""
    parser = output.parser(**settings)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.finish()


def by_chunk(
    output: OutputFormat, chunks: list[str], *, awake: bool = False, **settings
) -> list[list[Event]]:
    """The events of each chunk; `awake`: with the reader at work woken for every one, no short way taken."""
    parser = output.parser(**settings)
    feed = parser._machine.advance if awake else parser.feed
    return [*map(feed, chunks), parser.finish()]


def check_events(events: list[Event]) -> None:
    """No empty delta; a call starts once, before its arguments, and ends once; indices count up."""
    open_call, calls = None, 0
    for event in events:
        match event:
            case ContentDelta(text) | ReasoningDelta(text):
                assert text, "an empty delta"
                assert open_call is None, "prose inside a call"
            case ToolCallStart(index, _, name):
                assert open_call is None, "a call inside a call"
                assert index == calls, "an index out of order"
                assert name, "a call without a name"
                open_call, calls = index, calls + 1
            case ArgumentsDelta(index, text):
                assert index == open_call, "arguments outside their call"
                assert text, "an empty delta"
            case ToolCallEnd(index):
                assert index == open_call, "the end of a call that is not open"
                open_call = None
            case EndOfTurn(marker):
                assert marker
                assert open_call is None
    assert open_call is None, "a call that never ends"


def read(output: OutputFormat, text: str, *, cuts: bool = False, **settings) -> dict:
    """The message, after checking that every way of cutting the text gives the same; `cuts` tries every place."""
    settings.setdefault("tools", TOOLS)
    whole = output.parser(**settings).parse(text)
    ways = [chunks_of(text, size) for size in (1, 2, 3, 4, 7)] + [
        random_chunks(text, seed) for seed in range(3)
    ]
    if cuts:
        ways += [[text[:i], text[i:]] for i in range(1, len(text))]
    for way in ways:
        events = stream(output, way, **settings)
        check_events(events)
        assert assemble(events) == whole, f"other chunks, other message: {way!r}"
    return whole


def decoded(arguments: str):
    """Arguments as a value; the text itself where it is cut."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def calls_of(message: dict) -> list[tuple]:
    """(name, arguments) of each call."""
    return [
        (call["function"]["name"], decoded(call["function"]["arguments"])) for call in message["tool_calls"]
    ]


def ids_of(message: dict) -> list[str]:
    """The id of each call."""
    return [call["id"] for call in message["tool_calls"]]


def parts(message: dict) -> tuple:
    """(content, reasoning, calls), for short comparisons."""
    return message["content"], message["reasoning_content"], calls_of(message)
