"""Response templates, read by transformers' own parser."""

from __future__ import annotations

import json

import pytest

from chatlint.errors import UsageError
from chatlint.export.response_template import response_template
from chatlint.parse.formats import (
    Content,
    Encoding,
    GenerationPrompt,
    Marks,
    Members,
    OutputFormat,
    Reasoning,
    ReasoningState,
    Syntax,
    ToolCalls,
    Values,
    Written,
)
from tests.corpus.entries import TOOLS
from tests.export.learned import WRITTEN, each, learned

CANNOT = {
    "apertus": "only key",
    "minimax-m3": "marks of their own",
    "olmo-3": "nothing ends the value",
}
"""What transformers' parsers have no word for."""


def read(template, text, *, prefix="", tools=None, step=0):
    """The message as transformers reads it: content, reasoning, calls."""
    from transformers.utils.chat_parsing import ResponseParser

    parser = ResponseParser(json.loads(json.dumps(template)), prefix=prefix, tools=tools)
    size = step or max(len(text), 1)
    for at in range(0, len(text), size):
        parser.feed(text[at : at + size])
    message, _ = parser.finalize()
    assert set(message) <= {"role", "content", "thinking", "tool_calls"}
    calls = [
        (call["function"]["name"], call["function"]["arguments"], call.get("id", ""))
        for call in message.get("tool_calls", [])
    ]
    return message.get("content", ""), message.get("thinking", ""), calls


@each([reading for reading in WRITTEN if reading.entry not in CANNOT])
def test_transformers_reads_every_reading_back(reading):
    template = response_template(reading.format)
    message = reading.message
    want = (message["content"], message["reasoning_content"], reading.calls)
    for step in (0, 1, 7):
        got = read(template, reading.text, prefix=reading.generation_prompt, tools=reading.tools, step=step)
        assert got == want


@pytest.mark.parametrize("name", CANNOT)
def test_what_cannot_be_expressed_says_why(name):
    with pytest.raises(UsageError, match=CANNOT[name]) as caught:
        response_template(learned(name))
    assert "--to gbnf" in caught.value.hint


def test_a_plain_format_is_as_its_documentation_has_it():
    output = OutputFormat(
        header="<|im_start|>assistant\n",
        reasoning=Reasoning("<think>\n", "\n</think>\n"),
        end_of_turn=("<|im_end|>",),
        tool_calls=ToolCalls(call_start="<call>\n", call_end="\n</call>", separator="\n"),
    )
    template = response_template(output)
    assert template["start_anchor"] == "<|im_start|>assistant"
    assert template["fields"]["thinking"] == {"open": "<think>", "close": "</think>"}
    assert template["fields"]["tool_calls"]["content"] == "json"
    assert set(template["fields"]) == {"thinking", "tool_calls", "content"}


def test_engines_take_it():
    """vLLM and SGLang refuse other fields, and joins and parsers for thinking and content."""
    for reading in WRITTEN:
        if reading.entry in CANNOT:
            continue
        fields = response_template(reading.format)["fields"]
        assert set(fields) <= {"thinking", "content", "tool_calls"}
        for name in ("thinking", "content"):
            assert not {"join", "transform", "content", "repeats"} & set(fields.get(name, {}))


def test_reasoning_that_the_header_opens():
    output = OutputFormat(
        header="<|a|>",
        generation_prompt=GenerationPrompt("<|a|>", ReasoningState.OPEN),
        reasoning=Reasoning("", "</think>"),
    )
    template = response_template(output)
    assert read(template, "Hm.</think>Yes.", prefix="<|u|>x<|a|>") == ("Yes.", "Hm.", [])


def test_a_counter_in_a_mark():
    output = OutputFormat(
        header="<|a|>", content=Content("<part ⟨n⟩>", "</part>"), reasoning=Reasoning("<t ⟨n⟩>", "</t>")
    )
    assert read(response_template(output), "<t 1>Hm.</t><part 12>Yes.</part>") == ("Yes.", "Hm.", [])


def test_python_literals_are_refused():
    output = OutputFormat(
        tool_calls=ToolCalls(call_start="<c>", call_end="</c>", syntax=Syntax.PYTHON),
    )
    with pytest.raises(UsageError, match="Python literals"):
        response_template(output)


def test_values_that_end_otherwise_by_type_are_refused():
    values = Values(string=Written("<s>", "</s>"), integer=Written("<n>", "</n>", Encoding.JSON))
    calls = ToolCalls(
        call_start="<c>", call_end="</c>", syntax=Syntax.TEXT, body="⟨name⟩⟨arguments⟩",
        members=Members("<k>⟨key⟩</k>⟨value⟩<e>"), values=values,
    )  # fmt: skip
    with pytest.raises(UsageError, match="each type"):
        response_template(OutputFormat(tool_calls=calls))


def test_content_in_several_channels():
    output = OutputFormat(
        header="<|a|>", end_of_message=("<|end|>",),
        content=Content("<|x|>", "", alternatives=(Marks("<|y|>", "<|end|>"),)),
        reasoning=Reasoning("<|t|>", "<|end|>"),
    )  # fmt: skip
    template = response_template(output)
    assert read(template, "<|t|>Hm.<|end|><|a|><|x|>Yes.") == ("Yes.", "Hm.", [])
    assert read(template, "<|y|>Yes.<|end|>") == ("Yes.", "", [])


def test_white_space_between_calls_is_no_content():
    output = OutputFormat(header="<|a|>", tool_calls=ToolCalls(call_start="<call>", call_end="</call>"))
    text = 'Look.\n\n<call>{"name": "f", "arguments": {}}</call>\n \n<call>{"name": "g", "arguments": {}}</call>\n'
    for step in (0, 1, 3):
        got = read(response_template(output), text, step=step)
        assert got == ("Look.", "", [("f", {}, ""), ("g", {}, "")])


def test_arguments_are_typed_by_the_tools():
    output = learned("qwen-xml")
    text = "<tool_call>\n<function=get_weather>\n<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
    template = response_template(output)
    assert read(template, text, tools=TOOLS["weather"])[2] == [("get_weather", {"days": 3}, "")]
    assert read(template, text)[2] == [("get_weather", {"days": "3"}, "")]
