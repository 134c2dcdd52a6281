"""Axes: what each value does to a conversation, and that defaults do nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.conversation import Conversation
from chatlint.errors import UsageError
from chatlint.probe.axes import AXES, applied, settled, switched
from chatlint.probe.catalogue import catalogue

IDS = catalogue().ids()


def messages(probe, **axes):
    return applied(catalogue().probe(probe).conversation, axes).messages


def call(message, position=0):
    return message["tool_calls"][position]


def test_arguments_become_json_text():
    assert call(messages("calls/one", arguments="string")[1])["function"]["arguments"] == (
        '{"acre": "Cobalt", "dusk": "Emerald"}'
    )
    assert (
        json.loads(call(messages("arguments/every-type", arguments="string")[1])["function"]["arguments"])
        == call(messages("arguments/every-type")[1])["function"]["arguments"]
    )


@pytest.mark.parametrize(
    "probe", ["arguments/empty-text", "arguments/null-arguments", "arguments/string-json"]
)
def test_only_objects_are_encoded(probe):
    assert messages(probe, arguments="string") == messages(probe)


@pytest.mark.parametrize(
    ("value", "content"), [("text", "Parasol"), ("empty", ""), ("null", None), ("absent", "nothing")]
)
def test_content_beside_calls(value, content):
    _, turn, _, answer = messages("calls/one-answered", content=value)
    assert turn.get("content", "nothing") == content
    assert answer["content"] == "Juniper"


def test_content_of_answers_where_there_are_no_calls():
    assert [one.get("content") for one in messages("roles/two-turns", content="text")] == [
        "Walnut", "Parasol", "Kestrel", "Domino",
    ]  # fmt: skip


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
def test_reasoning_moves_or_is_put(field):
    assert messages("reasoning/last", reasoning=field)[1] == {
        "role": "assistant",
        field: "Pebbles",
        "content": "Juniper",
    }
    assert messages("roles/user-assistant", reasoning=field)[1][field] == "Pebbles"


def test_reasoning_of_several_turns_is_distinct():
    turns = messages("roles/two-turns", reasoning="reasoning")
    assert [turn["reasoning"] for turn in turns if turn["role"] == "assistant"] == ["Pebbles", "Quartz"]


def test_reasoning_inside_the_content():
    assert (
        messages("reasoning/last", reasoning="inline")[1]["content"]
        == "<think>\nPebbles\n</think>\n\nJuniper"
    )
    assert messages("reasoning/last", reasoning="parts")[1]["content"] == [
        {"type": "thinking", "thinking": "Pebbles"},
        {"type": "text", "text": "Juniper"},
    ]
    assert "reasoning_content" not in messages("reasoning/last", reasoning="none")[1]


def test_parts_for_one_role_or_all():
    parts = [{"type": "text", "text": "Walnut"}]
    assert messages("roles/system-user", parts="user") == (
        {"role": "system", "content": "Vanilla"},
        {"role": "user", "content": parts},
    )
    assert all(isinstance(one["content"], list) for one in messages("calls/one-answered", parts="all"))


@pytest.mark.parametrize("shape", ["call", "uuid", "named"])
def test_ids_change_together(shape):
    _, turn, *results = messages("calls/two-swapped", ids=shape)
    ids = [one["id"] for one in turn["tool_calls"]]
    assert len(set(ids)) == 2
    assert [one["tool_call_id"] for one in results] == ids[::-1]
    assert shape != "named" or ids == ["functions.find_tide:0", "functions.map_road:1"]


def test_ids_may_be_absent():
    _, turn, result = messages("calls/one-result", ids="absent")
    assert "id" not in call(turn)
    assert "tool_call_id" not in result


def test_results_may_name_their_tool():
    _, _, *results = messages("calls/two-swapped", result_name="added")
    assert [one["name"] for one in results] == ["map_road", "find_tide"]


def test_tools():
    conversation = catalogue().probe("tools/given").conversation
    assert len(applied(conversation, {}).tools) == 2
    assert applied(conversation, {"tools": "absent"}).tools is None
    assert applied(conversation, {"tools": "empty"}).tools == ()
    assert applied(conversation, {"tools": "ensured"}).tools == conversation.tools
    assert applied(catalogue().probe("roles/user").conversation, {"tools": "ensured"}).tools == ()


def test_media_in_the_form_of_processors():
    (user,) = messages("media/two-images", media="processor")
    assert [part["type"] for part in user["content"]] == ["text", "image", "text", "image", "text"]
    assert user["content"][1] == {"type": "image", "url": "https://example.com/a.png"}


def test_kwargs_are_json():
    conversation = applied(
        Conversation(()), switched({"enable_thinking": False, "mode": "low", "nothing": None})
    )
    assert conversation.template_kwargs == {"enable_thinking": False, "mode": "low", "nothing": None}


@pytest.mark.parametrize("variant", [{"argument": "string"}, {"arguments": "text"}, {"kwargs.mode": "low"}])
def test_error_on_what_is_not_there(variant):
    with pytest.raises(UsageError) as error:
        applied(Conversation(()), variant)
    assert error.value.hint


variants = st.fixed_dictionaries(
    {}, optional={axis.name: st.sampled_from(axis.values) for axis in AXES.values()}
)


@given(st.sampled_from(IDS), variants)
def test_any_variant_of_any_probe(probe, variant):
    """Every combination applies; defaults change nothing; the probe itself is never touched."""
    conversation = catalogue().probe(probe).conversation
    before = json.dumps(conversation.messages)
    changed = applied(conversation, variant)
    assert json.dumps(conversation.messages) == before
    assert len(changed.messages) == len(conversation.messages)
    assert applied(conversation, dict(settled(variant))) == changed
    if not settled(variant):
        assert changed == conversation
