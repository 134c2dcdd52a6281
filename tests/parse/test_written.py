"""Random messages, written in every format of the catalogue, read back: whole and in random chunks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.parse.formats import OutputFormat
from chatlint.parse.message import assemble
from tests.parse.catalogue import CATALOGUE
from tests.parse.reading import TOOLS, by_chunk, calls_of, check_events, chunks_of, ids_of, stream
from tests.parse.writer import write

LETTERS = "abc XYZ 012\n\t\"'\\{}[](),:;=<>/|&#éß漢🎉.-_`$%"
"""Whatever quoting, escaping and marks are made of."""
KEYS = st.sampled_from(["city", "days", "a", "b_c", "max-n", "x1", "rows"])
STRINGS = st.text(LETTERS, max_size=14)
SCALARS = {
    "string": STRINGS,
    "integer": st.integers(-(10**15), 10**15),
    "number": st.floats(-1e9, 1e9, allow_nan=False),
    "boolean": st.booleans(),
}
NAMES = ["get_weather", "f", "mcp.srv-x/tool"]


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> dict:
    """A JSON Schema of one type, everything inside it declared."""
    kinds = [*SCALARS, *(["array", "object"] if depth else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "array":
        return {"type": "array", "items": draw(schemas(depth=depth - 1))}
    if kind == "object":
        return {
            "type": "object",
            "properties": draw(st.dictionaries(KEYS, schemas(depth=depth - 1), max_size=3)),
        }
    return {"type": kind}


def values(schema: dict) -> st.SearchStrategy:
    """Values that a schema allows."""
    if schema["type"] == "array":
        return st.lists(values(schema["items"]), max_size=3)
    if schema["type"] == "object":
        return st.fixed_dictionaries(
            {}, optional={key: values(inner) for key, inner in schema["properties"].items()}
        )
    return SCALARS[schema["type"]]


@st.composite
def requests(draw: st.DrawFn, parallel: bool) -> tuple[list, list]:
    """Tools, and calls of them."""
    parameters = {
        name: {"type": "object", "properties": draw(st.dictionaries(KEYS, schemas(), max_size=3))}
        for name in NAMES
    }
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema}}
        for name, schema in parameters.items()
    ]
    names = draw(st.lists(st.sampled_from(NAMES), max_size=3 if parallel else 1))
    return tools, [(name, draw(values(parameters[name]))) for name in names]


def ids_for(output: OutputFormat, calls: list) -> list[str]:
    """Ids as the format has them."""
    form = output.tool_calls
    if "⟨id⟩" not in form.body:
        return []
    return [
        form.id.replace("⟨name⟩", name).replace("⟨n⟩", str(i)) or f"abcdef12{i}"
        for i, (name, _) in enumerate(calls)
    ]


def closes_itself(output: OutputFormat, text: str, calls: list) -> bool:
    """Whether a string holds what closes it, followed by what may follow: no format without escapes can say it."""
    marks = re.findall(
        r"</[^<>]+>|<[^<>]*\|>|<escape>",
        output.tool_calls.members.member if output.tool_calls.members else "",
    )
    return any(mark in str(arguments) for mark in marks for _, arguments in calls)


def check_read_back(name: str, data: st.DataObject) -> None:
    """A message in a format, read back whole and in random chunks."""
    output = CATALOGUE[name].output
    tools, calls = data.draw(requests(output.tool_calls.parallel))
    content = data.draw(st.sampled_from(["", "Hi there.", 'First, this:\n\n1 < 2 & "x" [y] {z}.']))
    reasoning = data.draw(st.sampled_from(["", "I think.\nSo: yes."])) if output.reasoning else ""
    ids = ids_for(output, calls)
    text = write(output, content=content, reasoning=reasoning, calls=calls, ids=ids)
    assert not closes_itself(output, text, calls)
    settings_ = {"tools": tools, "generation_prompt": output.header}
    message = output.parser(**settings_).parse(text)
    assert (message["content"], message["reasoning_content"]) == (content, reasoning)
    assert calls_of(message) == calls
    assert ids_of(message) == (ids or [""] * len(calls))
    chunks, at = [], 0
    while at < len(text):
        size = data.draw(st.integers(1, 24))
        chunks.append(text[at : at + size])
        at += size
    events = stream(output, chunks, **settings_)
    check_events(events)
    assert assemble(events) == message


PIECES = st.sampled_from(
    [
        "<",
        ">",
        "</",
        "\n",
        " ",
        "a",
        "Hi. ",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        ",",
        ":",
        "\\",
        "=",
        "(",
        ")",
        "1",
        "true",
        "get_weather",
        "now",
    ]
)


def check_any_text(name: str, data: st.DataObject) -> None:
    """Marks of the format and other pieces in any order: no error, one message however it is cut."""
    output = CATALOGUE[name].output
    calls = output.tool_calls
    marks = [
        calls.section_start,
        calls.call_start + calls.body,
        calls.call_end,
        calls.section_end,
        calls.separator,
        output.header,
    ]
    marks += [calls.members.member] if calls.members else []
    marks += [output.reasoning.start, output.reasoning.end] if output.reasoning else []
    marks += [
        output.content.start,
        output.content.end,
        *output.end_of_turn,
        *output.end_of_message,
        output.header_end,
    ]
    own = re.split(r"⟨\w+⟩", "⟨n⟩".join(mark for mark in marks if mark))
    pieces = st.one_of(PIECES, st.sampled_from([piece for piece in own if piece]))
    text = "".join(data.draw(st.lists(pieces, max_size=24)))
    prompt = data.draw(
        st.sampled_from(
            ["", output.header, output.header + (output.reasoning.start if output.reasoning else "")]
        )
    )
    keep = data.draw(st.booleans())
    settings_ = {
        "tools": data.draw(st.sampled_from([None, [], TOOLS])),
        "generation_prompt": prompt,
        "reasoning": keep,
    }
    whole = output.parser(**settings_).parse(text)
    for size in (1, 2, 5):
        chunks = chunks_of(text, size)
        found = by_chunk(output, chunks, **settings_)
        assert found == by_chunk(output, chunks, awake=True, **settings_), "the short way says otherwise"
        events = [event for some in found for event in some]
        check_events(events)
        assert assemble(events) == whole


@pytest.mark.parametrize("name", sorted(CATALOGUE))
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_read_back(name: str, data: st.DataObject) -> None:
    check_read_back(name, data)


@pytest.mark.parametrize("name", sorted(CATALOGUE))
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_text_keeps_the_promises(name: str, data: st.DataObject) -> None:
    check_any_text(name, data)


SILENT = OutputFormat(header="<|im_start|>assistant\n", end_of_turn=("<|im_end|>",))
"""A format without reasoning and calls: both are guessed."""
GUESSABLE = st.sampled_from(
    [
        "<tool>",
        "</tool>",
        "[",
        "]",
        "[CALLS]",
        "now(",
        "get_weather(",
        "city=",
        '"P"',
        ")",
        ", ",
        '{"name": "now"',
        "}",
        "<|x_end|>",
        ', "arguments": {',
        "<think>",
        "</think>",
        "<|im_end|>",
        "\n",
        " ",
        "Hi. ",
        "word",
        "```python\n",
        "```",
        "'",
        "<",
        "now()",
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    pieces=st.lists(GUESSABLE, max_size=16), prompt=st.sampled_from(["", "<|im_start|>assistant\n<think>\n"])
)
def test_any_text_keeps_the_promises_of_guesses(pieces: list[str], prompt: str) -> None:
    text = "".join(pieces)
    settings_ = {"tools": TOOLS, "generation_prompt": prompt}
    whole = SILENT.parser(**settings_).parse(text)
    for size in (1, 2, 5):
        events = stream(SILENT, [text[i : i + size] for i in range(0, len(text), size)], **settings_)
        check_events(events)
        assert assemble(events) == whole


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(CATALOGUE))
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_many_messages_and_texts(name: str, data: st.DataObject) -> None:
    check_read_back(name, data)
    check_any_text(name, data)
