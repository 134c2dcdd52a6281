"""A prompt that knows where every character came from.

`Prompt.spans` cover `Prompt.text` without gap or overlap; each has one origin:

- `Input`     characters of the conversation: the value at a JSON pointer, or a member's name;
- `Literal`   written by the template at a line and column;
- `Special`   a special token that the template printed (`bos_token` …);
- `Computed`  produced by an expression that is neither (a loop counter, a date).

Pointers (RFC 6901) are into the conversation *as the caller gave it*; roots are `messages`, `tools`,
`documents` and each template kwarg by its name.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class Input:
    """Characters of the value at `pointer` from `offset` (code points); `offset` is None where they were
    derived (JSON escapes, case changes, `repr`). With `key`, of the name of the last member instead."""

    pointer: str
    offset: int | None
    key: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """Template text at this one-based line and column."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Special:
    """A special token, by the name of the template variable that held it."""

    name: str


@dataclass(frozen=True, slots=True)
class Computed:
    """The result of an expression on this line that carries no input."""

    line: int


Origin: TypeAlias = Input | Literal | Special | Computed


class Span(NamedTuple):
    """Characters `start` to `end` of a prompt and where they came from. A tuple, since there are very many:
    those are made fastest."""

    start: int
    end: int
    origin: Origin


class Prompt:
    """A rendered conversation: its text, and spans that cover it without gap or overlap. Immutable.

    `spans` may be given as a function, which is called when they are first looked at: many prompts are only
    compared as texts. `known` is what readers found out about it and look up again, by keys of their own.
    """

    __slots__ = ("_index", "_pointers", "_spans", "known", "text")
    __match_args__ = ("text", "spans")

    def __init__(self, text: str, spans: tuple[Span, ...] | Callable[[], tuple[Span, ...]]) -> None:
        self.text = text
        self._spans = spans
        self._index: dict[str, list[Span]] | None = None
        self._pointers: list[str] = []
        self.known: dict[str, object] = {}

    @property
    def spans(self) -> tuple[Span, ...]:
        """In order; each begins where the one before it ends."""
        if not isinstance(self._spans, tuple):
            self._spans = self._spans()
        return self._spans

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prompt):
            return NotImplemented
        return self.text == other.text and self.spans == other.spans

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Prompt(text={self.text!r}, spans={self.spans!r})"

    def __reduce__(self) -> tuple[type[Prompt], tuple[str, tuple[Span, ...]]]:
        return Prompt, (self.text, self.spans)

    def piece(self, span: Span) -> str:
        """The text of one of its spans."""
        return self.text[span.start : span.end]

    def inputs(self, pointer: str = "", *, below: bool = True, key: bool | None = None) -> Iterator[Span]:
        """Spans of the value at `pointer`, with `below` also of everything inside it; `key` selects
        names of members (True), values (False) or both (None)."""
        found = self._below(pointer) if below else self._by_pointer().get(pointer, [])
        return iter(found) if key is None else (span for span in found if _is_key(span) is key)

    def _below(self, pointer: str) -> list[Span]:
        """Spans of the value at `pointer` and of everything inside it, in order."""
        index = self._by_pointer()
        first = bisect_left(self._pointers, pointer + "/")
        inside = self._pointers[first : bisect_left(self._pointers, pointer + _AFTER_SLASH)]
        if pointer in index:
            inside.append(pointer)
        if len(inside) == 1:
            return index[inside[0]]
        return sorted(chain(*(index[one] for one in inside)), key=_start)

    def _by_pointer(self) -> dict[str, list[Span]]:
        """Input spans by pointer: a prompt is asked for many values."""
        index = self._index
        if index is None:
            index = {}
            for span in self.spans:
                origin = span[2]
                if type(origin) is Input:
                    known = index.get(origin.pointer)
                    if known is None:
                        index[origin.pointer] = [span]
                    else:
                        known.append(span)
            self._pointers = sorted(index)
            self._index = index  # last: another thread may look
        return index

    def shows(self, pointer: str, *, below: bool = True) -> bool:
        """Whether any character of the value at `pointer` reached the prompt."""
        return any(True for _ in self.inputs(pointer, below=below))


_AFTER_SLASH = "0"
"""The character that follows `/`: pointers to what is in a value stand between the two."""
_start = itemgetter(0)


def _is_key(span: Span) -> bool:
    origin = span[2]
    return type(origin) is Input and origin.key


def pointer_token(name: str) -> str:
    """A member's name as one reference token of a JSON pointer (RFC 6901, section 3)."""
    if "~" in name or "/" in name:
        return name.replace("~", "~0").replace("/", "~1")
    return name


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names in a sentence, each once: `a`, `a and b`, `a, b and c`."""
    *first, end = dict.fromkeys(names)
    return f"{', '.join(first)} {last} {end}" if first else end


_VISIBLE = {"\n": "⏎", "\t": "⇥", "\r": "␍", "\x1b": "␛"}


def visible(text: str) -> str:
    """`text` with every control character, bidirectional mark, lone surrogate and invisible character
    spelled out, so that a hostile template cannot steer a terminal or hide what it prints."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _spelled(character) for character in text)


def visible_json(value: object, indent: int | None = None) -> str:
    """A value as JSON for people: as it is written, but for characters that are not to be seen, which are
    escaped. Any reader takes it for the same value."""
    import json

    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
        for character in json.dumps(value, ensure_ascii=False, indent=indent)
    )


def _spelled(character: str) -> str:
    return _VISIBLE.get(character) or f"⟨U+{ord(character):04X}⟩"
