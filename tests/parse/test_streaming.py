"""What is said when: nothing is held back but what DESIGN.md section 5 lists, nothing is taken back."""

from __future__ import annotations

import gc

import pytest

from chatlint.errors import UsageError
from chatlint.parse.events import (
    ArgumentsDelta,
    ContentDelta,
    EndOfTurn,
    ReasoningDelta,
    ToolCallEnd,
    ToolCallStart,
)
from chatlint.parse.formats import OutputFormat, Syntax, ToolCalls
from chatlint.parse.machine import Machine
from chatlint.parse.message import assemble, deltas, finish_reason
from tests.parse.catalogue import CATALOGUE
from tests.parse.reading import TOOLS

HERMES = CATALOGUE["hermes_json"].output
QWEN = CATALOGUE["qwen_xml"].output


def said(name: str, chunks: list[str], **settings) -> list[list]:
    """The events of each chunk, and those of the end."""
    parser = CATALOGUE[name].output.parser(tools=TOOLS, **settings)
    return [*(parser.feed(chunk) for chunk in chunks), parser.finish()]


def test_content_comes_character_by_character() -> None:
    assert said("hermes_json", list("Hi!")) == [
        [ContentDelta("H")],
        [ContentDelta("i")],
        [ContentDelta("!")],
        [],
    ]


def test_whitespace_waits_for_what_follows() -> None:
    assert said("hermes_json", ["a", " ", "b ", "\n"]) == [
        [ContentDelta("a")], [], [ContentDelta(" b")], [], [ContentDelta(" \n")],
    ]  # fmt: skip


def test_an_end_that_may_begin_a_mark_waits() -> None:
    assert said("hermes_json", ["a<", "b<tool", "x"]) == [
        [ContentDelta("a")], [ContentDelta("<b")], [ContentDelta("<toolx")], [],
    ]  # fmt: skip


def test_a_call_starts_at_its_name() -> None:
    chunks = [
        "<tool_call>\n{",
        '"name": "get_weather"',
        ", ",
        '"arguments": {"ci',
        'ty": "Par',
        "is",
        '"}',
        "}\n</tool_call>",
    ]
    assert said("hermes_json", chunks) == [
        [],
        [ToolCallStart(0, "", "get_weather")],
        [],
        [ArgumentsDelta(0, '{"ci')],
        [ArgumentsDelta(0, 'ty": "Par')],
        [ArgumentsDelta(0, "is")],
        [ArgumentsDelta(0, '"}')],
        [ToolCallEnd(0, "")],
        [],
    ]


def test_arguments_keep_the_models_spelling() -> None:
    spelled = '{"city" :"P\\u00e9\\/" ,\n "x":[1.50,2e1]}'
    parser = HERMES.parser(tools=TOOLS)
    events = [
        e for c in '<tool_call>{"name":"now","arguments":' + spelled + "}</tool_call>" for e in parser.feed(c)
    ]
    assert "".join(e.text for e in events if isinstance(e, ArgumentsDelta)) == spelled


def test_arguments_before_the_name_wait_for_it() -> None:
    first, second, *_ = said(
        "hermes_json", ['<tool_call>{"arguments": {"a": 1}', ', "name": "now"', "}</tool_call>"]
    )
    assert first == []
    assert second == [ToolCallStart(0, "", "now"), ArgumentsDelta(0, '{"a": 1}')]


def test_an_id_before_the_arguments_waits_for_it() -> None:
    events = said(
        "cohere_command3",
        ['<|START_ACTION|>[{"tool_name": "now"', ', "tool_call_id": "0"', ', "parameters": {}', "}]"],
    )
    assert events[0] == []
    assert [e for chunk in events for e in chunk][:1] == [ToolCallStart(0, "0", "now")]


def test_a_later_id_comes_with_the_end() -> None:
    chunks = ['[TOOL_CALLS] [{"name": "now", "arguments": {}', ', "id": "abc123456"}', "]"]
    events = [event for chunk in said("mistral_json_list", chunks) for event in chunk]
    assert events == [ToolCallStart(0, "", "now"), ArgumentsDelta(0, "{}"), ToolCallEnd(0, "abc123456")]
    assert assemble(events)["tool_calls"][0]["id"] == "abc123456"
    assert list(deltas(events))[-1] == {"tool_calls": [{"index": 0, "id": "abc123456"}]}
    made = [one["tool_calls"][0] for one in deltas(iter(events), lambda: "made")]
    assert [one.get("id") for one in made] == ["made", None]  # clients add up what comes under one key


def test_a_value_that_must_be_a_string_streams() -> None:
    chunks = [
        "<tool_call>\n<function=get_weather>\n",
        "<parameter=city>\nPa",
        'r"is\n',
        "x",
        "\n</parameter>",
        "\n</function>",
    ]
    assert said("qwen_xml", chunks)[:5] == [
        [ToolCallStart(0, "", "get_weather")],
        [ArgumentsDelta(0, '{"city": "Pa')],
        [ArgumentsDelta(0, 'r\\"is')],
        [ArgumentsDelta(0, "\\nx")],
        [],
    ]


def test_a_value_of_uncertain_type_waits_for_its_end() -> None:
    chunks = [
        "<tool_call>\n<function=get_weather>\n<parameter=days>\n",
        "1",
        "2",
        "\n</parameter>\n",
        "</function>\n",
    ]
    assert said("qwen_xml", chunks)[:5] == [
        [ToolCallStart(0, "", "get_weather"), ArgumentsDelta(0, '{"days": ')],
        [],
        [],
        [],
        [ArgumentsDelta(0, "12}"), ToolCallEnd(0, "")],
    ]


def test_prose_that_looks_like_a_call_is_let_go() -> None:
    chunks = ["Use <tool_call>", "\n", "{", "x"]
    events = said("hermes_json", chunks)
    assert [chunk for chunk in events if chunk] == [[ContentDelta("Use")], [ContentDelta(" <tool_call>\n{x")]]


def test_reasoning_ends_when_the_calls_name_is_complete() -> None:
    prompt = "<|im_start|>assistant\n<think>\n"
    first, second, third, *_ = said(
        "hermes_json", ["Look.\n<tool_call>\n", '{"name": "no', 'w"'], generation_prompt=prompt
    )
    assert first == [ReasoningDelta("Look.")]
    assert second == []
    assert third == [ToolCallStart(0, "", "now")]


def test_the_prompts_beginning_of_a_message_is_said_first() -> None:
    prompt = "<|im_start|>assistant\n<think>\nI'm thinking</think>Hello, "
    assert said("hermes_json", ["world"], generation_prompt=prompt)[0] == [
        ReasoningDelta("I'm thinking"), ContentDelta("Hello, world"),
    ]  # fmt: skip


def test_the_end_of_the_turn_is_said() -> None:
    assert said("hermes_json", ["Hi<|im_end|>"])[0] == [ContentDelta("Hi"), EndOfTurn("<|im_end|>")]


def test_text_that_stops_inside_a_call_says_so() -> None:
    events = [
        event
        for chunk in said("hermes_json", ['<tool_call>{"name": "now", "arguments": {"a": '])
        for event in chunk
    ]
    assert events[-1] == ToolCallEnd(0, "", complete=False)
    parser = HERMES.parser()
    parser.feed('<tool_call>{"name": "now", "arguments": {"a": ')
    parser.finish()
    assert parser.cut


def test_closers_cut_off_leave_a_call_complete() -> None:
    events = [
        event
        for chunk in said("hermes_json", ['<tool_call>{"name": "now", "arguments": {}'])
        for event in chunk
    ]
    assert events[-1] == ToolCallEnd(0, "", complete=True)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_bytes(size: int) -> None:
    text = '漢字 🎉<tool_call>{"name": "now", "arguments": {"a": "é"}}</tool_call>'.encode()
    parser = HERMES.parser(tools=TOOLS)
    events = [event for i in range(0, len(text), size) for event in parser.feed_bytes(text[i : i + size])]
    message = assemble([*events, *parser.finish()])
    assert message == HERMES.parser(tools=TOOLS).parse(text.decode())


def test_bytes_that_are_no_text_become_a_mark_of_it() -> None:
    parser = HERMES.parser()
    events = [*parser.feed_bytes(b"a\xff"), *parser.feed_bytes(b"\xe6\xbc"), *parser.finish()]
    assert assemble(events)["content"] == "a\ufffd\ufffd"


def test_a_parser_reads_one_turn() -> None:
    parser = HERMES.parser()
    parser.feed("Hi")
    assert parser.finish() == []
    assert parser.finish() == []
    with pytest.raises(UsageError, match="finished"):
        parser.feed("Ho")


def test_parse_leaves_the_stream_alone() -> None:
    parser = HERMES.parser()
    parser.feed("Hi ")
    assert parser.parse("Ho")["content"] == "Ho"
    assert parser.parse("Ho")["content"] == "Ho"
    assert parser.feed("there") == [ContentDelta(" there")]


def test_empty_chunks_say_nothing() -> None:
    parser = HERMES.parser(tools=TOOLS)
    text = 'Hi <tool_call>{"name": "now", "arguments": {"a": "b c"}}</tool_call> x'
    events = [event for char in text for chunk in ("", char, "") for event in parser.feed(chunk)]
    assert assemble([*events, *parser.finish()]) == HERMES.parser(tools=TOOLS).parse(text)


def test_guesses_say_that_they_are() -> None:
    silent = CATALOGUE["xlam_json_list"].output
    parser = silent.parser()
    parser.feed("<think>A</think>Hi")
    assert parser.guessed
    parser = HERMES.parser()
    parser.feed("<think>A</think>Hi")
    assert not parser.guessed


def test_deltas_of_the_streaming_api() -> None:
    parser = QWEN.parser(tools=TOOLS)
    text = "<think>\nA\n</think>\n\nHi<tool_call>\n<function=now>\n</function>\n</tool_call><|im_end|>"
    events = [*parser.feed(text), *parser.finish()]
    assert list(deltas(events)) == [
        {"reasoning_content": "A"},
        {"content": "Hi"},
        {
            "tool_calls": [
                {"index": 0, "id": "", "type": "function", "function": {"name": "now", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
    ]
    made = [one["tool_calls"][0] for one in deltas(events, lambda: "made") if "tool_calls" in one]
    assert [one.get("id") for one in made] == ["made", None]
    assert finish_reason(events) == "tool_calls"
    assert finish_reason([]) == "stop"


def test_a_call_that_broke_off_is_none_to_make() -> None:
    parser = HERMES.parser(tools=TOOLS)
    events = [*parser.feed('<tool_call>\n{"name": "now", "arguments": {"a": "half a v'), *parser.finish()]
    assert isinstance(events[0], ToolCallStart)
    assert finish_reason(events) == "length"


def test_an_id_that_the_template_composes_is_there_at_the_start() -> None:
    body = "functions.⟨name⟩:⟨n⟩<|args|>⟨arguments⟩"
    calls = ToolCalls(call_start="<|call|>", body=body, syntax=Syntax.TEXT, id="functions.⟨name⟩:⟨n⟩")
    parser = OutputFormat(tool_calls=calls).parser(tools=TOOLS)
    assert parser.feed("<|call|>functions.now:12<|args|>") == [ToolCallStart(0, "functions.now:12", "now")]
    assert parser.feed("{}") + parser.finish() == [
        ArgumentsDelta(0, "{}"),
        ToolCallEnd(0, "functions.now:12"),
    ]


def test_a_parser_begins_anew() -> None:
    first = HERMES.parser(tools=TOOLS, generation_prompt="<|im_start|>assistant\n<think>\n")
    other = first.anew()
    assert first.feed("so ") == other.feed("so ") == first.anew().feed("so ")
    other.finish()
    with pytest.raises(UsageError, match="finished"):
        other.feed("more")
    assert first.parse("so") == other.parse("so")
    assert other.anew().feed("so ") == first.anew().feed("so ")


def test_a_parser_that_has_finished_leaves_nothing_to_be_collected() -> None:
    gc.collect()
    gc.disable()
    try:
        for chunks in (["Hi ", '"', "there", '"'], ["<tool_call>\n", '{"name": "get_weather", "argu']):
            parser = HERMES.parser(tools=TOOLS)
            for chunk in chunks:
                parser.feed(chunk)
            parser.finish()
            parser.parse("".join(chunks))
            del parser
        kept = [one for one in gc.get_objects() if type(one) is Machine]
    finally:
        gc.enable()
    assert not kept
