"""The tokens of a template and their places, all at once, as far as they are what templates mostly have.

Jinja's lexer tries one expression after another for each token, and goes through three generators. Here one
expression finds the next token. What is unusual (an error, a raw block, a name that is not ASCII, more tokens
than are compiled) is left to Jinja's own lexer (`grammar`), from the start: so errors are Jinja's.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from operator import itemgetter
from re import Match
from typing import TypeAlias

from jinja2.lexer import TOKEN_EOF, Token, TokenStream, float_re, integer_re, operators

from chatlint.lazy import regex
from chatlint.limits import COMPILE_TOKENS

_Scan: TypeAlias = Callable[[str, int], Iterator[Match[str]]]

_RAW = regex(r"\{%[-+]?\s*raw\s*-?%\}")
_TAG = regex(r"\{([{%#])([-+]?)")
_SPACE = regex(r"\s*")
_MOST = COMPILE_TOKENS // 2
"""So many tokens are at most `COMPILE_TOKENS` pieces: white space may stand before each."""

_NAME, _END, _SIGN, _STRING, _FLOAT = range(1, 6)
_WITHIN = rf"""(?sx)
\s*+
(?: ([A-Za-z_][A-Za-z0-9_]*+(?![^\x00-\x7f]))
  | (%s)
  | (//|\*\*|[=!<>]=|[-+/*%%~\[\](){{}}<>=.:|,;])
  | ('[^'\\]*+(?:\\.[^'\\]*+)*+' | "[^"\\]*+(?:\\.[^"\\]*+)*+")
  | ((?ix:{float_re.pattern}))
  | ((?ix:{integer_re.pattern}))
  | .
  | \Z  # else the search would begin again behind each character of white space
)
"""
_IN_BLOCK = regex(_WITHIN % r"\+%\}|-%\}\s*|%\}\n?")
_IN_VARIABLE = regex(_WITHIN % r"-\}\}\s*|\}\}")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BRACKETS = frozenset("()[]{}")


class PlacedToken(Token):
    """A token that has the offset of its first character, behind its other fields."""

    __slots__ = ()
    offset = property(itemgetter(3))

    def test(self, expr: str) -> bool:
        kind = self[1]
        return kind == expr or (kind == "name" and expr[:5] == "name:" and expr[5:] == self[2])

    def test_any(self, *iterable: str) -> bool:
        kind = self[1]
        return kind in iterable or (kind == "name" and f"name:{self[2]}" in iterable)


placed_token = partial(tuple.__new__, PlacedToken)
"""Makes one of (line, kind, value, offset)."""


class PlacedText(str):
    """Template data at an offset; `full`, from `begin` on, is what it is untrimmed."""

    __slots__ = ("begin", "full", "offset")
    offset: int
    full: str
    begin: int

    def __bool__(self) -> bool:
        return True  # else the parser leaves out what is trimmed altogether

    def isspace(self) -> bool:
        return not len(self) or str.isspace(self)  # else a required block might hold no white space


def data_token(line: int, data: str, offset: int, full: str, begin: int) -> PlacedToken:
    """A token of template data."""
    text = PlacedText(data)
    text.offset, text.full, text.begin = offset, full, begin
    return placed_token((line, "data", text, offset))


class Tokens(TokenStream):
    """A stream of tokens that are all there; the last is the end."""

    def __init__(self, tokens: list[PlacedToken], name: str | None, filename: str | None) -> None:
        self._tokens = tokens
        self._at = 0
        self.current = tokens[0]
        self.name, self.filename = name, filename
        self.closed = False

    def __bool__(self) -> bool:
        return self.current.type is not TOKEN_EOF

    def __next__(self) -> Token:
        token = self.current
        if token.type is not TOKEN_EOF:
            self._at += 1
            self.current = self._tokens[self._at]
        return token

    def expect(self, expr: str) -> Token:
        return self.__next__() if self.current.type == expr else super().expect(expr)

    def look(self) -> Token:
        return self._tokens[self._at + bool(self)]


class _UnusualError(Exception):
    pass


def quick_tokens(text: str) -> list[PlacedToken] | None:
    """The tokens of a normalised source, None where Jinja's lexer must be asked."""
    if _RAW.search(text):
        return None
    try:
        return _Cutter(text).cut()
    except _UnusualError:
        return None


class _Cutter:
    """Cuts a template. What is before `at` is cut; it is template data from `begin` on, which is on `line`:
    the two differ by a line break that is trimmed."""

    __slots__ = ("_at", "_begin", "_comments", "_found", "_line", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[PlacedToken] = []
        self._at = self._begin = self._comments = 0
        self._line = 1

    def cut(self) -> list[PlacedToken]:
        text, found = self._text, self._found
        while opening := _TAG.search(text, self._at):
            brace, sign = opening.groups()
            self._data(opening.start(), brace, sign)
            if brace == "#":
                self._comment(opening)
            else:
                self._tag(opening, brace)
            if 2 * len(found) + 3 * self._comments > COMPILE_TOKENS:
                raise _UnusualError
        self._data(len(text), "{", "")
        found.append(placed_token((found[-1].lineno if found else 1, TOKEN_EOF, "", len(text))))
        return found

    def _data(self, end: int, brace: str, sign: str) -> None:
        """Template data before a tag."""
        at, begin, text = self._at, self._begin, self._text
        full, data = text[begin:end], text[at:end]
        if sign == "-":
            full, data = full.rstrip(), data.rstrip()
        elif brace != "{" and not sign:
            last = data.rfind("\n") + 1
            if data[last:].isspace() and (last or not at or text[at - 1] == "\n"):
                data = data[:last]
        if data or full:
            place = at if data else begin
            line = self._line + text.count("\n", begin, place)
            self._found.append(data_token(line, data, place, full, begin))
        self._line += text.count("\n", begin, end)

    def _behind(self, start: int, begin: int, at: int) -> None:
        """A tag that ends here was cut, its line being that of `start`."""
        self._line += self._text.count("\n", start, begin)
        self._begin, self._at = begin, at

    def _comment(self, opening: Match[str]) -> None:
        start = opening.end()
        end = self._text.find("#}", start)
        if end < 0:
            raise _UnusualError
        sign = self._text[end - 1] if end > start else ""
        begin = at = end + 2
        if sign == "-":
            begin = at = _SPACE.match(self._text, at).end()  # type: ignore[union-attr]
        elif sign != "+":
            at += self._text.startswith("\n", at)
        self._comments += 1
        self._behind(start, begin, at)

    def _tag(self, opening: Match[str], brace: str) -> None:
        scan: _Scan = _IN_BLOCK.finditer if brace == "%" else _IN_VARIABLE.finditer
        kind = "block_begin" if brace == "%" else "variable_begin"
        self._found.append(placed_token((self._line, kind, opening[0], opening.start())))
        closing: list[str] = []
        at: int | None = opening.end()
        while at is not None:
            at = self._inside(scan, at, closing)

    def _inside(self, scan: _Scan, at: int, closing: list[str]) -> int | None:
        """Cut from `at` to the end of the tag; or to behind a sign that would end it but for brackets that
        are open."""
        text, add = self._text, self._found.append
        line, newline = self._line, _newline(self._text, at)
        for piece in islice(scan(text, at), _MOST):
            kind = piece.lastindex
            if kind is None:
                break
            start, end = piece.span(kind)
            if start > newline:
                line += text.count("\n", newline, start)
                newline = _newline(text, start)
            value = text[start:end]
            if kind == _NAME:
                add(placed_token((line, "name", value, start)))
            elif kind == _SIGN:
                add(placed_token((line, operators[value], value, start)))
                if value in _BRACKETS:
                    _balance(closing, value)
            elif kind != _END:
                add(_constant(line, kind, value, start))
            else:
                self._line = line
                return self._end(start, value, closing)
        raise _UnusualError

    def _end(self, start: int, value: str, closing: list[str]) -> int | None:
        """What ends a tag, unless brackets are open: then its first sign is one like others."""
        if closing:
            self._found.append(placed_token((self._line, operators[value[0]], value[0], start)))
            if value[0] == "}":
                _balance(closing, "}")
            return start + 1
        kind = "block_end" if "%" in value else "variable_end"
        self._found.append(placed_token((self._line, kind, value, start)))
        end = start + len(value)
        self._behind(start, end if value[0] == "-" else start + len(value.rstrip()), end)
        return None


def _newline(text: str, at: int) -> int:
    found = text.find("\n", at)
    return found if found >= 0 else len(text)


def _balance(closing: list[str], bracket: str) -> None:
    if bracket in _CLOSING:
        closing.append(_CLOSING[bracket])
    elif not closing or closing.pop() != bracket:
        raise _UnusualError


def _constant(line: int, kind: int, value: str, start: int) -> PlacedToken:
    """A string or a number, read as Jinja reads it."""
    if kind == _STRING:
        text = value[1:-1]
        return placed_token((line, "string", _unescaped(text) if "\\" in text else text, start))
    digits = value.replace("_", "")
    try:
        number = literal_eval(digits) if kind == _FLOAT else int(digits, 0)
    except (ValueError, SyntaxError) as error:
        raise _UnusualError from error
    return placed_token((line, "float" if kind == _FLOAT else "integer", number, start))


def _unescaped(text: str) -> str:
    try:
        return text.encode("ascii", "backslashreplace").decode("unicode-escape")
    except (UnicodeError, Warning) as error:  # a warning where warnings are errors
        raise _UnusualError from error
