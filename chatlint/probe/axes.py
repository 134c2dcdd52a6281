"""Axes vary a probe's conversation: pure functions, conversation × value → conversation.

What each value means is stated for every reader in `probes/axes.json`; here is the same in Python. Values
are applied in the order of `AXES`. The first value of an axis is its default and leaves the conversation as
written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from chatlint.conversation import JSON, Conversation, JSONObject, Message
from chatlint.errors import UsageError
from chatlint.records import dataclass, replace

SWITCH = "kwargs."
"""Prefix of an axis that sets a template kwarg to a JSON value: `kwargs.enable_thinking=true`."""

CONTENT_NEEDLES = ("Parasol", "Domino", "Gazebo")
REASONING_NEEDLES = ("Pebbles", "Quartz", "Lilac")
_CALL_IDS = (
    "call_Kd83hRw1ZpQx5TnLmB7yVc2J",
    "call_9fGsXe4UaHjN6oWtYi0rDk8P",
    "call_b5CzMq7EvIlR3uSgFx1OwA6T",
)
_UUIDS = (
    "5d1f0b7e-93a4-4c62-8e17-b0a96cf2d348",
    "c83e6a90-174d-4fb5-a2d9-3e5f70b1864c",
    "e2907c4b-5ab8-4d13-9f60-714ed8c3a25f",
)

Vary = Callable[[Conversation, str], Conversation]


@dataclass(frozen=True, slots=True)
class Axis:
    """One way to vary a conversation; `values[0]` is the default. Without `vary` it sets how to render."""

    name: str
    values: tuple[str, ...]
    vary: Vary | None = None


def applied(conversation: Conversation, variant: Mapping[str, str]) -> Conversation:
    """The conversation with every axis of `variant` applied, in the axes' order. Unknown names raise
    UsageError."""
    for axis, value in settled(variant):
        if axis.startswith(SWITCH):
            conversation = _with_kwarg(conversation, axis.removeprefix(SWITCH), _decoded(axis, value))
            continue
        vary = AXES[axis].vary
        conversation = vary(conversation, value) if vary else conversation
    return conversation


def settled(variant: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What differs from the defaults, in the axes' order, kwargs last by name. Raises UsageError on an
    unknown axis or value."""
    plain = {axis: value for axis, value in variant.items() if not axis.startswith(SWITCH)}
    for axis, value in plain.items():
        if axis not in AXES:
            raise UsageError(f"there is no axis {axis!r}", hint=f"there are {', '.join(AXES)}")
        if value not in AXES[axis].values:
            raise UsageError(
                f"axis {axis} has no value {value!r}", hint=f"it has {', '.join(AXES[axis].values)}"
            )
    chosen = [
        (name, plain[name]) for name in AXES if plain.get(name, AXES[name].values[0]) != AXES[name].values[0]
    ]
    return (*chosen, *sorted((axis, value) for axis, value in variant.items() if axis.startswith(SWITCH)))


def switched(kwargs: Mapping[str, JSON]) -> dict[str, str]:
    """Template kwargs as settings of axes: `{"kwargs.enable_thinking": "true"}`."""
    return {SWITCH + name: json.dumps(value, ensure_ascii=False) for name, value in kwargs.items()}


def _decoded(axis: str, value: str) -> JSON:
    try:
        decoded: JSON = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{axis} must be JSON, found {value!r}", hint='texts stand in quotes: "low"'
        ) from error
    return decoded


def _with_kwarg(conversation: Conversation, name: str, value: JSON) -> Conversation:
    return replace(conversation, template_kwargs={**conversation.template_kwargs, name: value})


def _each(conversation: Conversation, change: Callable[[Message], Message]) -> Conversation:
    return replace(conversation, messages=tuple(change(message) for message in conversation.messages))


def _calls(message: Message) -> list[JSONObject]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []


def _function(call: JSONObject) -> JSONObject:
    function = call.get("function")
    return function if isinstance(function, Mapping) else {}


def _without(message: Message, *names: str) -> dict[str, JSON]:
    return {name: value for name, value in message.items() if name not in names}


# -- tools ---------------------------------------------------------------------------------------------------


def _vary_tools(conversation: Conversation, value: str) -> Conversation:
    if value == "ensured":
        return replace(conversation, tools=()) if conversation.tools is None else conversation
    return replace(conversation, tools=() if value == "empty" else None)


# -- calls ---------------------------------------------------------------------------------------------------


def _vary_ids(conversation: Conversation, value: str) -> Conversation:
    renamed = _new_ids(conversation, value)

    def change(message: Message) -> Message:
        changed = dict(message)
        if _calls(message):
            changed["tool_calls"] = [_identified(call, "id", renamed) for call in _calls(message)]
        return _identified(changed, "tool_call_id", renamed) if "tool_call_id" in changed else changed

    return _each(conversation, change)


def _new_ids(conversation: Conversation, value: str) -> dict[str, str | None]:
    renamed: dict[str, str | None] = {}
    for message in conversation.messages:
        for call in _calls(message):
            old, position = call.get("id"), len(renamed)
            if isinstance(old, str):
                renamed[old] = _new_id(value, position, str(_function(call).get("name")))
    return renamed


def _new_id(value: str, position: int, name: str) -> str | None:
    if value == "absent":
        return None
    if value == "named":
        return f"functions.{name}:{position}"
    shapes = _UUIDS if value == "uuid" else _CALL_IDS
    return shapes[position % len(shapes)]


def _identified(record: JSONObject, field: str, renamed: Mapping[str, str | None]) -> JSONObject:
    old = record.get(field)
    new = renamed.get(old, old) if isinstance(old, str) else None
    return _without(record, field) if new is None else {**record, field: new}


def _vary_arguments(conversation: Conversation, value: str) -> Conversation:
    def change(message: Message) -> Message:
        calls = _calls(message)
        return {**message, "tool_calls": [_encoded(call) for call in calls]} if calls else message

    return _each(conversation, change)


def _encoded(call: JSONObject) -> JSONObject:
    holder = _function(call) or call
    arguments = holder.get("arguments")
    if not isinstance(arguments, Mapping):
        return call
    encoded = {**holder, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {**call, "function": encoded} if _function(call) else encoded


def _vary_result_name(conversation: Conversation, value: str) -> Conversation:
    names = {
        call["id"]: _function(call).get("name")
        for message in conversation.messages
        for call in _calls(message)
        if "id" in call
    }

    def change(message: Message) -> Message:
        name = names.get(message.get("tool_call_id")) if message.get("role") == "tool" else None
        return {**message, "name": name} if name else message

    return _each(conversation, change)


# -- assistant text and reasoning ----------------------------------------------------------------------------


def _vary_content(conversation: Conversation, value: str) -> Conversation:
    """Of assistant messages with calls; where there are none, of all assistant messages."""
    with_calls = any(_calls(message) for message in conversation.messages)
    needles = iter(CONTENT_NEEDLES * len(conversation.messages))

    def change(message: Message) -> Message:
        if message.get("role") != "assistant" or bool(_calls(message)) != with_calls:
            return message
        if value == "absent":
            return _without(message, "content")
        content = {"text": next(needles), "empty": "", "null": None}[value]
        return {**message, "content": content}

    return _each(conversation, change)


def _vary_reasoning(conversation: Conversation, value: str) -> Conversation:
    """Of every assistant message: what stands in `reasoning_content` moves; where nothing does, a needle is
    put."""
    needles = iter(REASONING_NEEDLES * len(conversation.messages))

    def change(message: Message) -> Message:
        if message.get("role") != "assistant":
            return message
        needle = next(needles)
        text = message.get("reasoning_content")
        return _reasoned(
            _without(message, "reasoning_content"), value, text if isinstance(text, str) else needle
        )

    return _each(conversation, change)


def _reasoned(message: dict[str, JSON], value: str, text: str) -> Message:
    if value == "none":
        return message
    content = message.get("content")
    if value == "inline":
        block = f"<think>\n{text}\n</think>\n\n"
        return {**message, "content": block + content if isinstance(content, str) else block}
    if value == "parts":
        parts: list[JSON] = [{"type": "thinking", "thinking": text}]
        if isinstance(content, str) and content:
            parts.append({"type": "text", "text": content})
        return {**message, "content": parts}
    return {"role": "assistant", value: text, **_without(message, "role")}


# -- content parts -------------------------------------------------------------------------------------------


def _vary_media(conversation: Conversation, value: str) -> Conversation:
    def change(message: Message) -> Message:
        content = message.get("content")
        if not isinstance(content, list):
            return message
        return {**message, "content": [_processor_part(part) for part in content]}

    return _each(conversation, change)


def _processor_part(part: JSON) -> JSON:
    """As transformers' processors rewrite OpenAI's parts: `{"type": "image", "url": …}`."""
    if not isinstance(part, Mapping):
        return part
    kinds = {"image_url": "image", "video_url": "video", "input_audio": "audio"}
    kind = kinds.get(str(part.get("type")))
    source = part.get(str(part.get("type")))
    if kind is None or not isinstance(source, Mapping):
        return part
    return {"type": kind, "url": source.get("url", "https://example.com/a.wav")}


def _vary_parts(conversation: Conversation, value: str) -> Conversation:
    def change(message: Message) -> Message:
        content = message.get("content")
        if not isinstance(content, str) or value not in ("all", message.get("role")):
            return message
        return {**message, "content": [{"type": "text", "text": content}]}

    return _each(conversation, change)


AXES: Mapping[str, Axis] = {
    axis.name: axis
    for axis in (
        Axis("tools", ("given", "absent", "null", "empty", "ensured"), _vary_tools),
        Axis("ids", ("given", "call", "uuid", "named", "absent"), _vary_ids),
        Axis("result_name", ("given", "added"), _vary_result_name),
        Axis("arguments", ("object", "string"), _vary_arguments),
        Axis("content", ("given", "text", "empty", "null", "absent"), _vary_content),
        Axis(
            "reasoning",
            ("given", "none", "reasoning_content", "reasoning", "thinking", "parts", "inline"),
            _vary_reasoning,
        ),
        Axis("media", ("openai", "processor"), _vary_media),
        Axis("parts", ("given", "all", "system", "user", "assistant", "tool"), _vary_parts),
        Axis("generation", ("on", "off")),
        Axis("continue", ("off", "content", "reasoning_content")),
    )
}
"""Every axis by name, in the order in which they are applied and named in case ids."""
