"""What inference servers make of a request before a template sees it.

Sources: vLLM 0.32.0 (`renderers/chat_utils.py`, `renderers/hf.py`, the request's `protocol.py`); what the
Rust front end of vLLM 0.33.0 was seen to pass on (`vllm-rs render`); llama.cpp of 2026-10 (`common/chat.cpp`:
`common_chat_msgs_parse_oaicompat`, `to_json_oaicompat`, the workarounds of
`common_chat_templates_apply_jinja`). None writes its server's own texts for media here: those depend on the
model's classes. llama.cpp's patches of two templates' sources are not made.

Values are never changed, only copied. What is made here knows its place in the conversation: a joined text
is made of its parts, and arguments that were a JSON text have the pointers that an object would have.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import cache

from chatlint.records import dataclass, field
from chatlint.render.inputs import Sources, Wrapped, wrap_at
from chatlint.render.runs import DERIVED, ContainerSource, Source
from chatlint.render.trace import joined, plain, traced

Members = Mapping[str, Wrapped]
_TEXT_TYPES = ("text", "input_text", "output_text", "refusal", "thinking")
_MEDIA = {
    "image_url": "image",
    "input_image": "image",
    "video_url": "video",
    "audio_url": "audio",
    "input_audio": "audio",
}


class Server(StrEnum):
    """Who rewrites a request."""

    VLLM = "vllm"
    VLLM_RS = "vllm-rs"
    LLAMA_CPP = "llama.cpp"


@dataclass(frozen=True, slots=True)
class Manners:
    """How a server decided to address a template. `typed` and `string`: which content it takes; `system`,
    `calls`, `objects`: whether it has system messages, calls, and arguments as objects."""

    typed: bool = False
    string: bool = True
    system: bool = True
    calls: bool = True
    objects: bool = True

    @classmethod
    def of_caps(cls, caps: Mapping[str, bool]) -> Manners:
        """From capabilities under llama.cpp's names; what is not told is as it has it before it looks."""
        typed, string = caps.get("supports_typed_content", False), caps.get("supports_string_content", True)
        return cls(
            typed,
            string or not typed,
            caps.get("supports_system_role", True),
            caps.get("supports_tool_calls", True),
            caps.get("supports_object_arguments", True),
        )

    def to_list(self) -> list[bool]:
        """The fields, in order."""
        return [self.typed, self.string, self.system, self.calls, self.objects]


@dataclass(slots=True)
class Shaped:
    """A request as a server passes it on; `sources` are those of the containers that were made."""

    messages: list[dict[str, Wrapped]]
    tools: list[Wrapped] | None
    sources: Sources = field(default_factory=dict)

    def keep(self, container: list[Wrapped] | dict[str, Wrapped], pointer: str) -> Wrapped:
        """`container`, known to stand at `pointer`."""
        self.sources[id(container)] = ContainerSource(pointer)
        return container


class Unfit(Exception):
    """The server refuses the request, in these words."""


def shape(
    server: Server, source: str, manners: Manners, messages: Sequence[Members], tools: Wrapped
) -> Shaped:
    """The messages and tools that `server` gives to the template with this source. Raises Unfit."""
    shaped = Shaped([], None)
    given = list(tools) if isinstance(tools, (list, tuple)) else None
    if server is Server.VLLM:
        for index, message in enumerate(messages):
            made = _vllm_message(shaped, message, f"/messages/{index}", manners)
            shaped.messages.append(_kept(shaped, made, f"/messages/{index}"))
        _vllm_developer(shaped, source)
        shaped.tools = _rebuilt(shaped, given, None, None) if given is not None else None
        return shaped
    if server is Server.VLLM_RS:
        for index, message in enumerate(messages):
            made = _vllm_rs_message(shaped, message, f"/messages/{index}", manners)
            shaped.messages.append(_kept(shaped, made, f"/messages/{index}"))
        shaped.tools = _rebuilt(shaped, given, None, None) if given else None
        return shaped
    for index, message in enumerate(messages):
        made = _llama_cpp_message(shaped, message, f"/messages/{index}", manners)
        shaped.messages.append(_kept(shaped, made, f"/messages/{index}"))
    _llama_cpp_workarounds(shaped, source, manners)
    shaped.tools = _rebuilt(shaped, given, "", {}) if given else None
    return shaped


def _kept(shaped: Shaped, message: dict[str, Wrapped], pointer: str) -> dict[str, Wrapped]:
    shaped.keep(message, pointer)
    return message


def _name(given: Members, name: str) -> str:
    """The member's name as it was given, which knows its place."""
    return next((key for key in given if key == name), name)


def _rebuilt(
    shaped: Shaped, tools: list[Wrapped] | None, description: Wrapped, parameters: Wrapped
) -> list[Wrapped]:
    """Tools as both write them anew: name, description, parameters, and nothing else."""
    made: list[Wrapped] = []
    for index, tool in enumerate(tools or ()):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(tool, dict) or not isinstance(function, dict):
            raise Unfit(f"tools[{index}] is no function")
        place = f"/tools/{index}"
        defaults: dict[str, Wrapped] = {"name": None, "description": description, "parameters": parameters}
        members = {_name(function, name): function.get(name, default) for name, default in defaults.items()}
        kept = shaped.keep(members, f"{place}/function")
        made.append(shaped.keep({_name(tool, "type"): "function", _name(tool, "function"): kept}, place))
    shaped.keep(made, "/tools")
    return made


# -- vLLM ----------------------------------------------------------------------------------------------------


def _vllm_message(shaped: Shaped, given: Members, place: str, manners: Manners) -> dict[str, Wrapped]:
    role = given.get("role")
    made: dict[str, Wrapped] = {_name(given, "role"): role}
    made[_name(given, "content")] = _vllm_content(shaped, given.get("content"), place, manners, role)
    if role == "assistant":
        calls = given.get("tool_calls")
        if isinstance(calls, list) and calls:
            made[_name(given, "tool_calls")] = _vllm_calls(shaped, calls, f"{place}/tool_calls")
        reasoning = given.get("reasoning")
        reasoning = given.get("reasoning_content") if reasoning is None else reasoning
        if reasoning is not None:
            made[_name(given, "reasoning")] = reasoning
            made[_name(given, "reasoning_content")] = reasoning
    elif role == "tool" and "tool_call_id" in given:
        made[_name(given, "tool_call_id")] = given["tool_call_id"]
    if isinstance(given.get("name"), str):
        made[_name(given, "name")] = given["name"]
    if role == "developer":
        made["tools"] = given.get("tools")
    return made


def _vllm_content(shaped: Shaped, content: Wrapped, place: str, manners: Manners, role: Wrapped) -> Wrapped:
    """A text, or a list of parts where the template loops over contents; of results always a text."""
    texts = _texts(content)
    as_text = not manners.typed or role == "tool"
    if as_text and texts is not None:
        return joined("\n", texts) if texts else ""
    if not manners.typed or not isinstance(content, (str, list, tuple)):
        return shaped.keep([], f"{place}/content") if manners.typed else content
    if isinstance(content, str):
        part = shaped.keep({"type": "text", "text": content}, f"{place}/content")
        return shaped.keep([part], f"{place}/content")
    parts = [_vllm_part(shaped, part, f"{place}/content/{index}") for index, part in enumerate(content)]
    return shaped.keep(parts, f"{place}/content")


def _vllm_part(shaped: Shaped, part: Wrapped, place: str) -> Wrapped:
    kind = _MEDIA.get(str(part.get("type"))) if isinstance(part, dict) else None
    return shaped.keep({"type": kind}, place) if kind else part


def _texts(content: Wrapped) -> list[str] | None:
    """The texts of a content; None where something else than text is in it."""
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    texts = [_part_text(part) for part in content] if isinstance(content, (list, tuple)) else [None]
    return None if None in texts else [text for text in texts if text is not None]


def _strict(content: Wrapped, refusal: str) -> Wrapped:
    """The content, if its parts are texts or media. Raises Unfit."""
    for part in content if isinstance(content, (list, tuple)) else ():
        kind = part.get("type") if isinstance(part, dict) else None
        if kind != "text" and kind not in _MEDIA:
            raise Unfit(refusal)
    return content


def _part_text(part: Wrapped) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and part.get("type") in _TEXT_TYPES:
        text = part.get("text", part.get("thinking"))
        return text if isinstance(text, str) else None
    return None


def _vllm_calls(shaped: Shaped, calls: list[Wrapped], place: str) -> Wrapped:
    def read(arguments: Wrapped, pointer: str) -> Wrapped:
        """What is no JSON object becomes an empty one."""
        if isinstance(arguments, str):
            arguments = _parsed(shaped, arguments, pointer)
        return arguments if isinstance(arguments, dict) else shaped.keep({}, pointer)

    return _with_arguments(shaped, calls, place, read)


def _with_arguments(
    shaped: Shaped, calls: Sequence[Wrapped], place: str, read: Callable[[Wrapped, str], Wrapped]
) -> Wrapped:
    made: list[Wrapped] = []
    for index, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            raise Unfit("chat completions only support assistant tool_calls of type 'function'.")
        pointer = f"{place}/{index}/function"
        arguments = read(function.get("arguments"), f"{pointer}/arguments")
        kept = shaped.keep({**function, _name(function, "arguments"): arguments}, pointer)
        made.append(shaped.keep({**call, _name(call, "function"): kept}, f"{place}/{index}"))
    return shaped.keep(made, place)


def _parsed(shaped: Shaped, text: str, pointer: str) -> Wrapped:
    """The value that a JSON text says, None where it is none."""
    try:
        value = json.loads(plain(text))
    except (ValueError, RecursionError):
        return None
    root = wrap_at(pointer, value)
    shaped.sources.update(root.sources)
    return root.value


def _vllm_rs_message(shaped: Shaped, given: Members, place: str, manners: Manners) -> dict[str, Wrapped]:
    """The Rust front end: reasoning before calls, no names, every content of the same form."""
    content = _strict(given.get("content"), "data did not match any variant of untagged enum MessageContent")
    texts = _texts(content)
    if not manners.typed and texts is not None:
        content = joined("", texts) if texts else ""
    elif content is None or isinstance(content, str):
        part = shaped.keep({"type": "text", "text": content or ""}, f"{place}/content")
        content = shaped.keep([part], f"{place}/content")
    made: dict[str, Wrapped] = {_name(given, "role"): given.get("role"), _name(given, "content"): content}
    reasoning = given.get("reasoning")
    reasoning = given.get("reasoning_content") if reasoning is None else reasoning
    if reasoning is not None:
        made[_name(given, "reasoning")] = reasoning
        made[_name(given, "reasoning_content")] = reasoning
    calls = given.get("tool_calls")
    if isinstance(calls, list) and calls:
        made[_name(given, "tool_calls")] = _vllm_rs_calls(shaped, calls, f"{place}/tool_calls")
    if "tool_call_id" in given:
        made[_name(given, "tool_call_id")] = given["tool_call_id"]
    return made


def _vllm_rs_calls(shaped: Shaped, calls: list[Wrapped], place: str) -> Wrapped:
    def read(arguments: Wrapped, pointer: str) -> Wrapped:
        parsed = _parsed(shaped, arguments, pointer) if isinstance(arguments, str) else arguments
        if parsed is None:
            raise Unfit("arguments of a call are no JSON")
        return parsed

    return _with_arguments(shaped, calls, place, read)


def _vllm_developer(shaped: Shaped, source: str) -> None:
    """Where a template does not name the role, its text is a system message; all of those become the
    first."""
    if '"developer"' in source or "'developer'" in source:
        return
    if not any(message.get("role") == "developer" for message in shaped.messages):
        return
    for index, message in enumerate(shaped.messages):
        if message.get("role") == "developer":
            kept = {name: value for name, value in message.items() if name not in ("role", "tools")}
            shaped.messages[index] = _kept(shaped, {"role": "system", **kept}, f"/messages/{index}")
    systems = [message for message in shaped.messages if message.get("role") == "system"]
    if len(systems) == 1 and systems[0] is shaped.messages[0]:
        return
    texts = [joined("\n", found) for one in systems if (found := _texts(one.get("content")))]
    merged: dict[str, Wrapped] = {"role": "system", "content": joined("\n\n", texts) if texts else ""}
    others = [message for message in shaped.messages if message.get("role") != "system"]
    shaped.messages[:] = [_kept(shaped, merged, "/messages/0"), *others]


# -- llama.cpp -----------------------------------------------------------------------------------------------


def _llama_cpp_message(shaped: Shaped, given: Members, place: str, manners: Manners) -> dict[str, Wrapped]:
    """Its message knows these members, in this order; empty ones are left out."""
    if "content" not in given and "tool_calls" not in given:
        raise Unfit("Failed to parse messages: Expected 'content' or 'tool_calls'")
    made: dict[str, Wrapped] = {_name(given, "role"): given.get("role")}
    content = _strict(given.get("content"), "unsupported content[].type")
    made[_name(given, "content")] = _llama_cpp_content(shaped, content, place, manners)
    for name in ("reasoning_content", "name", "tool_call_id"):
        if given.get(name):
            made[_name(given, name)] = given[name]
    calls = given.get("tool_calls")
    if isinstance(calls, (list, tuple)) and calls:
        made[_name(given, "tool_calls")] = _llama_cpp_calls(shaped, calls, f"{place}/tool_calls", manners)
    return made


def _llama_cpp_content(shaped: Shaped, content: Wrapped, place: str, manners: Manners) -> Wrapped:
    if content is None:
        content = ""
    if manners.string and not manners.typed:
        texts = _texts(content)
        return content if texts is None else joined("\n", texts) if texts else ""
    if manners.typed and not manners.string and isinstance(content, str):
        part = shaped.keep({"type": "text", "text": content}, f"{place}/content")
        return shaped.keep([part], f"{place}/content")
    return content


def _llama_cpp_calls(shaped: Shaped, calls: Sequence[Wrapped], place: str, manners: Manners) -> Wrapped:
    def read(arguments: Wrapped, pointer: str) -> Wrapped:
        """Arguments are a JSON text there, and an object again where the template takes one."""
        if not isinstance(arguments, str):
            if manners.objects:
                return arguments
            text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
            return traced(text, ((len(text), Source(pointer), DERIVED),))
        parsed = _parsed(shaped, arguments, pointer) if manners.objects else None
        return arguments if parsed is None else parsed

    made: list[Wrapped] = []
    read_calls = _with_arguments(shaped, calls, place, read)
    assert isinstance(read_calls, list)
    for index, call in enumerate(read_calls):
        assert isinstance(call, dict)
        function = call["function"]
        assert isinstance(function, dict)
        members = {_name(function, name): function.get(name) for name in ("name", "arguments")}
        kept = shaped.keep(members, f"{place}/{index}/function")
        one: dict[str, Wrapped] = {_name(call, "type"): "function", _name(call, "function"): kept}
        if call.get("id"):
            one[_name(call, "id")] = call["id"]
        made.append(shaped.keep(one, f"{place}/{index}"))
    return shaped.keep(made, place)


def _llama_cpp_workarounds(shaped: Shaped, source: str, manners: Manners) -> None:
    facts = _llama_cpp_facts()
    if any(text in source for text in facts["trims_texts"]):
        for message in shaped.messages:
            if isinstance(content := message.get("content"), str):
                message[_name(message, "content")] = content.strip()
    if not any(text in source for text in facts["keeps_developer_role"]):
        for message in shaped.messages:
            if message.get("role") == "developer":
                message[_name(message, "role")] = "system"
    if manners.system or not shaped.messages or shaped.messages[0].get("role") != "system":
        return
    first = shaped.messages.pop(0)
    if shaped.messages:
        _merge(first, shaped.messages[0])


def _merge(first: dict[str, Wrapped], second: dict[str, Wrapped]) -> None:
    """A system message that the template does not know goes before the next message's text."""
    texts = [first.get("content"), second.get("content")]
    strings = [text for text in texts if isinstance(text, str)]
    if len(strings) == len(texts):
        second[_name(second, "content")] = joined("\n", strings)


@cache
def _llama_cpp_facts() -> Mapping[str, Sequence[str]]:
    from pathlib import Path

    text = Path(__file__).with_name("llama_cpp.json").read_text(encoding="utf-8")
    facts: Mapping[str, Sequence[str]] = json.loads(text)
    return facts
