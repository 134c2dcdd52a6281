"""Servers: what vLLM and llama.cpp make of a request before the template sees it."""

from __future__ import annotations

import json

import pytest

from chatlint.conversation import Conversation
from chatlint.render.manners import vllm_manners
from chatlint.render.rendered import FailureKind, RenderRequest, RenderSettings
from chatlint.render.renderer import open_renderer
from chatlint.render.shaping import Manners
from chatlint.text import Input
from tests.render.plain import template

SHOW = "{% for m in messages %}{{ m | tojson }}\n{% endfor %}{{ tools | tojson if tools is defined else 'no tools' }}"
LOOPS = "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}|" + SHOW
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 3, "to": "Bluff"}'}}


def prompt(source, host, messages, tools=None, **more):
    conversation = Conversation(
        tuple(messages), None if tools is None else tuple(tools), template_kwargs=more.pop("kwargs", {})
    )
    renderer = open_renderer(template(source, bos_token="<s>", pad_token="<pad>"), RenderSettings(host))
    rendered = renderer.render(RenderRequest(conversation, **more))
    assert rendered.prompt is not None, rendered.failure
    return rendered.prompt


def messages_seen(source, host, messages):
    text = prompt(source, host, messages).text.partition("|")[2] if source == LOOPS else ""
    text = text or prompt(source, host, messages).text
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


USER = {"role": "user", "content": "Walnut"}
PARTS = {"role": "user", "content": [{"type": "text", "text": "Walnut"}, {"type": "text", "text": "Bluff"}]}

SEEN = [
    # vLLM: texts where no loop goes over a content, parts where one does
    (SHOW, "vllm", PARTS, {"role": "user", "content": "Walnut\nBluff"}),
    (LOOPS, "vllm", USER, {"role": "user", "content": [{"type": "text", "text": "Walnut"}]}),
    (LOOPS, "vllm", PARTS, PARTS),
    # results are texts in both
    (LOOPS, "vllm", {**PARTS, "role": "tool", "tool_call_id": "c1"}, {"role": "tool", "content": "Walnut\nBluff", "tool_call_id": "c1"}),
    # null content: an empty text, or no part
    (SHOW, "vllm", {"role": "assistant", "content": None}, {"role": "assistant", "content": ""}),
    (LOOPS, "vllm", {"role": "assistant", "content": None}, {"role": "assistant", "content": []}),
    # members that it does not know go
    (SHOW, "vllm", {**USER, "weight": 0}, USER),
    # the reasoning under every name
    (
        SHOW,
        "vllm",
        {"role": "assistant", "content": "a", "reasoning_content": "r"},
        {"thinking": "r", "role": "assistant", "content": "a", "reasoning": "r", "reasoning_content": "r"},
    ),
    # a developer's message is the system's where the template does not know the role
    (SHOW, "vllm", {"role": "developer", "content": "d"}, {"role": "system", "content": "d"}),
    # llama.cpp: SHOW prints parts as they are, so it takes both
    (SHOW, "llama.cpp", USER, USER),
    (SHOW, "llama.cpp", {"role": "assistant", "content": None}, {"role": "assistant", "content": ""}),
    (SHOW, "llama.cpp", {"role": "developer", "content": "d"}, {"role": "system", "content": "d"}),
    (SHOW, "llama.cpp", {**USER, "weight": 0}, USER),
    (
        SHOW,
        "llama.cpp",
        {"role": "assistant", "content": "a", "reasoning": "r", "thinking": "r"},
        {"role": "assistant", "content": "a"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("source", "host", "sent", "seen"), SEEN)
def test_what_a_template_sees(source, host, sent, seen):
    assert messages_seen(source, host, [sent]) == [seen]
    assert list(messages_seen(source, host, [sent])[0]) == list(seen)


@pytest.mark.parametrize("host", ["vllm", "llama.cpp"])
def test_arguments_are_objects_whatever_was_sent(host):
    for arguments in (CALL["function"]["arguments"], {"id": 3, "to": "Bluff"}):
        call = {**CALL, "function": {"name": "find", "arguments": arguments}}
        (seen,) = messages_seen(SHOW, host, [{"role": "assistant", "content": None, "tool_calls": [call]}])
        assert seen["tool_calls"][0]["function"]["arguments"] == {"id": 3, "to": "Bluff"}


def test_arguments_that_are_no_object_are_empty_in_vllm():
    for arguments in ("", "[1]", "not JSON", None):
        call = {**CALL, "function": {"name": "find", "arguments": arguments}}
        (seen,) = messages_seen(SHOW, "vllm", [{"role": "assistant", "content": "", "tool_calls": [call]}])
        assert seen["tool_calls"][0]["function"]["arguments"] == {}


@pytest.mark.parametrize("host", ["vllm", "llama.cpp"])
def test_what_was_parsed_or_joined_still_knows_where_it_came_from(host):
    source = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.arguments.to }}{{ c.function.arguments.arg }}{% endfor %}{% endfor %}"
    call = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    found = prompt(source, host, [PARTS, call])
    assert found.text == "Walnut\nBluffBluff"
    pointers = [span.origin.pointer for span in found.spans if isinstance(span.origin, Input)]
    assert pointers == [
        "/messages/0/content/0/text",
        "/messages/0/content/1/text",
        "/messages/1/tool_calls/0/function/arguments/to",
    ]


def test_a_system_message_that_a_template_does_not_know_goes_before_the_next_text():
    source = "{% for m in messages if m.role == 'user' %}[{{ m.content }}]{% endfor %}"
    system = {"role": "system", "content": "Be brief."}
    assert prompt(source, "llama.cpp", [system, USER]).text == "[Be brief.\nWalnut]"
    assert prompt(source, "vllm", [system, USER]).text == "[Walnut]"


def test_what_llama_cpp_states_and_leaves_out():
    source = (
        "{{ enable_thinking }} {{ datetime }} {{ date_string }} {{ tools is defined }} {{ documents is defined }}"
        " {{ bos_token }} {{ pad_token is defined }}"
    )
    said = "True Mar 14 2026 14 Mar 2026 False False <s> False"
    assert prompt(source, "llama.cpp", [USER]).text == said
    assert prompt(source, "llama.cpp", [USER], kwargs={"enable_thinking": False}).text.startswith("False ")


def test_tools_are_written_anew():
    bare = {"type": "function", "function": {"name": "f", "strict": True}}
    source = "{{ tools | tojson }}"
    shown = '[{"type": "function", "function": {"name": "f", "description": %s, "parameters": %s}}]'
    assert prompt(source, "vllm", [USER], [bare]).text == shown % ("null", "null")
    assert prompt(source, "llama.cpp", [USER], [bare]).text == shown % ('""', "{}")


def test_a_continued_message_is_written_behind_the_prompt_in_llama_cpp():
    source = "{% for m in messages %}<{{ m.role }}>{{ m.content | upper }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
    sent = [USER, {"role": "assistant", "content": "It is"}]
    found = prompt(source, "llama.cpp", sent, add_generation_prompt=False, continue_final_message=True)
    assert found.text == "<user>WALNUT</><assistant>It is"


def test_a_message_without_content_is_refused_by_llama_cpp():
    renderer = open_renderer(template(SHOW), RenderSettings("llama.cpp"))
    failure = renderer.render(RenderRequest(Conversation(({"role": "user"},)))).failure
    assert failure is not None
    assert failure.kind is FailureKind.HOST
    assert "Expected 'content' or 'tool_calls'" in failure.message


LOOPED = [
    ("{% for m in messages %}{{ m.content }}{% endfor %}", False),
    ("{% for m in messages %}{% for p in m['content'] %}{{ p.text }}{% endfor %}{% endfor %}", True),
    ("{% set l = messages[1:] %}{% for m in l %}{% for p in m.content | list %}{% endfor %}{% endfor %}", True),
    ("{% macro say(x) %}{% for p in x %}{{ p }}{% endfor %}{% endmacro %}{% for m in messages %}{{ say(m.content) }}{% endfor %}", True),
    ("{% macro say(x) %}{% for p in x %}{{ p }}{% endfor %}{% endmacro %}{% for m in messages %}{{ say(m.role) }}{% endfor %}", False),
    ("{% set content = 'x' %}{% for p in content %}{{ p }}{% endfor %}", True),
    ("{% for m in messages %}{% for c in m.tool_calls %}{% endfor %}{% endfor %}", False),
    ("{% for a, b in messages %}{% endfor %}", False),
]  # fmt: skip


@pytest.mark.parametrize(("source", "typed"), LOOPED)
def test_vllm_looks_for_a_loop_over_a_content(source, typed):
    assert vllm_manners(source).typed is typed


@pytest.mark.parametrize("untrusted", [False, True])
def test_manners_that_are_known_are_taken(untrusted):
    conversation = Conversation((PARTS,))
    for typed, seen in ((True, PARTS["content"]), (False, "Walnut\nBluff")):
        manners = Manners(typed=typed)
        settings = RenderSettings("llama.cpp", untrusted=untrusted)
        renderer = open_renderer(template("{{ messages[0].content | tojson }}"), settings, None, manners)
        rendered = renderer.render(RenderRequest(conversation))
        renderer.close()
        assert json.loads(rendered.prompt.text) == seen


def test_the_rust_front_end_of_vllm():
    call = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "r",
        "tool_calls": [CALL],
        "name": "bob",
    }
    (seen,) = messages_seen(LOOPS, "vllm-rs", [call])
    assert list(seen) == ["role", "content", "reasoning", "reasoning_content", "tool_calls"]
    assert seen["content"] == [{"type": "text", "text": ""}]
    (joined,) = messages_seen(SHOW, "vllm-rs", [PARTS])
    assert joined == {"role": "user", "content": "WalnutBluff"}
    assert prompt(SHOW, "vllm-rs", [USER]).text.endswith("no tools")


@pytest.mark.parametrize("host", ["llama.cpp", "vllm-rs"])
def test_parts_that_a_server_refuses(host):
    thought = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "a"}],
    }
    renderer = open_renderer(template(SHOW), RenderSettings(host))
    failure = renderer.render(RenderRequest(Conversation((USER, thought)))).failure
    assert failure is not None
    assert failure.kind is FailureKind.HOST
