"""Conversations from files and the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from chatlint.conversation import JSON, Conversation, JSONObject
from chatlint.errors import TargetError, UsageError
from chatlint.limits import JSON_FILE_BYTES

_MESSAGE = '[{"role": "user", "content": "…"}]'
_TOOL = '[{"type": "function", "function": {"name": "…", "parameters": {…}}}]'


def share_input(*paths: str | None) -> None:
    """Refuse to read two things from standard input. Raises UsageError."""
    if sum(path == "-" for path in paths) > 1:
        raise UsageError(
            "standard input is named twice, and can be read once", hint="give one of them a file"
        )


def read_conversation(messages: str, tools: str | None, kwargs: str | None) -> Conversation:
    """A conversation from a file of messages (a list, an object with `messages` and what belongs to them, or
    a probe), a file of tools, and template kwargs as JSON. Raises UsageError for what is not one."""
    content = read_json(messages)
    whole = content if isinstance(content, Mapping) else {"messages": content}
    inner = whole.get("conversation")
    whole = inner if isinstance(inner, Mapping) else whole
    documents = whole.get("documents")
    return Conversation(
        messages=objects(whole.get("messages"), f"{messages}: messages"),
        tools=read_tools(tools) if tools else _optional(whole.get("tools"), f"{messages}: tools", _TOOL),
        documents=_optional(documents, f"{messages}: documents", '[{"title": "…", "text": "…"}]'),
        template_kwargs={**_object(whole.get("template_kwargs", {}), messages), **read_kwargs(kwargs)},
    )


def read_tools(path: str) -> tuple[JSONObject, ...]:
    """Tools in the shape of OpenAI's chat completions: a list, or an object with `tools`."""
    content = read_json(path)
    return objects(content.get("tools") if isinstance(content, Mapping) else content, f"{path}: tools", _TOOL)


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


def numbered_lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a file that hold something, with their numbers."""
    return ((number, line) for number, line in enumerate(_lines(path), start=1) if line.strip())


def value_of_line(line: str, place: str) -> JSON:
    """The value of one line of a file of JSON lines. Raises UsageError, naming the place."""
    try:
        value: JSON = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place} is not JSON: {error}", hint="one JSON value on each line") from error
    return value


def _lines(path: str) -> Iterator[str]:
    """A log's lines: it may be larger than memory."""
    try:
        if path == "-":
            yield from sys.stdin
            return
        with open(path, encoding="utf-8") as stream:
            yield from stream
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", hint="save it as UTF-8") from error


def _text(path: str) -> str:
    """A file's text, of a bounded size. A byte order mark is no part of it."""
    from chatlint.source.folder import read_file

    try:
        if path == "-":
            return sys.stdin.read(JSON_FILE_BYTES)
        return read_file(Path(path), JSON_FILE_BYTES, regular=False).decode("utf-8-sig")
    except TargetError as error:
        raise UsageError(error.message, hint=error.hint) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint="check the path") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", hint="save it as UTF-8") from error


def read_json(path: str) -> JSON:
    """The JSON in a file, or on standard input for `-`."""
    text = _text(path)
    if not text.strip():
        raise UsageError(f"{path} is empty", hint="JSON was expected there")
    try:
        parsed: JSON = json.loads(text)
    except RecursionError as error:
        raise UsageError(f"{path} is nested too deep to be read") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    return parsed


def _optional(value: JSON, what: str, shape: str) -> tuple[JSONObject, ...] | None:
    return None if value is None else objects(value, what, shape)


def objects(value: JSON, what: str, shape: str = _MESSAGE) -> tuple[JSONObject, ...]:
    """A list of JSON objects. Raises UsageError, beginning with `what`, for anything else; `shape` is what
    such a list looks like."""
    if isinstance(value, list):
        return tuple(_object(item, what) for item in value)
    raise UsageError(f"{what}: a list of objects was expected", hint=shape)


def _object(value: JSON, what: str) -> JSONObject:
    if isinstance(value, Mapping):
        return value
    raise UsageError(f"{what}: an object was expected, not {json.dumps(value)[:60]}")
