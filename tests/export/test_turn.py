"""Grammars of whole turns: what templates write is accepted, what is broken is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatlint.errors import UsageError
from chatlint.export.turn import Request, turn_grammar
from chatlint.export.writing import Call, write_calls
from chatlint.parse.formats import GenerationPrompt, OutputFormat, Reasoning, ReasoningState, ToolCalls
from chatlint.parse.markers import is_strong
from tests.corpus.entries import TOOLS
from tests.export.judges import JUDGES, verdict
from tests.export.learned import WRITTEN, each, learned

judged = pytest.mark.parametrize("judge", JUDGES)
CALLS = [reading for reading in WRITTEN if reading.calls]
WITH_CALLS = sorted({reading.entry for reading in CALLS})
SOME = WITH_CALLS[::3]
"""Where one entry in three will do."""
HERMES = OutputFormat(
    header="<|im_start|>assistant\n",
    reasoning=Reasoning("<think>\n", "\n</think>\n\n"),
    end_of_turn=("<|im_end|>",),
    tool_calls=ToolCalls(call_start="<tool_call>\n", call_end="\n</tool_call>", separator="\n"),
)


def without_stop(reading):
    """The text without the mark at its end that engines stop at and do not show."""
    text = reading.text.rstrip()
    for mark in reading.format.end_of_turn:
        text = text.removesuffix(mark)
    return text if text != reading.text.rstrip() else reading.text


def judge_reading(judge, reading, text, **request):
    given = {"tools": reading.tools, "generation_prompt": reading.generation_prompt, **request}
    return verdict(judge, reading.format, text, **given)


@judged
@each(WRITTEN)
def test_every_reading_is_accepted(judge, reading):
    assert judge_reading(judge, reading, without_stop(reading)) == "accepted"


@judged
@each([reading for reading in CALLS if reading.name == "published-example" and reading.entry != "lfm2"])
def test_a_call_that_breaks_off_is_not_accepted(judge, reading):
    calls = reading.format.tool_calls
    text = without_stop(reading).rstrip()
    ended = len((calls.call_end + calls.section_end).strip()) if judge else 0
    for cut in {1, 2, max(ended, 1), ended + 2}:
        if cut == ended and not calls.section_end.strip() and reading.format.header_end:
            continue
        assert judge_reading(judge, reading, text[:-cut]) == "viable", text[:-cut]


def calls_text(name, *calls):
    """These calls as the format writes them."""
    return write_calls(learned(name).tool_calls, calls)


def required(judge, name, text, choice="required", **request):
    """The verdict where a call must be made, after a prompt that opened nothing."""
    output = learned(name)
    thought = output.reasoning and not (output.header_end or output.end_of_message)
    prompt = output.header + (output.reasoning.start + output.reasoning.end if thought else "")
    given = {"tools": TOOLS["standard"], "tool_choice": choice, "generation_prompt": prompt, **request}
    return verdict(judge, output, text, **given)


@judged
@pytest.mark.parametrize("name", WITH_CALLS)
def test_only_calls_that_fit_the_tools(judge, name):
    good = Call("get_weather", {"city": "Paris", "days": 3})
    assert required(judge, name, calls_text(name, good)) == "accepted"
    broken = {
        "unknown tool": Call("get_whether", {"city": "Paris", "days": 3}),
        "mistyped": Call("get_weather", {"city": "Paris", "days": "three"}),
        "missing": Call("get_weather", {"days": 3}),
        "unknown key": Call("get_weather", {"city": "Paris", "weeks": 3}),
    }
    for what, call in broken.items():
        text = calls_text(name, call)
        assert required(judge, name, text).startswith("refused"), (what, text)


@judged
@pytest.mark.parametrize("name", SOME)
def test_no_other_marks(judge, name):
    text = calls_text(name, Call("get_weather", {"city": "Paris"}))
    assert required(judge, name, "<calling>" + text).startswith("refused")
    assert required(judge, name, "I will look." + text).startswith("refused")
    changed = text.replace("get_weather", "get_weather!", 1)
    assert required(judge, name, changed).startswith("refused")


@judged
@pytest.mark.parametrize("name", SOME)
def test_one_call_or_several(judge, name):
    calls = learned(name).tool_calls
    two = calls_text(name, Call("get_time"), Call("get_weather", {"city": "Paris"}))
    if calls.parallel:
        assert required(judge, name, two) == "accepted"
    assert required(judge, name, two, parallel=False).startswith("refused")
    one = calls_text(name, Call("get_time"))
    assert required(judge, name, one, parallel=False) == "accepted"


@judged
@pytest.mark.parametrize("name", SOME)
def test_a_named_tool_is_the_only_one(judge, name):
    assert required(judge, name, calls_text(name, Call("get_time")), choice="get_time") == "accepted"
    other = calls_text(name, Call("get_weather", {"city": "Paris"}))
    assert required(judge, name, other, choice="get_time").startswith("refused")


@judged
def test_arguments_come_in_any_order(judge):
    for name in ("hermes-json", "qwen-xml", "gemma-4"):
        call = Call(
            "plan_trip", {"days": 3, "stops": ["Oslo"], "city": "Rome", "guests": {"lead": "Ana", "ages": []}}
        )
        assert required(judge, name, calls_text(name, call)) == "accepted"


@judged
def test_tool_choice_none_forbids_calls(judge):
    text = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
    assert verdict(judge, HERMES, text, tools=TOOLS["standard"], tool_choice="none").startswith("refused")
    assert verdict(judge, HERMES, "Just words.", tools=TOOLS["standard"], tool_choice="none") == "accepted"


@judged
def test_without_tools_any_call_will_do(judge):
    text = '<tool_call>\n{"name": "any.thing-1", "arguments": {"a": [1, {"b": null}], "c": -1.5e3}}\n</tool_call>'
    assert verdict(judge, HERMES, text) == "accepted"
    assert verdict(judge, HERMES, text.replace("null", "None")).startswith("refused")


@judged
def test_an_empty_list_of_tools_allows_no_call(judge):
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert verdict(judge, HERMES, "Hello.", tools=[]) == "accepted"
    assert verdict(judge, HERMES, text, tools=[]) != "viable"
    with pytest.raises(UsageError, match="no tools"):
        turn_grammar(HERMES, Request(tools=[], tool_choice="required"))


@judged
def test_reasoning_that_the_prompt_opened_must_be_closed(judge):
    prompt = "<|im_start|>assistant\n<think>\n"
    assert verdict(judge, HERMES, "Hm.\n</think>\n\nYes.", generation_prompt=prompt) == "accepted"
    assert verdict(judge, HERMES, "Hm.", generation_prompt=prompt) == "viable"
    assert verdict(judge, HERMES, "Hm.") == "accepted"
    assert verdict(judge, HERMES, "<think>\nHm.") == "viable"


@judged
def test_reasoning_that_the_header_opens(judge):
    output = replace(
        HERMES,
        reasoning=Reasoning("", "\n</think>\n\n"),
        generation_prompt=GenerationPrompt("<|im_start|>assistant\n", ReasoningState.OPEN),
    )
    call = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
    for choice in ("auto", "required"):
        request = {"tools": TOOLS["standard"], "tool_choice": choice}
        assert verdict(judge, output, f"Hm.\n</think>\n\n{call}", **request) == "accepted"
        assert verdict(judge, output, "Hm.", **request) == "viable"
    assert verdict(judge, output, "Hm.</think>Yes.") == "accepted"


@judged
def test_reasoning_before_a_call_that_must_be_made(judge):
    call = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
    for text in (call, "<think>\nHm.\n</think>\n\n" + call):
        assert verdict(judge, HERMES, text, tools=TOOLS["standard"], tool_choice="required") == "accepted"


def test_a_choice_that_names_no_tool():
    with pytest.raises(UsageError, match="is no tool") as caught:
        turn_grammar(HERMES, Request(tools=TOOLS["weather"], tool_choice="get_wether"))
    assert "get_weather" in caught.value.hint


def test_a_tool_without_a_name():
    with pytest.raises(UsageError, match=r"tools\[0\]"):
        turn_grammar(HERMES, Request(tools=[{"type": "function", "function": {}}]))


def test_a_format_without_calls():
    with pytest.raises(UsageError, match="no tool calls"):
        turn_grammar(OutputFormat(), Request(tools=TOOLS["weather"], tool_choice="required"))


def test_the_corpus_has_calls_without_marks():
    """Or the tests of weak openers test nothing."""
    weak = [
        n for n in WITH_CALLS
        if not is_strong((learned(n).tool_calls.section_start + learned(n).tool_calls.call_start).strip())
    ]  # fmt: skip
    assert len(weak) >= 4


def many_tools(count):
    return [
        {"type": "function", "function": {"name": f"look_into_the_matter_{n}", "parameters": {}}}
        for n in range(count)
    ]


@judged
@pytest.mark.parametrize("entry", ["llama-4-pythonic", "hermes-json"])
def test_eighty_tools(judge, entry):
    tools = many_tools(80)
    output = learned(entry)
    text = write_calls(output.tool_calls, [Call(tools[-1]["function"]["name"], {})])
    assert verdict(judge, output, text, tools=tools) == "accepted"
    assert verdict(judge, output, f"Some [text], look_into_it.\n{text}", tools=tools) == "accepted"
    assert (
        verdict(judge, output, text.replace("_79", "_80"), tools=tools, tool_choice="required") != "accepted"
    )
    assert verdict(judge, output, text, tools=tools, tool_choice="none") != "accepted"
