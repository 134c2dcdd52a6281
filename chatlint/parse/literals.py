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
from typing import TypeAlias, cast

from chatlint.lazy import regex
from chatlint.limits import NESTING
from chatlint.parse.events import Event
from chatlint.parse.known import Known
from chatlint.parse.seams import Seam
from chatlint.parse.stream import Quiet, Reading, Stream, blank

_LONG = 256
"""From so many characters on a text is read by the reader itself, not by the short way."""
Write: TypeAlias = Callable[[str], None]

_NUMBER = r"-?(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][+-]?+\d++)?+"
_SOUND = (
    r"(?>[\s:]++|,(?=\s*+[^\s,}\])])"
    r'|"(?>[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"(?=\s*+[,:}\]])'
    rf"|(?:{_NUMBER}|true|false|null)(?=[\s,}}\]]))*+"
)
_sound = re.compile(_SOUND).match
"""As much of a container's inside as is JSON and needs no second look."""
_TAIL = r'(?:(?P<inside>"[^"\\\x00-\x1f]*+)|(?P<waits>,\s*+|[-+.\w]*+))\Z'
_smooth = {
    "": re.compile(_SOUND + _TAIL).match,
    '"': re.compile(rf'[^"\\\x00-\x1f]*+(?:"(?=\s*+[,:}}\]]){_SOUND}{_TAIL}|(?P<ends>"\s*+)\Z)').match,
}
"""By the quote of the string we are in: text that is sound to its end, but for what is on its way there."""
_word = re.compile(r"[^\s,:{}\[\]()\"'<>]{1,200}").match
number = re.compile(_NUMBER).fullmatch
"""Whether a text is a number in JSON."""
_any_number = regex(r"-?+(?:[1-9]\d{0,60}+|(?:0|[1-9]\d{0,30}+)(\.)\d{1,30}+)")
WORDS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_runs = {
    '"': re.compile(r'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt])*+').match,
    "'": re.compile(r"[^'\"\\\x00-\x1f]*").match,
}
_special = {quote: re.compile(rf"[{quote}\\\x00-\x1f\"]").search for quote in "\"'"}
_OPEN = {"{": "{", "[": "[", "(": "["}
_CLOSE = {"{": "}", "[": "]", "(": "]"}
_AFTER = {"{": ",:}]", "[": ",:}]", "(": ",:}])"}
"""What may follow a string inside each container: no less than `_sound` lets follow."""
_ESCAPES = {"'": "'", "\n": "", "0": "\\u0000", "a": "\\u0007", "v": "\\u000b"}
_DIGITS = {"u": 4, "x": 2, "U": 8}
_hex = re.compile(r"[0-9a-fA-F]+").fullmatch


quoted: Callable[[str], str] = encode_basestring
"""A text as a JSON string."""


def escaped(text: str) -> str:
    """`text` as it stands inside a JSON string."""
    return encode_basestring(text)[1:-1]


Step: TypeAlias = tuple[str, int] | None
"""The JSON for a piece of text, and where the text goes on; None to wait for more."""


class Literal:
    """A container, or a quoted string, on its way. `read` takes what has come of it.

    `after`: a quote ends a string outside any container only if, past whitespace, one of these characters
    follows, or the end ("" for any).
    """

    __slots__ = ("_after", "away", "broken", "ended", "json", "quote", "stack")

    def __init__(self, after: str = "") -> None:
        self._after = after
        self.stack = ""
        """The brackets that are open."""
        self.quote = ""
        """The quote of the string we are in."""
        self.json = ""
        """The JSON of what was last read."""
        self.ended = False
        self.broken = False
        """It is no literal, nests too deep, or is cut."""
        self.away = False
        """Whether the short way reads on, and its state is the literal's."""

    def read(self, text: str, at: int, final: bool) -> int:
        """Takes text from a place on; returns where it could go no further."""
        out: list[str] = []
        start, size = at, len(text)
        while at < size and not self.ended:
            if self.quote:
                at = _runs[self.quote](text, at).end()  # type: ignore[union-attr]
                if at == size:
                    break
                step = self._in_string(text, at, final)
            else:
                at = _sound(text, at).end() if self.stack else at  # type: ignore[union-attr]
                if at == size:
                    break
                char = text[at]
                if char == '"':
                    self.quote = char
                    at += 1
                    continue
                if self.stack and _CLOSE[self.stack[-1]] == char:
                    self._close()
                    at += 1
                    continue
                step = self._outside(text, at, final)
            if step is None:
                break
            if step[0] != text[at : step[1]]:
                out += [text[start:at], step[0]]
                start = step[1]
            at = step[1]
        self.broken = self.broken or (final and not self.ended)
        self.json = "".join(out) + text[start:at] if out else text[start:at]
        return at

    def _close(self) -> None:
        """The innermost bracket is closed."""
        self.stack = self.stack[:-1]
        self.ended = not self.stack

    def _in_string(self, text: str, at: int, final: bool) -> Step:
        """A character inside a string that is not simply its text."""
        char = text[at]
        if char == self.quote:
            after = text[at + 1 : at + 2]
            ends = _AFTER[self.stack[-1]] if self.stack else self._after
            if not after or after.isspace():
                end = blank(text, at + 1).end()  # type: ignore[union-attr]
                after = text[end : end + 1]
                if not after and not final:
                    return None
            if after and ends and after not in ends and not after.isspace():
                return '\\"' if char == '"' else char, at + 1
            self.quote = ""
            self.ended = not self.stack
            return '"', at + 1
        if char != "\\":
            return escaped(char), at + 1
        kind = text[at + 1 : at + 2]
        digits = text[at + 2 : at + 2 + _DIGITS.get(kind, 0)]
        if not kind or len(digits) < _DIGITS.get(kind, 0):
            return None
        if digits and _hex(digits) and int(digits, 16) <= 0x10FFFF:
            code = f"\\u{digits.zfill(4)}" if kind != "U" else escaped(chr(int(digits, 16)))
            return code, at + 2 + len(digits)
        if kind in '"\\/bfnrt':
            return char + kind, at + 2
        return _ESCAPES.get(kind, "\\\\" + escaped(kind)), at + 2

    def _outside(self, text: str, at: int, final: bool) -> Step:
        """A character outside strings that `_sound` would not take: brackets, and what needs repair."""
        char = text[at]
        if char in _OPEN:
            if len(self.stack) == NESTING:
                self.broken = True
                return None
            self.stack += char
            return _OPEN[char], at + 1
        if char in "}])" and self.stack:
            closing = _CLOSE[self.stack[-1]]
            self._close()
            return closing, at + 1
        if char == "'":
            self.quote = char
            return '"', at + 1
        if char == "," and self.stack:
            end = blank(text, at + 1).end()  # type: ignore[union-attr]
            if end == len(text):
                return None
            return "" if text[end] in ",}])" else text[at:end], end
        return self._bare(text, at, final)

    def _bare(self, text: str, at: int, final: bool) -> Step:
        """A word: true, null, a number, in JSON or in Python; any other is taken for an unquoted string."""
        run = _word(text, at)
        if run is None:
            self.broken = True
            return None
        if run.end() == len(text):
            if not final:
                return None
            if run[0].lower() not in WORDS and not number(run[0]):
                return run[0], run.end()
        return plain(run[0]), run.end()

    def pass_through(self, stream: Stream, write: Write) -> Reading[bool]:
        """Reads the literal from the stream, writing as it comes. False if it is broken or cut: what was
        written is then cut too."""
        while True:
            if self.away:
                self.away = False
                self._enter(stream.left)
            if not (self.ended or self.broken):
                stream.at = self.read(stream.text, stream.at, stream.final)
            if self.json:
                write(self.json)
            if self.ended or self.broken:
                return self.ended
            if write == stream.direct:
                stream.trim()
                self._pause(stream)
            yield
            stream.quiet = None

    def begin_behind(self, stream: Stream, seam: Seam) -> Callable[[str], list[Event] | None]:
        """For `Stream.along`: goes on with the container whose bracket is the last character of the seam.
        The literal is `away` then, until `pass_through`."""

        def begin(text: str) -> list[Event] | None:
            over = next((one for one in seam.over if _leads_in.fullmatch(one) and text.startswith(one)), "")
            if not over:
                return None
            at = self.read(text, len(over) - 1, False)
            if self.ended or self.broken:
                self.__init__(self._after)  # type: ignore[misc]
                return None
            stream.text = text[at:]
            self._pause(stream)
            return stream.say(self.json)

        return begin

    def _pause(self, stream: Stream) -> None:
        self.away = True
        stream.pause(self._hush(stream), (self.stack, self.quote, self._after))

    def _enter(self, known: Known) -> None:
        """Goes on from a state of the short way."""
        self.stack, self.quote, self._after = cast(tuple[str, str, str], known.way)

    def _hush(self, stream: Stream) -> Quiet:
        """The short way: as long as the literal does not end, nobody else need know of it."""

        def hush(chunk: str) -> list[Event] | None:
            text = stream.text + chunk
            if len(text) > _LONG:
                return None
            self._enter(stream.known)
            at = self._go_on(text)
            if self.ended or self.broken:
                self.away = False
                stream.text, stream.at = text, at
                return stream.wake("")
            waits, way = text[at:], (self.stack, self.quote, self._after)
            stream.settle(chunk, None, self.json, waits, way, _kind(waits))
            return stream.say(self.json)

        return hush

    def _go_on(self, text: str) -> int:
        """As `read`, when more will come; quicker where all is as it mostly is."""
        if self.quote and not _special[self.quote](text):
            self.json = text
            return len(text)
        found = _smooth[self.quote](text) if self.stack and self.quote != "'" else None
        if found is None or found.lastgroup is None:
            return self.read(text, 0, False)
        at = len(text) if found.lastgroup == "inside" else found.start(found.lastgroup)
        self.quote = "" if found.lastgroup == "waits" else '"'
        self.json = text[:at]
        return at


_leads_in = regex(r"[^{}\[\]]*\{")
"""Whether a text opens one brace, at its end, and closes none."""


def _kind(waits: str) -> str:
    """An example of the kind of number that waits, "" if none does that any other could stand for."""
    found = _any_number.fullmatch(waits)
    return "" if found is None else "0.1" if found[1] else "1"


def container(stream: Stream, write: Write) -> Reading[bool]:
    """Reads the container at `stream.at`; see `Literal.pass_through`."""
    return Literal().pass_through(stream, write)


def string(stream: Stream, write: Write, after: str) -> Reading[bool]:
    """Reads the quoted string at `stream.at`; see `Literal`."""
    return Literal(after).pass_through(stream, write)


def plain(word: str) -> str:
    """A bare word as JSON."""
    return WORDS.get(word.lower()) or (word if number(word) else quoted(word))


class Unwrapped:
    """A `write` for `string`: takes the JSON string that holds arguments apart and writes what it holds.

    If that is no object, the string stands for itself.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._inner = Literal()
        self._escaped = ""
        """What has come of the string and is not decoded yet."""
        self._rest = ""
        """What is decoded and not read yet."""
        self._object = False

    def __call__(self, piece: str) -> None:
        """More of the string, its quotes included."""
        self._escaped += piece
        if not self._object and self._escaped[1:].lstrip()[:1] == "{":
            self._object = True
            self._escaped = self._escaped[1:].lstrip()
        if self._object and not _high_surrogate(self._escaped) and not self._inner.ended:
            body = self._escaped[:-1] if _closed(self._escaped) else self._escaped
            text = self._rest + str(json.loads(f'"{body}"'))
            self._rest = text[self._inner.read(text, 0, False) :]
            self._escaped = ""
            self._write(self._inner.json)

    def close(self) -> bool:
        """At the string's end: whether it held a whole value."""
        if not self._object:
            self._write(self._escaped if self._escaped.strip('" ') else "{}")
            return True
        return self._inner.ended


def _closed(text: str) -> bool:
    """Whether escaped text ends in a quote of its own: the string's."""
    return text.endswith('"') and (len(text) - len(text[:-1].rstrip("\\")) - 1) % 2 == 0


def _high_surrogate(text: str) -> bool:
    """Whether the text ends in the first half of an escaped pair."""
    return text[-6:-4] == "\\u" and text[-4:-2].lower() in ("d8", "d9", "da", "db")
