"""What goes into a template and must come back out of the model's text."""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from chatlint.errors import UsageError
from chatlint.records import dataclass, field, replace

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
JSONObject: TypeAlias = Mapping[str, JSON]
Message: TypeAlias = JSONObject
Tool: TypeAlias = JSONObject


@dataclass(frozen=True, slots=True)
class Conversation:
    """Input of one render. None means absent, as hosts have it: `tools=()` is an empty list, which
    is a different input. Messages and tools are plain JSON in the shape of OpenAI's chat completions."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] | None = None
    documents: tuple[JSONObject, ...] | None = None
    template_kwargs: JSONObject = field(default_factory=dict)


def objects(values: object, name: str) -> tuple[JSONObject, ...]:
    """A caller's list of messages, tools or documents; UsageError if it is none."""
    if isinstance(values, list | tuple) and all(isinstance(value, Mapping) for value in values):
        return tuple(values)
    raise UsageError(f"{name} must be a list of objects", hint="give OpenAI chat completions as plain JSON")


def plain_bytes(value: object) -> bytes:
    """Bytes that are the same only for equal values of the same types, the order of members included; none
    for what is no plain data."""
    try:
        return marshal.dumps(value, _WITHOUT_REFERENCES)  # type: ignore[arg-type]
    except ValueError:
        return b""


_WITHOUT_REFERENCES = 2
"""The version of `marshal` that writes equal values alike, however often they are referred to."""


def value_at(conversation: Conversation, pointer: str) -> JSON:
    """The value at a JSON pointer (roots: messages, tools, documents, template kwargs by name).

    Raises KeyError if there is none.
    """
    tokens = _tokens(pointer)
    if tokens[:1] == ("messages",) and "messages" not in conversation.template_kwargs:
        value: JSON = conversation.messages  # most are asked for
        tokens = tokens[1:]
    else:
        value = {
            "messages": conversation.messages,
            "tools": conversation.tools,
            "documents": conversation.documents,
            **conversation.template_kwargs,
        }
    for token in tokens:
        if type(value) is dict and token in value:
            value = value[token]
        else:
            value = _member(value, token, pointer)
    return value


@lru_cache(maxsize=4096)
def _tokens(pointer: str) -> tuple[str, ...]:
    """The names and numbers of a JSON pointer: the same few hundred places are asked for again and again."""
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


def with_value(conversation: Conversation, pointer: str, value: JSON) -> Conversation:
    """The conversation with another value at a JSON pointer below messages, tools or documents.

    Raises KeyError if there is nothing there.
    """
    value_at(conversation, pointer)
    root, *tokens = _tokens(pointer)
    roots = {
        "messages": conversation.messages,
        "tools": conversation.tools,
        "documents": conversation.documents,
    }
    changed = _with(roots[root], tokens, value)
    items = tuple(item for item in changed if isinstance(item, Mapping)) if isinstance(changed, list) else ()
    if root == "messages":
        return replace(conversation, messages=items)
    return replace(conversation, tools=items) if root == "tools" else replace(conversation, documents=items)


def _with(whole: JSON, tokens: list[str], value: JSON) -> JSON:
    if not tokens:
        return value
    if isinstance(whole, Mapping):
        return {**whole, tokens[0]: _with(whole[tokens[0]], tokens[1:], value)}
    assert isinstance(whole, Sequence)
    changed = list(whole)
    changed[int(tokens[0])] = _with(changed[int(tokens[0])], tokens[1:], value)
    return changed


def _member(value: JSON, name: str, pointer: str) -> JSON:
    if isinstance(value, list | tuple):
        if name.isdecimal() and int(name) < len(value):
            element: JSON = value[int(name)]
            return element
    elif isinstance(value, (dict, Mapping)) and name in value:  # asking a dict whether it is one is quicker
        return value[name]
    raise KeyError(pointer)
