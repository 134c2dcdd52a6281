"""Conversations from files and the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from chatlint.conversation import JSON, Conversation, JSONObject
from chatlint.errors import UsageError


def read_conversation(messages: str, tools: str | None, kwargs: str | None) -> Conversation:
    """A conversation from a file of messages (a list, or an object with `messages` and what belongs to them),
    a file of tools, and template kwargs as JSON. Raises UsageError for what is not one."""
    content = read_json(messages)
    whole = content if isinstance(content, Mapping) else {"messages": content}
    documents = whole.get("documents")
    return Conversation(
        messages=objects(whole.get("messages"), f"{messages}: messages"),
        tools=read_tools(tools) if tools else _optional(whole.get("tools"), f"{messages}: tools"),
        documents=_optional(documents, f"{messages}: documents"),
        template_kwargs={**_object(whole.get("template_kwargs", {}), messages), **read_kwargs(kwargs)},
    )


def read_tools(path: str) -> tuple[JSONObject, ...]:
    """Tools in the shape of OpenAI's chat completions: a list, or an object with `tools`."""
    content = read_json(path)
    return objects(content.get("tools") if isinstance(content, Mapping) else content, f"{path}: tools")


def read_kwargs(text: str | None) -> JSONObject:
    """Template kwargs from a JSON object on the command line."""
    if not text:
        return {}
    try:
        return _object(json.loads(text), "--kwargs")
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"--kwargs is not JSON: {error}", hint="""like '{"enable_thinking": false}'"""
        ) from error


def read_lines(path: str) -> Iterator[tuple[int, JSON]]:
    """Line number and value of every line of a file of JSON lines; empty lines are passed over."""
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value: JSON = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{path}:{number} is not JSON: {error}", hint="one JSON value on each line"
            ) from error
        yield number, value


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", hint="save it as UTF-8") from error


def read_json(path: str) -> JSON:
    """The JSON in a file, or on standard input for `-`."""
    text = _text(path)
    try:
        parsed: JSON = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    return parsed


def _optional(value: JSON, what: str) -> tuple[JSONObject, ...] | None:
    return None if value is None else objects(value, what)


def objects(value: JSON, what: str) -> tuple[JSONObject, ...]:
    """A list of JSON objects. Raises UsageError, beginning with `what`, for anything else."""
    if isinstance(value, list):
        return tuple(_object(item, what) for item in value)
    raise UsageError(f"{what}: a list of objects was expected", hint='[{"role": "user", "content": "…"}]')


def _object(value: JSON, what: str) -> JSONObject:
    if isinstance(value, Mapping):
        return value
    raise UsageError(f"{what}: an object was expected, not {json.dumps(value)[:60]}")
