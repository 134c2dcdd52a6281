"""Comments in a template that ask not to be told of a rule: `{# chatlint: ignore[prefix-break] why #}`.

Theory of operation. A comment is no text, but where it stands it can keep a tag from stripping the white
space before it, and then the prompt is another one. So a comment counts only if the template without it (and,
where it is alone on a line, without that line) is cut by Jinja's lexer into the same text and the same tags.
That is exact, and renders nothing.

A comment before anything else holds for the whole template, any other for the tag or line that comes next, or
that it shares a line with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from chatlint.lazy import regex
from chatlint.limits import IGNORE_TRIAL_CHARACTERS, IGNORES
from chatlint.records import dataclass

MARK = "chatlint:"
_SAID = regex(r"\s*chatlint:\s*ignore\s*\[([^\]]*)\]\s*:?(.*)", re.DOTALL)
_CODE = regex(r"ct\d+")
_MINE = regex(r"\s*chatlint:")
_BEGINS = frozenset(("block_begin", "variable_begin", "raw_begin"))
_ENDS = frozenset(("block_end", "variable_end", "raw_end"))


@dataclass(frozen=True, slots=True)
class Ignore:
    """One such comment. `lines` are the first and last template line that it holds for, None where that is
    the whole template. `harmless` is False where it changes the prompt; a comment without rules was not
    understood."""

    line: int
    rules: tuple[str, ...]
    reason: str
    lines: tuple[int, int] | None
    harmless: bool = True

    def holds(self, rule: str, code: str, line: int) -> bool:
        """Whether it asks not to be told of a finding of that rule in that template line, 0 for none."""
        here = self.lines is None or self.lines[0] <= line <= self.lines[1]
        return self.harmless and here and (rule in self.rules or code in self.rules)


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    kind: str
    value: str


@lru_cache(maxsize=8)
def ignores_in(text: str) -> tuple[Ignore, ...]:
    """The comments of a template that speak to chatlint; the first one beyond `limits.IGNORES` is the last,
    and says nothing. Of a template that Jinja cannot cut into tags there are none: it has other troubles."""
    if MARK not in text:
        return ()
    from chatlint.render.grammar import normalised

    source = normalised(text)
    pieces = _pieces(source)
    comments = [piece for piece in _comments(pieces) if _MINE.match(piece.value)]
    if not comments:
        return ()
    read, beyond = comments[:IGNORES], comments[IGNORES : IGNORES + 1]
    harmful = _harmful(source, read, _meaning(pieces))
    found = [_ignore(source, pieces, one, harmless=one not in harmful) for one in read]
    return (*found, *(Ignore(_line(source, one.start), (), "", None) for one in beyond))


def _harmful(source: str, comments: Sequence[_Piece], meaning: list[tuple[str, str]]) -> list[_Piece]:
    """The comments without which the template would say something else, when those that it can do without
    are gone."""
    if _meaning(_pieces(_without(source, comments))) == meaning:
        return []
    harmful = []
    trials = max(IGNORE_TRIAL_CHARACTERS // (len(source) + 1), 1)
    for trial, comment in enumerate(reversed(comments)):
        shorter = _without(source, [comment])
        if trial < trials and _meaning(_pieces(shorter)) == meaning:
            source = shorter
        else:
            harmful.append(comment)
    return harmful


def _pieces(source: str) -> list[_Piece]:
    from jinja2 import TemplateSyntaxError

    from chatlint.render.grammar import parsing_environment, pieces
    from chatlint.render.guard import BoundError

    try:
        cut = list(pieces(parsing_environment(), source))
    except (TemplateSyntaxError, BoundError):
        return []
    return [_Piece(at, at + len(value), kind, value) for at, (_, kind, value) in cut]


def _comments(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Each comment from its first brace to its last, with what it says."""
    start, said = 0, ""
    for piece in pieces:
        if piece.kind == "comment_begin":
            start, said = piece.start, ""
        elif piece.kind == "comment":
            said += piece.value
        elif piece.kind == "comment_end":
            yield _Piece(start, piece.start + piece.value.index("#}") + 2, "comment", said)


def _meaning(pieces: Iterable[_Piece]) -> list[tuple[str, str]]:
    """What the template says: text and tags, without comments and the white space inside tags."""
    found: list[tuple[str, str]] = []
    for piece in pieces:
        if piece.kind.startswith("comment") or piece.kind == "whitespace":
            continue
        if piece.kind == "data" and found and found[-1][0] == "data":
            found[-1] = ("data", found[-1][1] + piece.value)
        elif piece.kind == "data":
            found.append(("data", piece.value))
        else:
            found.append((piece.kind, "" if piece.kind in _BEGINS | _ENDS else piece.value))
    return [one for one in found if one != ("data", "")]


def _without(source: str, comments: Sequence[_Piece]) -> str:
    """The source without these comments; a line that has nothing else goes with its comment."""
    for comment in reversed(comments):
        start, end = comment.start, comment.end
        if alone := _own_lines(source, comment):
            start, end = alone
        source = source[:start] + source[end:]
    return source


def _own_lines(source: str, comment: _Piece) -> tuple[int, int] | None:
    """From the begin of its first line to behind its last, None where something else stands there."""
    start = source.rfind("\n", 0, comment.start) + 1
    end = source.find("\n", comment.end)
    end = len(source) if end < 0 else end + 1
    alone = not source[start : comment.start].strip() and not source[comment.end : end].strip()
    return (start, end) if alone else None


def _ignore(source: str, pieces: list[_Piece], comment: _Piece, *, harmless: bool) -> Ignore:
    said = _SAID.fullmatch(comment.value.removeprefix("-").removesuffix("-"))
    rules = [name.strip() for name in said.group(1).split(",")] if said else []
    return Ignore(
        _line(source, comment.start),
        tuple(name.upper() if _CODE.fullmatch(name) else name for name in rules if name),
        said.group(2).strip() if said else "",
        _lines(source, pieces, comment),
        harmless,
    )


def _lines(source: str, pieces: list[_Piece], comment: _Piece) -> tuple[int, int] | None:
    """The lines it holds for."""
    before = (piece for piece in pieces if piece.end <= comment.start)
    if not any(piece.value.strip() and not piece.kind.startswith("comment") for piece in before):
        return None
    start = comment.start
    if _own_lines(source, comment):
        later = (piece for piece in pieces if piece.start >= comment.end and piece.value.strip())
        start = next((piece.start for piece in later if not piece.kind.startswith("comment")), len(source))
        start += len(source[start:]) - len(source[start:].lstrip())
    first = _line(source, start)
    return first, max(first, _line(source, _end_of_tag(pieces, start, source)))


def _end_of_tag(pieces: list[_Piece], place: int, source: str) -> int:
    """Where the last tag that begins on the line of `place` ends."""
    first, behind = source.rfind("\n", 0, place) + 1, source.find("\n", place)
    behind = len(source) if behind < 0 else behind
    end, within = 0, False
    for piece in pieces:
        if piece.kind in _BEGINS:
            within = first <= piece.start <= behind
            if piece.start > behind:
                break
        elif piece.kind in _ENDS and within:
            end, within = piece.start, False
    return end


def _line(source: str, offset: int) -> int:
    return source.count("\n", 0, offset) + 1
