"""Every corpus entry is what its expected.json says, under real transformers; nothing here uses our own code."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import jsonschema
import pytest

from .entries import CORPUS, ENTRIES, TOOLS, Entry, assistant, result, user

pytest.importorskip("transformers", reason="the oracle extra renders the corpus")
from jinja2.exceptions import TemplateError

SCHEMA = json.loads((CORPUS / "expected.schema.json").read_text(encoding="utf-8"))
FORMAT_IDS = {
    kind: set(SCHEMA["properties"]["format_ids"]["properties"][kind]["items"]["enum"])
    for kind in ("tool", "reasoning")
}
KEEP_REASONING = {
    "enable_thinking": True, "thinking": True, "preserve_thinking": True,
    "clear_thinking": False, "truncate_history_thinking": False, "drop_thinking": False,
}  # fmt: skip

each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
each_reading = pytest.mark.parametrize(
    ("entry", "reading"),
    [
        pytest.param(entry, reading, id=f"{entry.name}-{reading['name']}")
        for entry in ENTRIES
        for reading in entry.expected["readings"]
    ],
)


def rendered(entry: Entry, *arguments, **options) -> str | None:
    """The prompt, or None where the template refuses."""
    try:
        return entry.render(*arguments, **options)
    except TemplateError:
        return None


def calls_of(message):
    return [(call["name"], call["arguments"]) for call in message["tool_calls"]], [
        call["id"] for call in message["tool_calls"]
    ]


def tools_of(reading):
    return TOOLS[reading["tools"]] if isinstance(reading["tools"], str) else reading["tools"]


@each_entry
def test_expected_fits_the_schema(entry):
    jsonschema.validate(entry.expected, SCHEMA)
    names = [reading["name"] for reading in entry.expected["readings"]]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", ["tool", "reasoning"])
def test_every_published_format_has_an_entry(kind):
    written = {format_id for entry in ENTRIES for format_id in entry.expected["format_ids"][kind]}
    assert written == FORMAT_IDS[kind]


@pytest.mark.parametrize("kind", ["tool", "reasoning"])
def test_the_schema_knows_every_published_format(kind, shared):
    published = json.loads((shared / "facts" / "formats.json").read_text(encoding="utf-8"))[f"{kind}_formats"]
    assert FORMAT_IDS[kind] == {item["id"] for item in published}


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e.expected["format_ids"]["tool"]], ids=lambda entry: entry.name
)
def test_entries_with_tools_have_enough_readings(entry):
    readings = entry.expected["readings"]
    assert len(readings) >= 4
    assert any(reading["message"]["tool_calls"] for reading in readings)
    assert any(not reading["message"]["tool_calls"] for reading in readings)
    if entry.expected["capabilities"]["parallel_tool_calls"] == "yes":
        assert any(len(reading["message"]["tool_calls"]) == 2 for reading in readings)


@pytest.mark.parametrize("format_id", sorted(FORMAT_IDS["tool"]))
def test_the_published_example_is_read(format_id, shared):
    """Each example of the published formats stands in some entry of that format, to the letter."""
    published = json.loads((shared / "facts" / "formats.json").read_text(encoding="utf-8"))["tool_formats"]
    item = next(item for item in published if item["id"] == format_id)
    if not item["n_calls"]:
        pytest.skip("this format has no whole example")
    found = [
        reading["message"]["tool_calls"]
        for entry in ENTRIES
        if format_id in entry.expected["format_ids"]["tool"]
        for reading in entry.expected["readings"]
        if reading["text"] == item["example"]
    ]
    assert found
    assert all(len(calls) == item["n_calls"] for calls in found)


@each_entry
def test_generation_prompt(entry):
    said = entry.expected["generation_prompt"]
    settings = [({}, said)] + [
        ({switch: json.loads(value)}, state)
        for switch, values in said["by_switch"].items()
        for value, state in values.items()
    ]
    for template_kwargs, state in settings:
        without = entry.render([user("Hello.")], **template_kwargs)
        assert entry.render([user("Hello.")], generation=True, **template_kwargs) == without + state["text"]


@each_reading
def test_reading_is_what_the_template_writes(entry, reading):
    """before + generation prompt + text (+ the end of the turn) is the conversation with that message in it."""
    if reading.get("history") is False:
        pytest.skip("the template writes this message otherwise as history")
    tools, options = tools_of(reading), reading.get("template_kwargs", {})
    request = [user("How is Paris?")]
    before = entry.render(request, tools, **options)
    prompt = reading.get("generation_prompt")
    if prompt is None:
        prompt = entry.render(request, tools, generation=True, **options).removeprefix(before)
    message = reading["message"]
    turn = assistant(message["content"], message["reasoning_content"], *calls_of(message))
    after = entry.render([*request, turn], tools, **options)
    assert after[: len(before)] == before
    assert after[len(before) :][: len(prompt + reading["text"])] == prompt + reading["text"]
    rest = after[len(before + prompt + reading["text"]) :].strip()
    stops = [stop.strip() for stop in entry.expected["stops"]["end_of_turn"]]
    ended_inside = any(reading["text"].strip().endswith(stop) for stop in stops)
    next_turn_ends_it = any(stop in before for stop in stops)
    assert rest.endswith(tuple(stops) or "") if rest else (ended_inside or next_turn_ends_it or not stops)


@each_reading
def test_absent_and_empty_content_read_alike(entry, reading):
    """An assistant message with calls may lack its content, have null (older hosts pass it on) or an empty text."""
    message = reading["message"]
    if not message["tool_calls"] or message["content"] or reading.get("history") is False:
        pytest.skip("has content")
    turn = assistant("", message["reasoning_content"], *calls_of(message))
    absent = {key: value for key, value in turn.items() if key != "content"}
    options = reading.get("template_kwargs", {})
    tools = tools_of(reading)
    prompts = [entry.render([user("Go."), each], tools, **options) for each in (turn, absent)]
    assert prompts[0] == prompts[1]


@each_entry
def test_null_fields_under_older_hosts(entry):
    """Hosts before transformers 5.24 pass None on; no template may print it or fall over it."""
    plain = {"role": "assistant", "content": "Done.", "tool_calls": None, "reasoning_content": None}
    turns = [plain]
    if entry.expected["capabilities"]["tool_calls"] == "yes":
        call = assistant(calls=[("get_weather", {"city": "Paris"})])
        turns.append({**call, "content": None, "reasoning_content": None})
    for turn in turns:
        prompt = older_host_render(entry, [user("Go."), turn], TOOLS["weather"])
        assert "None" not in prompt


def older_host_render(entry, messages, tools):
    from transformers.utils.chat_template_utils import _compile_jinja_template

    name = "tool_use" if "tool_use" in entry.templates else "default"
    template = _compile_jinja_template(entry.templates[name])
    return template.render(
        messages=messages, tools=tools, documents=None, add_generation_prompt=False, **entry.special_tokens
    )


HISTORY = [
    user("Askedfirst."),
    assistant(calls=[("get_weather", {"city": "Qwertyuiop", "days": 3})]),
    result("Resultone."),
    assistant("Answerone."),
    user("Askedsecond."),
]
PARALLEL = [
    user("Askedfirst."),
    assistant(
        calls=[
            ("get_weather", {"city": "Qwertyuiop", "days": 3}),
            ("write_note", {"body": "Asdfghjkl", "title": "Zxcvbnm"}),
        ]
    ),
    result("Resultone."),
    result("Resulttwo.", 1, "write_note"),
    assistant("Answerone."),
]


@each_entry
def test_conversations_lose_nothing(entry):
    can = entry.expected["capabilities"]
    plain = entry.render(
        [user("Askedfirst."), assistant("Answerone."), user("Askedsecond.")], generation=True
    )
    assert all(text in plain for text in ("Askedfirst.", "Answerone.", "Askedsecond."))
    if can["tool_calls"] == "yes":
        history = entry.render(HISTORY, TOOLS["standard"], generation=True)
        wanted = ["Askedfirst.", "get_weather", "Qwertyuiop", "Resultone.", "Answerone.", "Askedsecond."]
        assert all(text in history for text in wanted)
        assert (
            history.index("Qwertyuiop")
            < history.index("Resultone.")
            < history.index("Answerone.")
            < history.index("Askedsecond.")
        )
    if can["parallel_tool_calls"] == "yes":
        parallel = entry.render(PARALLEL, TOOLS["standard"])
        assert all(
            text in parallel
            for text in ("Qwertyuiop", "Asdfghjkl", "Zxcvbnm", "Resultone.", "Resulttwo.", "Answerone.")
        )


@each_entry
def test_history_grows_at_the_end(entry):
    """Where a further turn only appends (the end of the last turn may differ), and nowhere else, it is said."""
    if entry.expected["capabilities"]["tool_calls"] != "yes":
        pytest.skip("no calls")
    prompts = [entry.render(HISTORY[:length], TOOLS["standard"]) for length in range(1, 6)]
    grows = []
    for shorter, longer in pairwise(prompts):
        ends = [stop for stop in entry.expected["stops"]["end_of_turn"] if shorter.rstrip().endswith(stop)]
        grows.append(longer.startswith(shorter.rstrip().removesuffix(ends[0]) if ends else shorter))
    assert all(grows) == entry.expected["prefix_stable"]


@each_entry
def test_capabilities_are_what_renders_show(entry):
    can, ask = entry.expected["capabilities"], [user("Askedfirst.")]
    calls = HISTORY[:2]
    seen = {
        "system": rendered(entry, [{"role": "system", "content": "Besystem."}, *ask]),
        "tools": rendered(entry, ask, TOOLS["weather"]),
        "tool_calls": rendered(entry, calls, TOOLS["standard"]),
        "parallel_tool_calls": rendered(entry, PARALLEL[:2], TOOLS["standard"]),
        "tool_results": rendered(entry, HISTORY[:3], TOOLS["standard"]),
        "content_parts": rendered(entry, [user([{"type": "text", "text": "Askedparts."}])]),
        "images": rendered(
            entry, [user([{"type": "text", "text": "Look."}, {"type": "image", "image": "x.png"}])]
        ),
    }
    shows = {
        "system": "Besystem.", "tools": "Forecast for a city.", "tool_calls": "Qwertyuiop", "parallel_tool_calls": "Zxcvbnm",
        "tool_results": "Resultone.", "content_parts": "Askedparts.", "images": "Look.",
    }  # fmt: skip
    for name, prompt in seen.items():
        support = "raises" if prompt is None else "yes" if shows[name] in prompt else "no"
        assert support == can[name], name


def reasoning_shown(entry):
    """Which of three assistant turns keep their reasoning: before the last request, before it beside a call, after it."""
    old = assistant("Answerone.", "Thoughtone.")
    beside_call = assistant("", "Thoughttwo.", calls=[("get_time", {})])
    call_turn = (
        [beside_call, result("Resultone.", name="get_time")]
        if entry.expected["capabilities"]["tool_calls"] == "yes"
        else []
    )
    conversation = [user("A."), old, user("B."), *call_turn, assistant("Answertwo.", "Thoughtthree.")]
    tools = TOOLS["standard"] if call_turn else None
    prompt = entry.render(conversation, tools, **KEEP_REASONING)
    return [text in prompt for text in ("Thoughtone.", "Thoughttwo.", "Thoughtthree.")][
        :: 1 if call_turn else 2
    ]


@each_entry
def test_reasoning_is_kept_as_said(entry):
    shown = reasoning_shown(entry)
    support = "yes" if all(shown) else "partial" if any(shown) else "no"
    assert support == entry.expected["capabilities"]["reasoning"]


@each_entry
def test_chat_template_caps(entry):
    """llama.cpp's nine names, each decided here by a render of its own."""
    ask = [user("Askedfirst.")]
    two = [user("A."), assistant("B.", "Thoughtone."), user("C."), assistant("D.", "Thoughttwo."), user("E.")]
    with_tools = rendered(entry, ask, TOOLS["weather"])
    with_call = rendered(entry, HISTORY[:2], TOOLS["standard"])
    with_two = rendered(entry, PARALLEL[:2], TOOLS["standard"])
    parts = rendered(entry, [user([{"type": "text", "text": "Askedparts."}])])
    efforts = {
        rendered(entry, ask, generation=True, enable_thinking=True, **effort)
        for effort in ({}, {"reasoning_effort": "low"}, {"reasoning_effort": "high"})
    }
    found = {
        "supports_tools": bool(with_tools and "Forecast" in with_tools),
        "supports_tool_calls": bool(with_call and "Qwertyuiop" in with_call),
        "supports_system_role": "Besystem."
        in (rendered(entry, [{"role": "system", "content": "Besystem."}, *ask]) or ""),
        "supports_parallel_tool_calls": bool(with_two and "Zxcvbnm" in with_two),
        "supports_preserve_reasoning": "Thoughtone." in (rendered(entry, two, **KEEP_REASONING) or ""),
        "supports_reasoning_effort": len(efforts) > 1,
        "supports_string_content": "Askedfirst." in entry.render(ask),
        "supports_typed_content": bool(parts and "Askedparts." in parts and "'type'" not in parts),
        "supports_object_arguments": bool(
            with_call and "Qwertyuiop" in with_call and "{'city'" not in with_call
        ),
    }
    assert found == entry.expected["chat_template_caps"]


@each_entry
def test_engines_stop_where_turns_end(entry):
    """Each end-of-turn marker that is a token is an end-of-sequence id, and every marker in angles is a token."""
    declared = entry.generation["eos_token_id"]
    tokens = entry.added_tokens
    for stop in entry.expected["stops"]["end_of_turn"]:
        if stop in tokens:
            assert tokens[stop] in declared, stop
        else:
            assert not re.fullmatch(r"<\|.*\|>|</s>", stop), f"{stop} is not an added token"
    assert entry.config["eos_token"] in tokens
    assert set(declared) <= set(tokens.values())


@each_entry
def test_object_and_string_arguments(entry):
    """A string with JSON gives the same text as the object, or the template refuses it: never a third thing."""
    if entry.expected["capabilities"]["tool_calls"] != "yes":
        pytest.skip("no calls")
    arguments = {"city": "Paris", "days": 3}
    given = [
        rendered(entry, [user("Go."), assistant(calls=[("get_weather", form)])], TOOLS["weather"])
        for form in (arguments, json.dumps(arguments))
    ]
    assert given[0] is not None
    assert given[1] in (None, given[0])


def test_a_response_template_reads_what_its_entry_writes():
    """The entry that brings a response_template: real transformers reads every reading with it."""
    from transformers.utils.chat_parsing import parse_response

    entry = next(entry for entry in ENTRIES if "response_template" in entry.config)
    prompt = entry.expected["generation_prompt"]["text"]
    for reading in entry.expected["readings"]:
        read = parse_response(
            reading["text"] + "<|im_end|>", entry.config["response_template"], prefix=prompt
        )
        message = reading["message"]
        assert (read.get("content") or "") == message["content"]
        assert (read.get("reasoning_content") or "") == message["reasoning_content"]
        calls = [call["function"] for call in read.get("tool_calls") or []]
        assert calls == [
            {"name": call["name"], "arguments": call["arguments"]} for call in message["tool_calls"]
        ]
