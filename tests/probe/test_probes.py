"""The probes keep what their README promises."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping

import jsonschema
import pytest

from chatlint.conversation import Conversation
from chatlint.probe.axes import AXES, CONTENT_NEEDLES, REASONING_NEEDLES, applied
from chatlint.probe.catalogue import Catalogue, catalogue
from tests.conftest import ROOT

FOLDER = ROOT / "probes"
IDS = Catalogue(FOLDER).ids()
SCHEMA = json.loads((FOLDER / "probe.schema.json").read_text(encoding="utf-8"))
NEEDLE = re.compile(r"[A-Z][a-z]+|[a-z]+_[a-z]+|[a-z]+")
SPECIAL = ("content", "arguments", "schema", "sequences")
"""Groups whose values test special characters, or whose conversations are held by other groups."""


def raw(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def openai(conversation: Conversation) -> Conversation:
    return applied(conversation, {"arguments": "string"})


TEXT_PART = {
    "type": "object",
    "required": ["type", "text"],
    "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
}
TEXT = {"oneOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": TEXT_PART}]}
PART = {
    "oneOf": [
        TEXT_PART,
        {
            "type": "object",
            "required": ["type", "image_url"],
            "properties": {"type": {"const": "image_url"}, "image_url": {"required": ["url"]}},
        },
        {
            "type": "object",
            "required": ["type", "input_audio"],
            "properties": {"type": {"const": "input_audio"}, "input_audio": {"required": ["data", "format"]}},
        },
    ]
}
CALL = {
    "type": "object",
    "required": ["id", "type", "function"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "type": {"const": "function"},
        "function": {
            "type": "object",
            "required": ["name", "arguments"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"},
                "arguments": {"type": "string"},
            },
        },
    },
}


def message(role, required=("content",), **fields):
    properties = {"role": {"const": role}, "name": {"type": "string"}, **fields}
    return {
        "type": "object",
        "required": ["role", *required],
        "additionalProperties": False,
        "properties": properties,
    }


ASSISTANT = message(
    "assistant",
    required=(),
    content={"oneOf": [TEXT, {"type": "null"}]},
    reasoning_content={"type": ["string", "null"]},
    refusal={"type": "string"},
    tool_calls={"type": "array", "minItems": 1, "items": CALL},
    function_call={"type": "object", "required": ["name", "arguments"]},
)
ASSISTANT["anyOf"] = [
    {"required": ["content"], "properties": {"content": TEXT}},
    {"required": ["tool_calls"]},
    {"required": ["function_call"]},
    {"required": ["refusal"]},
]
OPENAI = {
    "type": "object",
    "required": ["messages"],
    "additionalProperties": False,
    "properties": {
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "oneOf": [
                    message("system", content=TEXT),
                    message("developer", content=TEXT),
                    message(
                        "user", content={"anyOf": [TEXT, {"type": "array", "minItems": 1, "items": PART}]}
                    ),
                    ASSISTANT,
                    message(
                        "tool",
                        required=("content", "tool_call_id"),
                        content=TEXT,
                        tool_call_id={"type": "string"},
                    ),
                    message("function", required=("content", "name"), content={"type": ["string", "null"]}),
                ]
            },
        },
        "tools": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type", "function"],
                "properties": {
                    "type": {"const": "function"},
                    "function": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"},
                            "description": {"type": "string"},
                            "parameters": {"type": "object"},
                            "strict": {"type": ["boolean", "null"]},
                        },
                    },
                },
            },
        },
    },
}


def openai_faults(conversation: Conversation) -> list[str]:
    """What OpenAI's API would refuse, by shape and by order."""
    conversation = openai(conversation)
    request = {"messages": list(conversation.messages)}
    if conversation.tools is not None:
        request["tools"] = list(conversation.tools)
    if conversation.documents is not None:
        request["documents"] = list(conversation.documents)
    plain = json.loads(json.dumps(request))
    faults = [error.message for error in jsonschema.Draft202012Validator(OPENAI).iter_errors(plain)]
    return faults or list(order_faults(plain["messages"]))


def order_faults(messages):
    waiting: list[str] = []
    for one in messages:
        if one["role"] == "tool":
            if one["tool_call_id"] not in waiting:
                yield f"the result {one['tool_call_id']} answers no call"
            else:
                waiting.remove(one["tool_call_id"])
        elif waiting:
            yield "a call has no result before the next message"
        waiting += [call["id"] for call in one.get("tool_calls") or ()]


def test_there_are_enough():
    assert len(IDS) >= 60


@pytest.mark.parametrize("name", IDS)
def test_has_the_shape_of_a_probe(name):
    jsonschema.validate(raw(name), SCHEMA, cls=jsonschema.Draft202012Validator)


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", IDS)
def test_is_a_request_or_says_why_not(name):
    probe = catalogue().probe(name)
    faults = openai_faults(probe.conversation)
    if not probe.beyond_openai:
        assert not faults
    elif probe.id not in ("schema/null-description", "arguments/empty-text", "media/unknown-part"):
        assert faults or probe.why.startswith(("The purpose", "Serializers")), "this is a valid request"


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def needles(name):
    """Texts that stand for a place: contents, names, ids, argument names and values, descriptions."""
    conversation = catalogue().probe(name).conversation
    found = set()
    for one in conversation.messages:
        found |= set(
            strings([one.get(field) for field in ("content", "reasoning_content", "name", "refusal")])
        )
        for call in one.get("tool_calls") or ():
            function = call.get("function", call)
            found |= {call.get("id", ""), function["name"]}
            arguments = function["arguments"]
            found |= set(strings(arguments)) | (set(arguments) if isinstance(arguments, dict) else set())
    found -= {"text", "image_url", "input_audio", "video_url", "hologram", "wav", ""}
    return {text for text in found if "://" not in text}


@pytest.mark.parametrize("name", [name for name in IDS if name.split("/")[0] not in SPECIAL])
def test_needles_are_distinct(name):
    words = {text for text in needles(name) if NEEDLE.fullmatch(text)}
    for one, other in itertools.combinations(sorted(words), 2):
        assert one[:2] != other[:2], (one, other)
        assert one[-2:] != other[-2:], (one, other)
        assert one not in other
        assert other not in one


@pytest.mark.parametrize(
    "name", [name for name in IDS if name.split("/")[0] in ("roles", "calls", "reasoning", "tools")]
)
def test_every_value_is_a_needle(name):
    ids = re.compile(r"[a-zA-Z0-9]{9}")
    other = {text for text in needles(name) if not NEEDLE.fullmatch(text) and not ids.fullmatch(text)}
    odd = {"reasoning/whitespace", "reasoning/close-tag", "roles/function-result"}
    assert name in odd or not other


def test_no_template_writes_a_needle(shared):
    words = {
        word.lower()
        for name in ("calls/three-followed", "roles/everything", "reasoning/two-followed")
        for word in needles(name)
    }
    words |= {word.lower() for word in (*CONTENT_NEEDLES, *REASONING_NEEDLES)}
    for path in (shared / "templates").glob("*.jinja"):
        text = path.read_text(encoding="utf-8").lower()
        assert not [word for word in words if re.search(rf"\b{word}\b", text)], path.name


@pytest.mark.parametrize("name", IDS)
def test_arguments_stand_in_alphabetical_order(name):
    if name == "arguments/unordered":
        return
    for one in catalogue().probe(name).conversation.messages:
        for call in one.get("tool_calls") or ():
            arguments = call.get("function", call)["arguments"]
            if isinstance(arguments, dict) and name != "arguments/method-names":
                assert list(arguments) == sorted(arguments)


@pytest.mark.parametrize("name", [name for name in IDS if name.startswith("arguments/")])
def test_the_tool_takes_the_arguments(name):
    probe = catalogue().probe(name)
    (tool,) = probe.conversation.tools
    (call,) = probe.conversation.messages[-1]["tool_calls"]
    assert tool["function"]["name"] == call["function"]["name"]
    if isinstance(call["function"]["arguments"], dict):
        jsonschema.validate(call["function"]["arguments"], tool["function"]["parameters"])


def test_every_order_up_to_five_messages_is_there():
    follows = {"u": "acd", "a": "u", "c": "t", "d": "t", "t": "uacd"}
    orders, last = {"u"}, {"u"}
    for _ in range(4):
        last = {order + after for order in last for after in follows[order[-1]]}
        orders |= last
    assert {f"sequences/{order}" for order in orders} == {
        name for name in IDS if name.startswith("sequences/")
    }


def test_axes_are_what_the_data_says():
    stated = json.loads((FOLDER / "axes.json").read_text(encoding="utf-8"))
    assert [(axis["name"], axis["default"], tuple(axis["values"])) for axis in stated["axes"]] == [
        (axis.name, axis.values[0], axis.values) for axis in AXES.values()
    ]
    assert stated["needles"] == {"content": list(CONTENT_NEEDLES), "reasoning": list(REASONING_NEEDLES)}


def test_the_readme_names_every_group():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert not [group for group in {name.split("/")[0] for name in IDS} if f"`{group}`" not in readme]
