"""What real output needs, by hand: (format, text, content, reasoning, calls), and the settings where they matter."""

from __future__ import annotations

import pytest

from chatlint.parse.formats import OutputFormat, Reasoning
from tests.parse.catalogue import CATALOGUE
from tests.parse.reading import ids_of, parts, read

W = "get_weather"
P = {"city": "P"}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "P"}}\n</tool_call>'
OPEN = "<|im_start|>assistant\n<think>\n"
CHANNEL = "<|start|>assistant"

REASONING = [
    ("hermes_json", "<think>\nA\n</think>\n\nHi", "", "Hi", "A", []),
    ("hermes_json", "A\n</think>\n\nHi", OPEN, "Hi", "A", []),
    ("hermes_json", "<think>\nA</think>Hi", OPEN, "Hi", "A", []),  # opened by prompt and model
    ("hermes_json", "A", OPEN, "", "A", []),
    ("hermes_json", "A</thi", OPEN, "", "A", []),
    ("hermes_json", "Hi", "<|im_start|>assistant\n<think>\n\n</think>\n\n", "Hi", "", []),
    ("hermes_json", "", "<|im_start|>assistant\n<think>\nA</think>Hi", "Hi", "A", []),
    ("hermes_json", "A\n</think>Hi", "<|im_start|>user\nx<|im_end|>\n" + OPEN, "Hi", "A", []),  # a whole prompt
    ("hermes_json", "A</think>Hi", "<think>\n", "Hi", "A", []),  # no header in it
    ("hermes_json", "a</think>b", "", "a</think>b", "", []),  # nothing left it open
    ("hermes_json", "</think>Hi", "", "Hi", "", []),
    ("hermes_json", "<think></think>\n\n</think>\n\nHi", "", "Hi", "", []),
    ("hermes_json", "It says <think> and </think> here.", "", "It says <think> and </think> here.", "", []),
    # a call ends open reasoning
    ("hermes_json", f"I will look.\n{CALL}", OPEN, "", "I will look.", [(W, P)]),
    ("hermes_json", f"<think>\nI will look.\n\n{CALL}\nDone.", "", "Done.", "I will look.", [(W, P)]),
    # but not an undeclared one, a mentioned one, one that does not read
    ("hermes_json", 'A\n<tool_call>\n{"name": "nope", "arguments": {}}\n</tool_call>\n</think>Hi', OPEN,
     "Hi", 'A\n<tool_call>\n{"name": "nope", "arguments": {}}\n</tool_call>', []),
    ("hermes_json", f"I could write {CALL} then.\n</think>Hi", OPEN, "Hi", f"I could write {CALL} then.", []),
    ("hermes_json", "Write `<tool_call>` tags.\n<tool_call> too.\n</think>Hi", OPEN,
     "Hi", "Write `<tool_call>` tags.\n<tool_call> too.", []),
    ("seed_oss", "<seed:think>A</seed:think>Hi", "", "Hi", "A", []),
    ("k2_horizon", "<ifm|think_fast>A</ifm|think_fast>Hi", "", "Hi", "A", []),
    ("json_list_tool_calls", "<think>\nA\n</think>\n<answer>\nHi\n</answer>", "", "Hi", "A", []),
    ("cohere_command3", "<|START_THINKING|>A<|END_THINKING|><|START_RESPONSE|>Hi<|END_RESPONSE|>", "", "Hi", "A", []),
    ("cohere_command3", "<|START_THINKING|>A<|START_RESPONSE|>Hi", "", "Hi", "A", []),  # no closer
    ("gemma4", "Hi.<|channel>thought\nA<channel|>Ho.", "", "Hi.Ho.", "A", []),  # reasoning between content
]  # fmt: skip

CALLS = [
    # the object: members in any order, missing, extra, in other words
    ("hermes_json", '<tool_call>{"arguments": {"city": "P"}, "name": "get_weather"}</tool_call>', "", [(W, P)]),
    ("hermes_json", '<tool_call>{"arguments": "{\\"city\\": \\"P\\"}", "name": "get_weather"}</tool_call>', "", [(W, P)]),
    ("hermes_json", r'<tool_call>{"name": "get_weather", "arguments": "{\"city\": \"\\\"é\ud83d\ude00\"}"}</tool_call>', "",
     [(W, {"city": '"é😀'})]),
    ("hermes_json", "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'P', 'x': None}}</tool_call>", "",
     [(W, {"city": "P", "x": None})]),
    ("hermes_json", '<tool_call>{"name": "now"}</tool_call>', "", [("now", {})]),
    ("hermes_json", '<tool_call>{"name": "now", "arguments": null}</tool_call>', "", [("now", {})]),
    ("hermes_json", '<tool_call>{"name": "now", "arguments": ""}</tool_call>', "", [("now", {})]),
    ("hermes_json", '<tool_call>{"name": "get_weather", "parameters": {"city": "P"}}</tool_call>', "", [(W, P)]),
    ("hermes_json", '<tool_call>{"type": "function", "function": {"name": "get_weather", "arguments": {"city": "P"}}}</tool_call>', "",
     [(W, P)]),
    ("hermes_json", '<tool_call>{"name": "get_weather", "arguments": {"city": "print("hi")"}}</tool_call>', "",
     [(W, {"city": 'print("hi")'})]),
    ("hermes_json", '<tool_call>[{"name": "now"}, {"name": "get_weather", "arguments": {"city": "P"}}]</tool_call>\nDone.', "Done.",
     [("now", {}), (W, P)]),
    ("hermes_json", '<tool_call>{"name": "get_weather", "arguments": {"city": "a</tool_call>b"}}</tool_call>', "",
     [(W, {"city": "a</tool_call>b"})]),
    # undeclared, in marks
    ("hermes_json", '<tool_call>{"name": "nope", "arguments": {"a": 1}}</tool_call>', "", [("nope", {"a": 1})]),
    ("qwen_xml", "<tool_call>\n<function=nope>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>", "", [("nope", {"a": 1})]),
    # marks doubled, missing
    ("hermes_json", f"<tool_call>\n{CALL}\n</tool_call>", "", [(W, P)]),
    ("hermes_json", '<tool_call>{"name": "now"}<tool_call>{"name": "now"}', "", [("now", {}), ("now", {})]),
    ("hermes_json", f"{CALL}, {CALL}", "", [(W, P), (W, P)]),
    ("hermes_json", f"Hi {CALL} ho.", "Hi ho.", [(W, P)]),
    ("qwen_xml", "<function=get_weather>\n<parameter=city>\nP\n</parameter>\n</function>\n</tool_call>", "", [(W, P)]),
    ("qwen_xml", "<tool_call>\n<function=get_weather>\n<parameter=city>P</parameter></tool_call>", "", [(W, P)]),
    ("qwen_xml", "<tool_call>\n<function=get_weather>\n{\"city\": \"P\"}\n</function>\n</tool_call>", "", [(W, P)]),
    ("kimi_k2", '<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{}', "", [("now", {})]),
    ("mistral_v11_args", '[TOOL_CALLS]get_weather{"city": "P"}[TOOL_CALLS]now{}', "", [(W, P), ("now", {})]),
    ("glm45_xml_kv", "<tool_call>now</tool_call>\n<tool_call>now\n</tool_call>", "", [("now", {}), ("now", {})]),
    ("glm45_xml_kv", "<tool_call>now", "", [("now", {})]),
    ("cohere_command3", '<|START_ACTION|>{"tool_name": "now", "parameters": {}}<|END_ACTION|>', "", [("now", {})]),
    ("apertus", '<|tools_prefix|>{"now": {}}<|tools_suffix|>', "", [("now", {})]),
    ("plamo3", '<|plamo:begin_tool_name:plamo|>now<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>'
     '<|plamo:constrain|>json<|plamo:msg|>{}', "", [("now", {})]),
    # prose about marks
    ("hermes_json", "The tag <tool_call> opens a call, </tool_call> closes it.", None, []),
    ("hermes_json", "<tool_call> is a tag.", None, []),
    ("glm45_xml_kv", "<tool_call> is a tag.", None, []),
    ("hermes_json", '{"name": "now", "arguments": {}}', None, []),  # no marks, though the format has some
    # nothing says which tool
    ("mistral_v11_args", "[CALL_ID]a{", None, []),
    ("mistral_v11_args", '[CALL_ID]abc[ARGS]{"city": "P"}', None, []),
    ("mistral_json_list", '[TOOL_CALLS] [{"arguments": {"city": "P"}, "id": "abcdef123"}]', None, []),
    ("apertus", '<|tools_prefix|>[{"a": 1}]<|tools_suffix|>', None, []),
    # bare text: only what is declared
    ("llama3_json", '{"name": "get_weather", "parameters": {"city": "P"}}; {"name": "now", "parameters": {}}', "", [(W, P), ("now", {})]),
    ("llama3_json", '{"type": "function", "name": "now", "parameters": {}}', "", [("now", {})]),
    ("llama3_json", '{"name": "now", "arguments": {}}', "", [("now", {})]),
    ("llama3_json", '{"name": "John", "parameters": {"city": "P"}}', None, []),
    ("llama3_json", '{"name": "now"}', None, []),
    ("llama3_json", 'As JSON: {"a": [1, {"name": 2}]} {', None, []),
    ("pythonic", "See [link text](url), [now] and [f(x=1)].", None, []),
    ("pythonic", "[get_weather(city=\"it's (a) [b]\", days=-3), now()]", "", [(W, {"city": "it's (a) [b]", "days": -3}), ("now", {})]),
    ("pythonic", "[get_weather(city='P', x=[1, {'a': None}], y=True, z=word)]", "",
     [(W, {"city": "P", "x": [1, {"a": None}], "y": True, "z": "word"})]),
    # values
    ("glm45_xml_kv", "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>a</arg_value> b</arg_value>\n</tool_call>", "",
     [(W, {"city": "a</arg_value> b"})]),
    ("glm45_xml_kv", "<tool_call>get_weather\n<arg_key>zip</arg_key>\n<arg_value>00123</arg_value>\n<arg_key>n</arg_key>\n"
     "<arg_value>12</arg_value>\n</tool_call>", "", [(W, {"zip": "00123", "n": 12})]),
    ("qwen_xml", "<tool_call>\n<function=get_weather>\n<parameter=city>\n\nP\n\n</parameter>\n</function>\n</tool_call>", "",
     [(W, {"city": "\nP\n"})]),
    ("minicpm5_xml", '<function name="get_weather"><param name="city"><![CDATA[<a>\n</param>]]></param></function>', "",
     [(W, {"city": "<a>\n</param>"})]),
    ("gemma4", '<|tool_call>call:get_weather{city:<|"|>a<|"|>,x:{y:[1,<|"|>}<|"|>,null],z:{}},w:[]}<tool_call|>', "",
     [(W, {"city": "a", "x": {"y": [1, "}", None], "z": {}}, "w": []})]),
    ("functiongemma", "<start_function_call>call:get_weather{city:<escape>3<escape>,days:<escape>3<escape>}<end_function_call>", "",
     [(W, {"city": "3", "days": 3})]),
    ("deepseek_v4_dsml", '<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="a" string="false">oops</｜DSML｜parameter>\n'
     '<｜DSML｜parameter name="b" string="true">{}</｜DSML｜parameter>\n</｜DSML｜invoke>', "", [(W, {"a": "oops", "b": "{}"})]),
    ("kimi_k3_xtml", '<|open|>call tool="now" index="1"<|sep|><|open|>argument key="a" type="list"<|sep|>[1]<|close|>argument<|sep|>'
     "<|close|>call<|sep|>", "", [("now", {"a": [1]})]),  # a type that the template never showed
    ("minimax_m3", "]<]minimax[>[<invoke name=\"get_weather\">]<]minimax[>[<x>]<]minimax[>[<item>1]<]minimax[>[</item>"
     "]<]minimax[>[<item>]<]minimax[>[<y>a]<]minimax[>[</y>]<]minimax[>[</item>]<]minimax[>[</x>]<]minimax[>[</invoke>", "",
     [(W, {"x": [1, {"y": "a"}]})]),
    # cut
    ("hermes_json", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Par', "", [(W, '{"city": "Par')]),
    ("hermes_json", '<tool_call>\n{"name": "get_we', None, []),
    ("qwen_xml", "<tool_call>\n<function=get_weather>\n<parameter=city>\nPar", "", [(W, {"city": "Par"})]),
    ("pythonic", "[get_weather(city=", "", [(W, '{"city": ')]),
    ("hermes_json", "Hi<|im_end|>", "Hi", []),
    ("hermes_json", "Hi<|im_en", "Hi", []),
]  # fmt: skip

HEADERS = [
    ("<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>", "Hi", "A", []),
    ("<|channel|>final<|message|>Hi", "Hi", "", []),
    ("Hi", "Hi", "", []),
    ("<|channel|>analysis<|message|>A<|end|><|channel|>final<|message|>Hi", "Hi", "A", []),  # no header
    ("<|channel|>analysis<|message|>A<|channel|>final<|message|>Hi", "Hi", "A", []),  # nor an end
    ('<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "P"}<|call|>', "", "", [(W, P)]),
    (' to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{"city": "P"}<|call|>', "", "", [(W, P)]),
    (' to=functions.get_weather<|channel|>commentary json<|message|>{"city": "P"}', "", "", [(W, P)]),
    ("<|channel|>commentary<|message|>Pre.<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>",
     "Pre.", "", [("now", {})]),
    ("<|channel|>commentary to=functions.nope json<|message|>{}<|call|>", "", "", [("nope", {})]),
    ('<|channel|>commentary to=browser.search<|message|>{"q": 1}<|call|>', '{"q": 1}', "", []),  # no tool of ours
    ("<|channel|>analysis to=python code<|message|>print(1)<|call|>", "", "print(1)", []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "prompt", "content", "reasoning", "calls"), REASONING)
def test_reasoning(name: str, text: str, prompt: str, content: str, reasoning: str, calls: list) -> None:
    message = read(CATALOGUE[name].output, text, generation_prompt=prompt, cuts=True)
    assert parts(message) == (content, reasoning, calls)


@pytest.mark.parametrize(("name", "text", "content", "calls"), CALLS)
def test_calls(name: str, text: str, content: str | None, calls: list) -> None:
    """`content` None: the whole text, character for character."""
    message = read(CATALOGUE[name].output, text, cuts=True)
    assert parts(message) == (text if content is None else content, "", calls)


@pytest.mark.parametrize(("text", "content", "reasoning", "calls"), HEADERS)
def test_headers(text: str, content: str, reasoning: str, calls: list) -> None:
    message = read(CATALOGUE["harmony"].output, text, generation_prompt=CHANNEL, cuts=True)
    assert parts(message) == (content, reasoning, calls)


def test_several_calls_in_one_addressed_message() -> None:
    text = (
        ' to=user<|message|>Hi<|eom|><|start|>assistant to=tool<|message|><atem:function_calls>\n<atem:invoke name="now">\n'
        '</atem:invoke>\n<atem:invoke name="get_weather">\n<atem:parameter name="city">P</atem:parameter>\n</atem:invoke>\n'
        "</atem:function_calls><|eot|>"
    )
    message = read(CATALOGUE["muse_atem"].output, text, generation_prompt=CHANNEL)
    assert parts(message) == ("Hi", "", [("now", {}), (W, P)])


@pytest.mark.parametrize(
    ("text", "prompt", "content"),
    [
        ("<think>\nA\n</think>\n\nHi", "", "<think>\nA\n</think>\n\nHi"),
        ("A\n</think>\n\nHi", OPEN, "<think>\nA\n</think>\n\nHi"),
        (f"<think>A</think>\n{CALL}", "", "<think>A</think>"),
        ("Hi", "", "Hi"),
    ],
)
def test_reasoning_left_in_the_content(text: str, prompt: str, content: str) -> None:
    message = read(CATALOGUE["hermes_json"].output, text, generation_prompt=prompt, reasoning=False)
    assert message["content"] == content
    assert message["reasoning_content"] == ""


@pytest.mark.parametrize(
    ("name", "text", "ids"),
    [
        (
            "kimi_k2",
            "<|tool_call_begin|>functions.now:7<|tool_call_argument_begin|>{}<|tool_call_end|>",
            ["functions.now:7"],
        ),
        ("kimi_k2", "<|tool_call_begin|>now:7<|tool_call_argument_begin|>{}<|tool_call_end|>", ["now:7"]),
        (
            "kimi_k2",
            "<|tool_call_begin|>call_now_1<|tool_call_argument_begin|>{}<|tool_call_end|>",
            ["call_now_1"],
        ),
        ("mistral_v11_args", "[TOOL_CALLS]now[CALL_ID]abc123456[ARGS]{}", ["abc123456"]),
        ("mistral_v11_args", "[TOOL_CALLS]now[ARGS]{}", [""]),
        (
            "mistral_json_list",
            '[TOOL_CALLS] [{"id": "abc123456", "name": "now", "arguments": {}}]',
            ["abc123456"],
        ),
        (
            "cohere_command3",
            '<|START_ACTION|>[{"tool_call_id": 3, "tool_name": "now", "parameters": {}}]<|END_ACTION|>',
            ["3"],
        ),
    ],
)
def test_ids(name: str, text: str, ids: list[str]) -> None:
    message = read(CATALOGUE[name].output, text, cuts=True)
    assert ids_of(message) == ids
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["now"]


@pytest.mark.parametrize(
    ("text", "content", "reasoning"),
    [
        ("<think>A</think>assistant: Hi", "Hi", "A"),
        ("<think>A</think>Hi", "Hi", "A"),
        ("<think>A</think>assistant: An assistant: one who helps", "An assistant: one who helps", "A"),
        ("Hi, assistant: x", "Hi, assistant: x", ""),
        ("Say </think>assistant: b", "Say </think>assistant: b", ""),
    ],
)
def test_a_header_of_plain_words_counts_behind_reasoning(text: str, content: str, reasoning: str) -> None:
    output = OutputFormat(header="assistant: ", reasoning=Reasoning("<think>", "</think>"))
    assert parts(read(output, text, cuts=True)) == (content, reasoning, [])
