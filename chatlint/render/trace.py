"""Strings that know where their characters came from.

Theory of operation. A render runs with the template's own Jinja code, but every text in it is a `Traced`: a
`str` that carries runs (`chatlint.render.runs`). Inputs are wrapped once per conversation, with one source
for each value and each member's name; literals of the template are wrapped when the template is loaded;
special tokens when it is opened. Whatever makes a string out of strings then makes a `Traced` out of
theirs: methods and operators here, `printf` and `str.format` in `trace_format`, filters in `trace_filters`,
JSON in `trace_json`, printed containers in `trace_containers`, HTML-safe strings in `trace_markup`, numbers
in `trace_numbers`. The code generator (`codegen`) calls the functions below where Jinja's own code would
use `"".join`, `str()` or an operator that loses a subclass.

Three rules keep the text exactly what it would be without this:

1. The text is computed first, by the operation that Python or Jinja has; runs second. Where a text put
   together from the runs' parts would differ, the text stands and is attributed as a whole (`smeared`).
2. `Traced` inherits equality, hash, `in`, searches, tests and `repr`. It calls itself `str`, so that
messages of exceptions are word for word the same. 3. A plain `str` that turns up is one that an unknown
operation made: it is `Computed`, never template text.

A text that an expression makes of something that is no text (a counter, `None`, a date) is `Computed` on
the line that `here` stands at. The generated code moves `here` with every statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import SupportsIndex, TypeAlias

from jinja2.runtime import Undefined
from markupsafe import Markup

from chatlint.render import guard
from chatlint.render.runs import (
    DERIVED,
    Run,
    Runs,
    Source,
    computed_source,
    cut,
    derived,
    fused,
    pick,
    recast,
)

here: list[int] = [0]
"""The place (see `codegen`) of the statement that runs now, as an index into `_lines`."""
_lines: list[Source] = [computed_source(0)]
_MANY = 64
_new = str.__new__
Bound: TypeAlias = SupportsIndex | None


def stand(lines: Sequence[Source]) -> None:
    """Begin a render: `lines` are the sources of what is computed at each place."""
    _lines[:] = lines
    here[0] = 0


def computed_here() -> Source:
    """The source of what is computed now."""
    return _lines[here[0]]


def traced(text: str, runs: Runs) -> Traced:
    """`text` with these runs."""
    found = _new(Traced, text)
    found._runs = runs
    return found


def computed(text: str) -> Traced:
    """A text that the running expression made of no text."""
    found = _new(Traced, text)
    found._runs = ((len(text), _lines[here[0]], DERIVED),) if text else ()
    return found


def runs_of(text: str) -> Runs:
    """The runs of any string."""
    known: Runs | None = getattr(text, "_runs", None)
    if known is not None:
        return known
    return ((len(text), _lines[here[0]], DERIVED),) if text else ()


def smeared(text: str, *parts: str) -> Traced:
    """`text`, made of `parts` in a way that is not followed: attributed to the first input among them."""
    guard.sized(len(text))
    runs: Runs = ()
    for part in parts:
        runs += getattr(part, "_runs", ())
    return traced(text, derived(runs, len(text))) if runs else computed(text)


def together(text: str, parts: Sequence[str]) -> Traced:
    """`text`, known to be `parts` one after the other; `smeared` if it is not."""
    if "".join(parts) != text:
        return smeared(text, *parts)
    return traced(text, runs_together(parts))


def runs_together(parts: Iterable[str]) -> Runs:
    """The runs of strings one after the other."""
    runs: list[Run] = []
    for part in parts:
        runs += part._runs if type(part) is Traced else runs_of(part)
    if len(runs) > _MANY:
        guard.pieces(len(runs))
    return tuple(runs)


def plain(text: str) -> str:
    """The same string without its runs."""
    return str.__str__(text)


class Traced(str):
    """A string with runs. Every operation that gives a string gives the one that `str` gives, with runs."""

    __slots__ = ("_runs",)
    _runs: Runs

    def __str__(self) -> str:
        return self

    def __add__(self, other: str) -> str:
        if isinstance(other, (Markup, Undefined)):
            return NotImplemented
        if not isinstance(other, str):
            return str.__add__(self, other)  # raises
        guard.sized(len(self) + len(other))
        return appended(self, other)

    def __radd__(self, other: str) -> str:
        if not isinstance(other, str):
            return NotImplemented
        guard.sized(len(self) + len(other))
        return appended(other, self)

    def __mul__(self, times: SupportsIndex) -> str:
        if isinstance(times, Undefined):
            return NotImplemented
        if not hasattr(times, "__index__"):
            raise TypeError(f"can't multiply sequence by non-int of type {type(times).__name__!r}")
        guard.product(self, times)
        text = str.__mul__(self, times)
        count = len(text) // len(self) if self else 0
        guard.items(len(self._runs) * count)
        return traced(text, self._runs * count)

    def __rmul__(self, times: SupportsIndex) -> str:
        if isinstance(times, Sequence):
            return NotImplemented  # `list * str` is the list's fault
        return self.__mul__(times)

    def __mod__(self, values: object) -> str:
        from chatlint.render.trace_format import printed

        return printed(self, values)

    def __rmod__(self, form: object) -> str:
        if not isinstance(form, str) or isinstance(form, Markup):
            return NotImplemented
        from chatlint.render.trace_format import printed

        return printed(computed(form), self)

    def __iter__(self) -> Iterator[str]:
        at = 0
        for length, source, offset in self._runs:
            for character in str.__getitem__(self, slice(at, at + length)):
                yield traced(character, ((1, source, offset),))
                if offset >= 0:
                    offset += 1
            at += length

    def __getitem__(self, key: SupportsIndex | slice[Bound, Bound, Bound]) -> str:
        text = str.__getitem__(self, key)
        if not text:
            return traced(text, ())
        if not isinstance(key, slice):
            index = key.__index__()
            index += len(self) if index < 0 else 0
            return traced(text, cut(self._runs, index, index + 1))
        indices = range(*key.indices(len(self)))
        if indices.step == 1:
            return (
                self if len(text) == len(self) else traced(text, cut(self._runs, indices.start, indices.stop))
            )
        guard.items(len(self))
        return traced(text, fused(pick(self._runs, indices)))

    def strip(self, *characters: str | None) -> str:
        guard.search(self, *characters)
        return self._kept(str.strip(self, *characters), len(self) - len(str.lstrip(self, *characters)))

    def lstrip(self, *characters: str | None) -> str:
        guard.search(self, *characters)
        text = str.lstrip(self, *characters)
        return self._kept(text, len(self) - len(text))

    def rstrip(self, *characters: str | None) -> str:
        guard.search(self, *characters)
        return self._kept(str.rstrip(self, *characters), 0)

    def removeprefix(self, prefix: str, /) -> str:
        text = str.removeprefix(self, prefix)
        return self._kept(text, len(self) - len(text))

    def removesuffix(self, suffix: str, /) -> str:
        return self._kept(str.removesuffix(self, suffix), 0)

    def split(self, *given: object, **named: object) -> list[str]:
        sep = self._separator(*given, **named)
        return self._pieces(str.split(self, *given, **named), sep)  # type: ignore[arg-type]

    def rsplit(self, *given: object, **named: object) -> list[str]:
        sep = self._separator(*given, **named)
        guard.search(self, sep)
        return self._pieces(str.rsplit(self, *given, **named), sep)  # type: ignore[arg-type]

    def _separator(self, sep: object = None, *_: object, **__: object) -> str | None:
        guard.items(str.count(self, sep) if isinstance(sep, str) and sep else len(self) // 4)
        return sep if isinstance(sep, str) else None

    def splitlines(self, keepends: bool = False) -> list[str]:
        guard.items(len(self) // 8)
        whole = str.splitlines(self, True)
        found: list[str] = []
        at = 0
        for line, full in zip(str.splitlines(self, keepends), whole, strict=True):
            found.append(traced(line, cut(self._runs, at, at + len(line)) if line else ()))
            at += len(full)
        return found

    def partition(self, sep: str, /) -> tuple[str, str, str]:
        return self._three(*map(len, str.partition(self, sep)))

    def rpartition(self, sep: str, /) -> tuple[str, str, str]:
        guard.search(self, sep)
        return self._three(*map(len, str.rpartition(self, sep)))

    def _three(self, first: int, second: int, _: int) -> tuple[str, str, str]:
        return self[:first], self[first : first + second], self[first + second :]

    def _kept(self, text: str, start: int) -> str:
        if len(text) == len(self):
            return self
        return traced(text, cut(self._runs, start, start + len(text)) if text else ())

    def _pieces(self, pieces: list[str], sep: str | None) -> list[str]:
        runs = self._runs
        guard.charge(len(pieces) * len(runs) // guard.CHARACTERS_A_STEP)
        found: list[str] = []
        at = 0
        for piece in pieces:
            if sep is None:
                at = str.find(self, piece, at)
            found.append(traced(piece, cut(runs, at, at + len(piece)) if piece else ()))
            at += len(piece) + (len(sep) if sep else 0)
        return found

    def join(self, *given: Iterable[str]) -> str:
        if len(given) != 1:
            return str.join(self, *given)  # raises
        try:
            iterator = iter(given[0])
        except TypeError:
            raise TypeError("can only join an iterable") from None
        return joined(self, list(iterator))

    def replace(self, *given: object, **named: object) -> str:
        old, new, count = (*given, *(-1,) * 3)[:3]
        found = guard.occurrences(self, old)
        guard.parts(found)
        guard.sized(len(self) + found * guard.length(new))
        text = str.replace(self, *given, **named)  # type: ignore[arg-type]
        if text == self:
            return self
        return together(text, self._replaced(old, new, named.get("count", count).__index__()))  # type: ignore[arg-type, attr-defined]

    def _replaced(self, old: str, new: str, count: int) -> list[str]:
        parts: list[str] = []
        at = 0
        while count:
            found = str.find(self, old, at + (not old and bool(parts)))
            if found < 0:
                break
            parts += (self[at:found], new)
            at = found + len(old)
            count -= 1
        return [*parts, self[at:]]

    def ljust(self, width: SupportsIndex, fillchar: str = " ", /) -> str:
        guard.width(width)
        return self._padded(str.ljust(self, width, fillchar), 0, fillchar)

    def rjust(self, width: SupportsIndex, fillchar: str = " ", /) -> str:
        guard.width(width)
        text = str.rjust(self, width, fillchar)
        return self._padded(text, len(text) - len(self), fillchar)

    def center(self, width: SupportsIndex, fillchar: str = " ", /) -> str:
        guard.width(width)
        text = str.center(self, width, fillchar)
        missing = len(text) - len(self)
        return self._padded(text, missing // 2 + (missing & len(text) & 1), fillchar)

    def _padded(self, text: str, left: int, fill: str) -> str:
        guard.sized(len(text))
        if len(text) == len(self):
            return self
        return together(text, [repeated(fill, left), self, repeated(fill, len(text) - len(self) - left)])

    def zfill(self, width: SupportsIndex, /) -> str:
        guard.width(width)
        text = str.zfill(self, width)
        sign = 1 if str.startswith(self, ("+", "-")) else 0
        zeros = computed("0" * (len(text) - len(self)))
        return self if text == self else together(text, [self[:sign], zeros, self[sign:]])

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:
        guard.width(tabsize)
        guard.sized(len(self) + str.count(self, "\t") * max(tabsize.__index__(), 0))
        text = str.expandtabs(self, tabsize)
        return self if text == self else smeared(text, self)

    def lower(self) -> str:
        return recased(self, str.lower(self))

    def upper(self) -> str:
        return recased(self, str.upper(self))

    def title(self) -> str:
        return recased(self, str.title(self))

    def capitalize(self) -> str:
        return recased(self, str.capitalize(self))

    def swapcase(self) -> str:
        return recased(self, str.swapcase(self))

    def casefold(self) -> str:
        return recased(self, str.casefold(self))

    def translate(self, table: object, /) -> str:
        if isinstance(table, dict):
            guard.sized(len(self) * max(map(guard.length, table.values()), default=1))
        return recased(self, str.translate(self, table))  # type: ignore[arg-type]


Traced.__name__ = Traced.__qualname__ = "str"
Traced.__module__ = "builtins"


def appended(left: str, right: str) -> Traced:
    """`left + right`, both strings."""
    first = left._runs if type(left) is Traced else runs_of(left)
    second = right._runs if type(right) is Traced else runs_of(right)
    if len(first) > _MANY:
        guard.pieces(len(first))
        # A text that grows character by character would otherwise have as many runs.
        first, second = first[:-1], fused((first[-1], *second[:1])) + second[1:]
    return traced(str.__add__(left, right), first + second)


def joined(separator: str, strings: list[str]) -> str:
    """`separator.join(strings)`."""
    count = len(strings)
    if count == 1 and isinstance(strings[0], Traced):
        return strings[0]
    guard.items(count)
    with suppress(TypeError):  # one is no string: the next line says which
        guard.sized(sum(map(len, strings)) + len(separator) * count)
    text = str.join(separator, strings)
    if not separator:
        return traced(text, runs_together(strings))
    parts = [separator] * max(2 * count - 1, 0)
    parts[::2] = strings
    return traced(text, runs_together(parts))


def repeated(text: str, times: int) -> str:
    """`text * times`, for one character of padding, as one run."""
    return traced(plain(text) * times, derived(runs_of(text), times))


def recased(before: Traced, text: str) -> Traced:
    """`text`, which is `before` changed character by character: the characters that are still the same keep
    their offsets."""
    if text == before:
        return before
    if len(text) != len(before):
        return smeared(text, before)
    if len(text) > guard.CHARACTERS_A_STEP * 16:  # not worth the time
        return traced(text, tuple((length, source, DERIVED) for length, source, _ in before._runs))
    return traced(text, recast(before._runs, plain(before), text))
