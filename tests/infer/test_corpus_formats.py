"""The corpus: formats decided by hand, learned from the templates; readings written by hand, read with them."""

from __future__ import annotations

import json

import pytest

from chatlint.infer.learn import learn
from chatlint.infer.needles import needle_in, needles_of
from chatlint.infer.vocabulary import vocabulary
from chatlint.parse.formats import OutputFormat
from chatlint.probe.trace import Trace
from chatlint.render.syntax import syntax_of
from tests.corpus.entries import ENTRIES, TOOLS
from tests.infer.learned import of_entry

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
READINGS = [(entry, reading) for entry in ENTRIES for reading in entry.expected["readings"]]
each_reading = pytest.mark.parametrize(
    ("entry", "reading"), READINGS, ids=[f"{entry.name}-{reading['name']}" for entry, reading in READINGS]
)

BEYOND = {
    ("llama-3.2-vision", "after-the-token"): "a token that stands nowhere in the template",
    ("llama-4-pythonic", "in-python-tokens"): "tokens that stand nowhere in the template",
}
"""Readings that no template could teach."""


def marks(calls):
    """As the corpus has them: without the whitespace beside them."""
    opener = (calls.call_start + (calls.body if calls.syntax.value == "text" else "")).strip()
    return {
        "section_start": calls.section_start.strip(),
        "call_start": opener,
        "call_end": calls.call_end.strip(),
        "section_end": calls.section_end.strip(),
    }


@each_entry
def test_the_words_for_the_format(entry):
    expected, words = entry.expected["format"], vocabulary(of_entry(entry.name)[1])
    for field in ("reasoning_mode", "content_mode", "tool_format", "call_id_position"):
        assert getattr(words, field) == expected[field], field


@each_entry
def test_marks_of_reasoning_and_content(entry):
    expected, output = entry.expected["format"], of_entry(entry.name)[1]
    said = output.reasoning and {"start": output.reasoning.start.strip(), "end": output.reasoning.end.strip()}
    assert said == expected["reasoning"]
    content = expected["content"] or {"start": "", "end": ""}
    assert output.content.start.strip() == content["start"]
    assert output.content.end.strip() == content["end"] or content["end"] in output.end_of_turn


@each_entry
def test_marks_of_calls(entry):
    expected, output = entry.expected["format"]["tool_calls"], of_entry(entry.name)[1]
    assert (expected is None) == (output.tool_calls is None)
    if expected is None:
        return
    found = marks(output.tool_calls)
    assert found["section_start"].startswith(expected["section_start"])
    assert expected["call_start"] in found["call_start"] or found["call_start"].startswith(
        expected["call_start"]
    )
    assert found["call_end"].endswith(expected["call_end"])
    assert (
        found["section_end"].endswith(expected["section_end"])
        or expected["section_end"] in output.end_of_turn
    )


@each_entry
def test_generation_prompts(entry):
    expected, prompt = entry.expected["generation_prompt"], of_entry(entry.name)[1].generation_prompt
    assert (prompt.text, prompt.reasoning) == (expected["text"], expected["reasoning"])
    found = {json.dumps(dict(one.switches)): (one.text, one.reasoning) for one in prompt.by_switch}
    for switch, values in expected["by_switch"].items():
        for value, state in values.items():
            key = json.dumps({switch: json.loads(value)})
            assert found.get(key, (prompt.text, prompt.reasoning)) == (state["text"], state["reasoning"])


@each_entry
def test_stops(entry):
    """Every mark that the template itself writes; a mark may have a part of its own before it."""
    expected, (trace, output) = entry.expected["stops"], of_entry(entry.name)
    printed = [observation.text for observation in trace.observations]
    written = {mark for mark in expected["end_of_turn"] if any(mark in text for text in printed)}
    assert written <= set(output.end_of_turn)
    assert set(expected["end_of_message"]) <= set(output.end_of_message)


@each_entry
def test_no_probe_value_is_part_of_a_mark(entry):
    trace, output = of_entry(entry.name)
    words = needles_of(observation.case.conversation for observation in trace.observations)
    parts = (output.header, output.header_end, output.reasoning, output.content, output.tool_calls)
    assert needle_in((*parts, output.end_of_turn, output.end_of_message), words) == ""


@each_entry
def test_a_saved_format_is_the_same(entry):
    output = of_entry(entry.name)[1]
    assert OutputFormat.from_dict(json.loads(json.dumps(output.to_dict()))) == output


@each_entry
def test_few_renders(entry):
    template = of_entry(entry.name)[0].template
    with Trace(template) as trace:  # of its own: others have asked the shared one more
        learn(trace, syntax_of(template.text))
        assert trace.renders <= 45


def prompt_of(output, reading):
    if "generation_prompt" in reading:
        return reading["generation_prompt"]
    kwargs = reading.get("template_kwargs", {})
    states = [one.text for one in output.generation_prompt.by_switch if dict(one.switches) == kwargs]
    return states[0] if kwargs and states else output.generation_prompt.text


@each_reading
def test_readings(entry, reading):
    if (entry.name, reading["name"]) in BEYOND:
        pytest.skip(BEYOND[entry.name, reading["name"]])
    output = of_entry(entry.name)[1]
    tools = TOOLS[reading["tools"]] if isinstance(reading["tools"], str) else reading["tools"]
    parser = output.parser(
        tools=tools, generation_prompt=prompt_of(output, reading), reasoning=reading.get("reasoning", True)
    )
    message = parser.parse(reading["text"])
    assert message["content"] == reading["message"]["content"]
    assert message["reasoning_content"] == reading["message"]["reasoning_content"]
    calls = [
        {
            "id": call["id"],
            "name": call["function"]["name"],
            "arguments": json.loads(call["function"]["arguments"]),
        }
        for call in message["tool_calls"]
    ]
    assert calls == reading["message"]["tool_calls"]
