"""Conversations that reach most of what real templates do."""

from __future__ import annotations

from chatlint.conversation import Conversation

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": 'Weather of a "city" <now> & é\nin two lines',
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city"},
                "days": {"type": "integer", "enum": [1, 2], "default": 1},
                "exact": {"type": "boolean", "default": None},
                "unit": {"type": ["string", "null"]},
            },
            "required": ["city"],
        },
    },
}
PLAIN_TOOL = {"type": "function", "function": {"name": "now", "description": "The time", "parameters": {}}}
ARGUMENTS = {
    "city": "Paris",
    "days": 3,
    "f": 1.5,
    "n": None,
    "b": True,
    "l": [1, "a"],
    "o": {},
    "t": "x\n\"y'",
}
USER = {"role": "user", "content": "  Hi <b> \"q\" 'a' \n there é\u2003 "}
SYSTEM = {"role": "system", "content": "Be good.\nAlways."}
ASSISTANT = {"role": "assistant", "content": "Hello"}


def call(arguments: object, identifier: str = "call12345", name: str = "get_weather") -> dict[str, object]:
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(content: object, identifier: str = "call12345") -> dict[str, object]:
    return {"role": "tool", "tool_call_id": identifier, "name": "get_weather", "content": content}


def calls(*given: dict[str, object], content: object = "", **more: object) -> dict[str, object]:
    return {"role": "assistant", "content": content, "tool_calls": list(given), **more}


CONVERSATIONS = {
    "user": Conversation((USER,)),
    "system": Conversation((SYSTEM, USER)),
    "turns": Conversation((SYSTEM, USER, ASSISTANT, {"role": "user", "content": "more"})),
    "tools": Conversation((USER,), (WEATHER,)),
    "no tools": Conversation(({"role": "developer", "content": "dev"}, USER), ()),
    "call, result, request": Conversation(
        (
            *(SYSTEM, USER, calls(call(ARGUMENTS), content=None), result('{"t": 20}')),
            *({"role": "assistant", "content": "20."}, {"role": "user", "content": "ok"}),
        ),
        (WEATHER, PLAIN_TOOL),
    ),
    "parallel calls": Conversation(
        (
            *(USER, calls(call('{"city": "Paris"}'), call({"city": "Rome"}, "call12346"))),
            *(result("a"), result([{"type": "text", "text": "b"}], "call12346")),
        ),
        (WEATHER,),
    ),
    "reasoning": Conversation((USER, {**ASSISTANT, "reasoning_content": "think\nhard"}, USER)),
    "reasoning in the text": Conversation(
        (USER, {"role": "assistant", "content": "<think>a</think>\n\nb"}, USER)
    ),
    "thinking and call": Conversation(
        (USER, calls(call({"city": "X"}), content=None, thinking="t", reasoning_content=None), result("r")),
        (WEATHER,),
    ),
    "parts": Conversation(
        (
            {"role": "system", "content": [{"type": "text", "text": "sys"}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look "},
                    {"type": "image"},
                    {"type": "image_url", "image_url": {"url": "http://x"}},
                ],
            },
        )
    ),
    "switch off": Conversation((USER,), template_kwargs={"enable_thinking": False}),
    "switches on": Conversation(
        (USER, ASSISTANT, USER),
        None,
        ({"title": "T", "text": "D"},),
        {"enable_thinking": True, "thinking": True, "reasoning_effort": "high", "builtin_tools": ["a"]},
    ),
    "odd roles": Conversation((ASSISTANT, {"role": "weird", "content": "w"}, SYSTEM)),
    "no content": Conversation(({"role": "user"},)),
    "content of another type": Conversation(
        ({"role": "user", "content": 5}, {"role": "assistant", "content": {"a": 1.0}})
    ),
    "empty and null": Conversation(
        (
            *({"role": "user", "content": ""}, calls(call({}), content=None, reasoning="r")),
            *({"role": "tool", "content": None}, {"role": "user", "content": None}),
        ),
        (WEATHER,),
    ),
}
