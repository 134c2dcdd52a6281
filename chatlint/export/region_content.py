"""What stands in a region of a response template, as transformers 5.24 reads it: its content parsers, the
templates that rearrange what they give, and the casts by a tool's schema."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from chatlint.conversation import JSON, JSONObject, Tool
from chatlint.lazy import regex


def _text(text: str, facts: JSONObject) -> str:
    return text.strip() if facts.get("strip", True) else text


def _json(text: str, facts: JSONObject) -> JSON:
    """JSON, maybe with bare keys and strings in delimiters of their own."""
    strings: list[str] = []
    working = text
    for pair in _list(facts.get("string_delims")):
        start, end = (re.escape(str(part)) for part in _list(pair)[:2])
        working = re.sub(f"{start}(.*?){end}", lambda m: _kept(strings, m[1]), working, flags=re.DOTALL)
    if facts.get("unquoted_keys"):
        working = _BARE_KEY.sub(_quoted_key, working)
    for index, value in enumerate(strings):
        working = working.replace(f"\x01{index}\x02", json.dumps(value))
    try:
        found: JSON = json.loads(working)
    except ValueError:
        if facts.get("allow_non_json"):
            return _text(text, facts)
        raise
    return found


_BARE_KEY = regex(r'"(?:\\.|[^"\\])*"|(?<=[{,])(\s*)(\w+)(\s*):')


def _kept(strings: list[str], text: str) -> str:
    strings.append(text)
    return f"\x01{len(strings) - 1}\x02"


def _quoted_key(match: re.Match[str]) -> str:
    return match[0] if match[2] is None else f'{match[1]}"{match[2]}"{match[3]}:'


def _elements(text: str, facts: JSONObject) -> JSON:
    """Tags with the groups `key` and `value`."""
    from chatlint.export.response_reading import compiled

    found: dict[str, JSON] = {}
    merged: dict[str, list[JSON]] = {}
    for match in compiled(facts.get("tag_pattern")).finditer(text):
        key, value = match["key"], _sub_parsed(match["value"] or "", facts)
        if key in found and facts.get("merge_duplicates"):
            merged.setdefault(key, [found[key]]).append(value)
            found[key] = merged[key]
        else:
            found[key] = value
    return found


def _lines(text: str, facts: JSONObject) -> JSON:
    """Lines of a key and a value."""
    line_end, between = str(facts.get("line_sep", "\n")), str(facts.get("kv_sep", ":"))
    found: dict[str, JSON] = {}
    for line in text.split(line_end):
        key, sign, value = _text(line, facts).partition(between)
        if sign:
            found[_text(key, facts)] = _sub_parsed(_text(value, facts), facts)
    return found


def _sub_parsed(text: str, facts: JSONObject) -> JSON:
    parser = facts.get("value_parser")
    if not isinstance(parser, Mapping):
        return text
    arguments = parser.get("args")
    return CONTENT[str(parser.get("name", "text"))](text, arguments if isinstance(arguments, Mapping) else {})


def _call_list(text: str, facts: JSONObject) -> JSON:
    """A list of Python calls with keyword arguments."""
    source = _STRING_OR_WORD.sub(_python_word, text.strip())
    try:
        tree = ast.parse(source, mode="eval").body
    except (SyntaxError, MemoryError) as error:
        raise ValueError(f"no list of calls: {error}") from None
    if not isinstance(tree, ast.List):
        raise ValueError("no list of calls")
    return [_call(node) for node in tree.elts]


_STRING_OR_WORD = regex(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b""", re.S)


def _python_word(match: re.Match[str]) -> str:
    return {"true": "True", "false": "False", "null": "None"}.get(match[0], match[0])


def _call(node: ast.expr) -> JSON:
    if not isinstance(node, ast.Call) or node.args or any(keyword.arg is None for keyword in node.keywords):
        raise ValueError("no call with keyword arguments")
    arguments = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return {"name": ast.unparse(node.func), "arguments": arguments}


CONTENT: Mapping[str, Callable[[str, JSONObject], JSON]] = {
    "text": _text,
    "int": lambda text, facts: int(_text(text, facts)),
    "float": lambda text, facts: float(_text(text, facts)),
    "bool": lambda text, facts: _text(text, facts).lower() in ("true", "1"),
    "json": _json,
    "xml-inline": _elements,
    "kv-lines": _lines,
    "python-call-list": _call_list,
}
"""The content parsers by name."""

_PLACEHOLDER = regex(r"\{(\w+(?:\.\w+)*)\}")


def transformed(template: JSON, scope: JSONObject) -> JSON:
    """A transform with its placeholders filled. Raises KeyError for one that nothing fills."""
    if isinstance(template, Mapping):
        return {key: transformed(value, scope) for key, value in template.items()}
    if isinstance(template, str):
        match = _PLACEHOLDER.fullmatch(template)
        if match is None:
            return template
        value: JSON = scope
        for key in match[1].split("."):
            if not isinstance(value, Mapping) or key not in value:
                raise KeyError(f"nothing fills {template}")
            value = value[key]
        return value
    return [transformed(item, scope) for item in template] if isinstance(template, list) else template


def cast(value: JSON, tools: Sequence[Tool]) -> JSON:
    """A call, or a list of calls, with string arguments as its tool's schema types them."""
    if isinstance(value, list):
        return [cast(item, tools) for item in value]
    function = value.get("function") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(function, Mapping):
        return value
    arguments = function.get("arguments")
    if not isinstance(arguments, Mapping):
        return value
    properties = _properties(tools, function.get("name"))
    typed = {key: _typed(item, properties.get(key)) for key, item in arguments.items()}
    return {**value, "function": {**function, "arguments": typed}}


def _properties(tools: Sequence[Tool], name: JSON) -> JSONObject:
    for tool in tools:
        function = tool.get("function", tool)
        if isinstance(function, Mapping) and function.get("name") == name:
            parameters = function.get("parameters")
            found = parameters.get("properties") if isinstance(parameters, Mapping) else None
            return found if isinstance(found, Mapping) else {}
    return {}


def _typed(value: JSON, schema: JSON) -> JSON:
    if not isinstance(value, str):
        return value
    for json_type in _types(schema):
        try:
            return _as_type(value, json_type)
        except (ValueError, RecursionError):
            continue
    return value


def _types(schema: JSON) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    declared = schema.get("type")
    yield from [declared] if isinstance(declared, str) else (str(name) for name in _list(declared))
    for union in ("anyOf", "oneOf"):
        for choice in _list(schema.get(union)):
            yield from _types(choice)
    if schema.get("nullable"):
        yield "null"


def _as_type(text: str, json_type: str) -> JSON:
    """A text as a value of a type. Raises ValueError if it is none."""
    if json_type in ("integer", "number"):
        number = float(text)
        if not math.isfinite(number) or (json_type == "integer" and not number.is_integer()):
            raise ValueError(text)
        return int(number) if number.is_integer() and "." not in text else number
    word = text.strip().lower()
    if json_type == "boolean" and word in ("true", "1", "false", "0"):
        return word in ("true", "1")
    if json_type == "null" and text.strip() in ("null", "None"):
        return None
    kind = {"object": dict, "array": list}.get(json_type)
    if kind is None:
        raise ValueError(text)
    found: JSON = json.loads(text)
    if not isinstance(found, kind):
        raise ValueError(text)
    return found


def _list(value: JSON) -> list[JSON]:
    return list(value) if isinstance(value, list | tuple) else []
