"""What to look for where the format says nothing: reasoning in a tag that names it, calls of declared tools.

A template that never renders reasoning or calls does not say how its model writes them; models write them all
the same. What is read by these guesses is marked as guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatlint.lazy import regex
from chatlint.parse.formats import OutputFormat, Syntax, ToolCalls
from chatlint.parse.markers import Marker, MarkerSet, marker
from chatlint.parse.notation import Encoding, Members, Values, Written
from chatlint.parse.patterns import literal
from chatlint.parse.plans import Entry, Plan, compile_calls
from chatlint.parse.schemas import Tools
from chatlint.parse.turns import Kind, Mark, Turn

_PYTHON = Written(encoding=Encoding.PYTHON)
_OBJECT = ToolCalls(guess=True)
_KEYWORDS = ToolCalls(
    body="⟨name⟩(⟨arguments⟩", call_end=")", syntax=Syntax.TEXT, separator=", ", guess=True,
    members=Members("⟨key⟩=⟨value⟩", separator=", "),
    values=Values(_PYTHON, _PYTHON, _PYTHON, _PYTHON, _PYTHON, _PYTHON, _PYTHON),
)  # fmt: skip

_TAG = r"(?:<[^<>\s]{1,64}>|\[[A-Z][A-Z_]{1,40}\]|```\w{0,20})"
_OPENED = regex(rf"(?:{_TAG}\s{{0,64}})?(?:\[\s{{0,64}})?\Z")
_OPENING = regex(
    rf"{_TAG}\s{{0,64}}(?:\[\s{{0,64}})?\Z|\[\s{{0,64}}\Z|(?:<[^<>\s]{{0,64}}|\[[A-Z_]{{0,40}}|`{{1,3}})\Z"
)
_CLOSING = regex(r"(?:\s{0,64}\])?(?:\s{0,64}(?:</?[^<>\s]{1,64}>|\[/[A-Z][A-Z_]{1,40}\]|```))?")
_MAY_CLOSE = regex(r"(?:\s{0,64}\])?\s{0,64}(?:<[^<>\s]{0,64}|\[[A-Z_/]{0,40}|`{1,2})?\Z")
_TAGS = regex(r"\s{0,64}(<[^<>\s/]{1,64}>|\[[A-Z][A-Z_]{1,40}\])")
_TAG_BEGUN = regex(r"\s{0,64}(?:<[^<>\s/]{0,64}|\[[A-Z_]{0,40})?\Z")
_NAMES_REASONING = regex("think|thought|reason", re.IGNORECASE)
_REACH = 256
"""How far back a tag before a call may begin."""


def before(text: str, at: int, start: int) -> int:
    """Where what belongs to a guessed call at `start` begins: a tag before it, the bracket of a list."""
    match = _OPENED.search(text, max(at, start - _REACH), start)
    return match.start() if match else start


def held_from(text: str, at: int, end: int) -> int:
    """From where on the text before `end` may come to stand before a guessed call, and must wait."""
    match = _OPENING.search(text, max(at, end - _REACH), end)
    return match.start() if match else end


def may_close(text: str, at: int) -> bool:
    """Whether more text may turn the text from a place on into what closes a guessed call."""
    return _MAY_CLOSE.match(text, at) is not None


def closing(text: str, at: int) -> int:
    """Where what closes a guessed call ends."""
    match = _CLOSING.match(text, at)
    return match.end() if match else at


def reasoning_tag(text: str) -> tuple[int, str] | None:
    """Where a tag that names reasoning ends, at the beginning of the text, and the tag."""
    match = _TAGS.match(text)
    return (match.end(), match[1]) if match and _NAMES_REASONING.search(match[1]) else None


def may_be_tag(text: str) -> bool:
    """Whether the text may come to begin with a tag."""
    return _TAG_BEGUN.match(text) is not None


def mirrors(tag: str) -> list[str]:
    """What may close what a tag opens: the tag with a slash, or with the opposite word."""
    inner = tag[1:]
    found = [f"{tag[0]}/{inner}", *([f"{tag[0]}{inner[0]}/{inner[1:]}"] if not inner[0].isalnum() else [])]
    for word, opposite in (("begin", "end"), ("start", "end"), ("BEGIN", "END"), ("START", "END")):
        if word in tag:
            found.append(tag.replace(word, opposite))
    return found


def with_reasoning(turn: Turn, tag: str) -> Turn:
    """The turn with the closers of a guessed opener."""
    ends = [Mark(Kind.REASONING_END, mark) for text in mirrors(tag) if (mark := marker(literal(text)))]
    marks = [*ends, *(mark for _, mark in turn.reasoning.entries)]
    return turn._replace(reasoning=MarkerSet((mark.marker, mark) for mark in marks))


def with_calls(turn: Turn, output: OutputFormat, tools: Tools) -> Turn:
    """The turn with calls of declared tools: as an object literal, or as `name(key=value)`."""
    marks = [*_guessed(output, tools), *(mark for _, mark in turn.content.entries)]
    return turn._replace(content=MarkerSet((mark.marker, mark) for mark in marks))


def _guessed(output: OutputFormat, tools: Tools) -> Iterator[Mark]:
    objects, keywords = (compile_calls(calls, output, loose=True) for calls in (_OBJECT, _KEYWORDS))
    for mark, entry in objects.entries.entries:
        if mark.first == "{":
            yield Mark(Kind.CALL, mark, entry, objects)
    for name in tools.names:
        call: Marker | None = marker(f"{literal(name)}(")
        if call:
            yield _named(call, keywords)


def _named(call: Marker, plan: Plan) -> Mark:
    return Mark(Kind.CALL, call, Entry(0, weak=True, passed=False), plan)
