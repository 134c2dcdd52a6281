"""Where a report for a person is drawn: how wide, with which colours and which characters.

Styled text is a sequence of (text, style) pieces, so that widths are counted without escape sequences. Every
text is made visible when it is drawn: what comes from a template can neither steer a terminal nor hide.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TextIO, TypeAlias

from chatlint.records import dataclass
from chatlint.text import visible

Piece: TypeAlias = tuple[str, str]
"""Text and the name of its style ("" for none)."""
Line: TypeAlias = Sequence[Piece]

_UNTOLD = 80
"""Columns of a terminal that does not say how many it has."""

STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "good": "32",
    "bad": "31",
    "part": "33",
    "strong": "1",
    "faint": "2",
    "rule": "1;34",
    "input": "32",
    "key": "36",
    "special": "1;35",
    "literal": "33",
    "computed": "34",
}

PLAIN = {
    "⏎": "\\n", "⇥": "\\t", "␍": "\\r", "␛": "\\e", "⟨": "<", "⟩": ">", "…": "...", "›": ">", "·": "|",
    "✓": "+", "✗": "-", "◐": "~", "│": "|", "─": "-", "▏": "|", "→": "->", "×": "x", "–": "-", "!": "!",
}  # fmt: skip
"""What stands in for the characters we draw with where the output cannot hold them."""

NARROWEST, WIDEST = 30, 120


@dataclass(frozen=True, slots=True)
class Canvas:
    """`width` in terminal cells; `colour` writes ANSI sequences; without `unicode` all output is ASCII;
    `verbose` asks for everything where a short form would do."""

    width: int = 80
    colour: bool = False
    unicode: bool = True
    verbose: bool = False

    def draw(self, line: Line) -> str:
        """One line as it is written."""
        runs = groupby(line, key=lambda piece: piece[1])
        return "".join(self._piece("".join(text for text, _ in run), style) for style, run in runs).rstrip()

    def _piece(self, text: str, style: str) -> str:
        text = self.spell(text)
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and style and text.strip() else text

    def spell(self, text: str) -> str:
        """`text` made visible, in the characters this canvas has."""
        text = visible(text)
        if self.unicode or text.isascii():
            return text
        plain = "".join(PLAIN.get(character, character) for character in text)
        return plain.encode("ascii", "backslashreplace").decode("ascii")

    def cells(self, text: str) -> int:
        """Terminal cells that `text` takes here."""
        text = self.spell(text)
        return len(text) if text.isascii() else sum(_cells(character) for character in text)

    def fit(self, text: str, room: int) -> str:
        """`text` made visible, cut with an ellipsis if it takes more than `room` cells."""
        text = visible(text)
        if self.cells(text) <= room:
            return text
        return text[: self._fitting(text, room - self.cells("…"))] + "…"

    def wrap(self, words: Iterable[Piece], indent: str = "", first: Line = ()) -> Iterator[str]:
        """Words set in lines, broken between words; `first` opens the first line, `indent` the others. A word
        wider than a line is cut into pieces that fit."""
        line = list(first)
        used = start = self.cells("".join(text for text, _ in first))
        for text, style in (piece for word in words for piece in self._chunks(word, len(indent))):
            space = 1 if used > start else 0
            if used > len(indent) and used + space + self.cells(text) > self.width:
                yield self.draw(line)
                line, used, start, space = [(indent, "")], len(indent), len(indent), 0
            line.append((" " * space + text, style))
            used += space + self.cells(text)
        yield self.draw(line)

    def fold(self, pieces: Line, indent: str = "", first: Line = ()) -> Iterator[str]:
        """Pieces set one after the other without space. Literal text is broken wherever a line is full; what
        else there is stays whole where it fits on a line."""
        line = list(first)
        used = self.cells("".join(text for text, _ in first))
        for text, style in pieces:
            rest = visible(text)
            if style != "literal" and used > len(indent) and used + self.cells(rest) > self.width:
                yield self.draw(line)
                line, used, rest = [(indent, "")], len(indent), rest.lstrip()
            while rest:
                fits = self._fitting(rest, self.width - used)
                line.append((rest[:fits], style))
                used += self.cells(rest[:fits])
                rest = rest[fits:]
                if rest:
                    yield self.draw(line)
                    line, used = [(indent, "")], len(indent)
        yield self.draw(line)

    def _fitting(self, text: str, room: int) -> int:
        """How many characters of `text` take at most `room` cells."""
        if self.cells(text) <= room:
            return len(text)
        for count, character in enumerate(text):
            room -= self.cells(character)
            if room < 0:
                return count
        return len(text)

    def _chunks(self, word: Piece, indent: int) -> Iterator[Piece]:
        text, style = visible(word[0]), word[1]
        room = max(self.width - indent, 10)
        while self.cells(text) > room:
            cut = max(1, len(self.fit(text, room)) - 1)
            yield text[:cut], style
            text = text[cut:]
        yield text, style


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _columns() -> int:
    """The terminal's width as `shutil.get_terminal_size` has it, without all the archives that it imports."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size().columns or _UNTOLD
    except OSError:
        return _UNTOLD


def canvas_for(stream: TextIO, colour: str = "auto", *, verbose: bool = False) -> Canvas:
    """The canvas that `stream` is. `colour` is auto, always or never; auto follows NO_COLOR (no-color.org),
    then FORCE_COLOR, then whether `stream` is a terminal."""
    width = _columns()
    encoding = (getattr(stream, "encoding", None) or "ascii").lower()
    return Canvas(
        width=min(max(width, NARROWEST), WIDEST),
        colour=_wants_colour(stream, colour),
        unicode=encoding.replace("-", "").startswith("utf"),
        verbose=verbose,
    )


def _wants_colour(stream: TextIO, colour: str) -> bool:
    if colour != "auto":
        return colour == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
