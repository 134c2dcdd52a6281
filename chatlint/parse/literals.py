"""JSON and Python literals, read as they come and written as JSON.

What is JSON passes through as it stands, so that a call's arguments stream in the model's own spelling. What
is not is repaired on the way: Python's True, None, single quotes and tuples; raw control characters; a quote
inside a string that was not escaped (it is one if what follows cannot follow a string); trailing commas; bare
words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import TypeAlias

from chatlint.conversation import JSON
from chatlint.limits import NESTING
from chatlint.parse.schemas import STRING, Types, type_of
from chatlint.parse.stream import Reading, Stream, blank

Write: TypeAlias = Callable[[str], None]

_NUMBER = r"-?(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][+-]?+\d++)?+"
_sound = re.compile(
    r"(?>[\s:]++|,(?=\s*+[^\s,}\])])"
    r'|"(?>[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"(?=\s*+[,:}\]])'
    rf"|(?:{_NUMBER}|true|false|null)(?=[\s,}}\]]))*+"
).match
"""As much of a container's inside as is JSON and needs no second look."""
_word = re.compile(r"[^\s,:{}\[\]()\"'<>]{1,200}").match
_number = re.compile(_NUMBER).fullmatch
_WORDS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_runs = {quote: re.compile(rf"[^{quote}\\\x00-\x1f\"]*").match for quote in "\"'"}
_special = {quote: re.compile(rf"[{quote}\\\x00-\x1f\"]").search for quote in "\"'"}
_OPEN = {"{": "{", "[": "[", "(": "["}
_CLOSE = {"{": "}", "[": "]", "(": "]"}
_AFTER = {"{": "}", "[": "]", "(": ")"}
_ESCAPES = {"'": "'", "\n": "", "0": "\\u0000", "a": "\\u0007", "v": "\\u000b"}
_hex = re.compile(r"[0-9a-fA-F]+").fullmatch


def quoted(text: str) -> str:
    """`text` as a JSON string."""
    return encode_basestring(text)


def escaped(text: str) -> str:
    """`text` as it stands inside a JSON string."""
    return encode_basestring(text)[1:-1]


def container(stream: Stream, write: Write) -> Reading[bool]:
    """Reads the container at `stream.at` to its end. False if it does not end: the text did, or it is no
    literal, or nests too deep; what was written is then cut."""
    stack: list[str] = []
    while True:
        text, at = stream.text, stream.at
        end = _sound(text, at).end() if stack else at  # type: ignore[union-attr]
        if end > at:
            write(text[at:end])
        if end == len(text):
            stream.at = end
            if stream.final:
                return False
            yield
            continue
        stream.at = end
        char = text[end]
        if char in _OPEN:
            if len(stack) == NESTING:
                return False
            write(_OPEN[char])
            stack.append(char)
            stream.at += 1
        elif char in "}])":
            write(_CLOSE[stack.pop()])
            stream.at += 1
            if not stack:
                return True
        elif not (yield from _scalar(stream, write, char, ",:" + "".join(_AFTER[c] for c in stack[-1:]))):
            return False


def _scalar(stream: Stream, write: Write, char: str, after: str) -> Reading[bool]:
    """What `_sound` would not take: strings in need of repair, words, stray commas."""
    if char in "\"'":
        return (yield from string(stream, write, after))
    if char == ",":
        return (yield from _comma(stream, write))
    return (yield from _bare(stream, write))


def _comma(stream: Stream, write: Write) -> Reading[bool]:
    """A comma, and the whitespace after it; left out before the end of a container."""
    while True:
        end = blank(stream.text, stream.at + 1).end()  # type: ignore[union-attr]
        if end < len(stream.text):
            break
        if stream.final:
            stream.at = end
            return False
        yield
    if stream.text[end] not in ",}])":
        write(stream.text[stream.at : end])
    stream.at = end
    return True


def _bare(stream: Stream, write: Write) -> Reading[bool]:
    """A word: true, null, a number, in JSON or in Python; any other is taken for an unquoted string."""
    while True:
        run = _word(stream.text, stream.at)
        if run is None:
            return False
        if run.end() < len(stream.text) or stream.final:
            break
        yield
    word = run[0]
    if stream.final and run.end() == len(stream.text) and word.lower() not in _WORDS and not _number(word):
        write(word)
    else:
        write(plain(word))
    stream.at = run.end()
    return True


def plain(word: str) -> str:
    """A bare word as JSON."""
    return _WORDS.get(word.lower()) or (word if _number(word) else quoted(word))


def string(stream: Stream, write: Write, after: str) -> Reading[bool]:
    """Reads the quoted string at `stream.at`. A quote ends it only if, past whitespace, one of the characters
    of `after` follows, or the end ("" for any)."""
    quote = stream.text[stream.at]
    write('"')
    stream.at += 1
    run = _runs[quote]
    while True:
        text, at = stream.text, stream.at
        end = run(text, at).end()  # type: ignore[union-attr]
        if end > at:
            write(text[at:end])
            stream.at = end
        if end == len(text):
            if stream.final:
                return False
            yield from stream.pause(_special[quote])
        elif text[end] == quote:
            ends = yield from _ends(stream, after)
            write('"' if ends else '\\"' if quote == '"' else "'")
            stream.at += 1
            if ends:
                return True
        elif text[end] == "\\":
            if not (yield from _escape(stream, write)):
                return False
        else:
            write(escaped(text[end]))
            stream.at += 1


def _ends(stream: Stream, after: str) -> Reading[bool]:
    """Whether the quote at `stream.at` ends its string."""
    while True:
        end = blank(stream.text, stream.at + 1).end()  # type: ignore[union-attr]
        if end < len(stream.text):
            return not after or stream.text[end] in after or stream.text[end].isspace()
        if stream.final:
            return True
        yield


def _escape(stream: Stream, write: Write) -> Reading[bool]:
    """A backslash and what it escapes, in JSON or in Python; False if the text ends in it."""
    while len(stream.text) - stream.at < 2:
        if stream.final:
            return False
        yield
    char = stream.text[stream.at + 1]
    digits = {"u": 4, "x": 2, "U": 8}.get(char, 0)
    while len(stream.text) - stream.at < 2 + digits and not stream.final:
        yield
    start = stream.at + 2
    stream.at = start
    if digits:
        end = min(_hex(stream.text, start).end(), start + digits)  # type: ignore[union-attr]
        code = stream.text[start:end]
        if len(code) == digits and int(code, 16) <= 0x10FFFF:
            stream.at = end
            write(
                f"\\u{code}"
                if digits == 4
                else f"\\u00{code}"
                if digits == 2
                else escaped(chr(int(code, 16)))
            )
        else:
            write(f"\\\\{char}")
    elif char in '"\\/bfnrt':
        write("\\" + char)
    else:
        write(_ESCAPES.get(char) if char in _ESCAPES else "\\\\" + escaped(char))  # type: ignore[arg-type]
    return True


def literal(text: str) -> str | None:
    """`text` as JSON, if it is one JSON or Python literal and nothing else."""
    text = text.strip()
    if text.lower() in _WORDS and text in ("true", "false", "null", "True", "False", "None"):
        return _WORDS[text.lower()]
    if _number(text):
        return text
    if text[:1] not in ("{", "[", "(", '"', "'"):
        return None
    if decoded(text) is not NOTHING:
        return text
    stream, out = Stream(), list[str]()
    stream.push(text)
    stream.final = True
    reading = string(stream, out.append, "") if text[0] in "\"'" else container(stream, out.append)
    whole = _finish(reading) and stream.at == len(text)
    found = "".join(out)
    return found if whole and decoded(found) is not NOTHING else None


def _finish(reading: Reading[bool]) -> bool:
    """The result of a reader that has all the text it will get."""
    while True:
        try:
            next(reading)
        except StopIteration as stop:
            return bool(stop.value)


NOTHING = object()
"""What `decoded` gives where there is no value."""


def decoded(text: str) -> object:
    """The value of JSON text; NOTHING if it is not valid JSON."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return NOTHING


def _refuse(word: str) -> JSON:
    raise ValueError(f"{word} is not JSON")


def typed(text: str, types: Types | None) -> str:
    """The JSON value that raw `text` stands for, where `types` are allowed (None: any, unknown).

    No string allowed: a literal, in JSON or Python, however written; else the text itself, as a string.
    String alone: the text itself. String among others, or unknown: a literal of another allowed type, else
    the text.
    """
    if types == STRING:
        return quoted(text)
    found = literal(text)
    if types is None:
        return found if found and found[0] != '"' else quoted(text)
    value = decoded(found) if found else NOTHING
    if value is not NOTHING and type_of(value) in types and not isinstance(value, str):  # type: ignore[arg-type]
        return found or ""
    word = _WORDS.get(text.strip().lower())
    if word and ({"true": "boolean", "false": "boolean"}.get(word, "null")) in types:
        return word
    if "string" in types:
        return quoted(text)
    if isinstance(value, str):
        return typed(value, types)
    if found:
        return found
    empty = {"object": "{}", "array": "[]", "null": "null"}
    return next(
        (empty[t] for t in ("object", "array", "null") if t in types and not text.strip()), quoted(text)
    )


class Unwrapped:
    """A `write` for `string`: takes the JSON string that holds arguments apart and writes what it holds.

    If that is no object, the string stands for itself.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._inner = Stream()
        self._reading = container(self._inner, write)
        self._text = ""
        self._object = False
        self.whole = False

    def __call__(self, piece: str) -> None:
        """The next piece that `string` writes; the first and the last are the quotes."""
        self._text += piece
        if self._text[:1] != '"' or len(self._text) == 1:
            return
        if not self._object and self._text[1:].lstrip()[:1] == "{":
            self._object = True
            self._text = self._text[:1] + self._text[1:].lstrip()
        if self._object and not _high_surrogate(self._text):
            self._push(self._text[1:])
            self._text = '"'

    def _push(self, escapes: str) -> None:
        if self.whole or escapes == '"':
            return
        self._inner.push(str(json.loads(f'"{escapes}"')))
        try:
            next(self._reading)
        except StopIteration as stop:
            self.whole = bool(stop.value)

    def close(self) -> bool:
        """At the string's end: whether it held a whole value."""
        if not self._object:
            empty = not self._text.strip('" ')
            self._write("{}" if empty else self._text)
            return True
        return self.whole


def _high_surrogate(text: str) -> bool:
    """Whether the text ends in the first half of an escaped pair."""
    return text[-6:-4] == "\\u" and text[-4:-2].lower() in ("d8", "d9", "da", "db")
