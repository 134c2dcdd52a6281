"""HTML-safe strings (`|safe`, `|escape`), with runs.

`Markup` escapes what is added to it: `'…'|safe + tool.description` prints `&lt;`, a fault of real
templates, so it is followed character by character. Whatever is rarer keeps its text and is attributed as a
whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsIndex

from markupsafe import Markup, escape

from chatlint.lazy import regex
from chatlint.render import guard
from chatlint.render.runs import Runs
from chatlint.render.trace import (
    Bound,
    Traced,
    appended,
    joined,
    plain,
    runs_of,
    runs_together,
    smeared,
    traced,
)
from chatlint.render.trace_containers import escaped, shown

_ESCAPED = regex("[&<>'\"]")


class TracedMarkup(Markup):
    """A `Markup` with runs."""

    __slots__ = ("_runs",)
    _runs: Runs

    def __str__(self) -> str:
        return traced(plain(self), runs_of(self))

    def __html__(self) -> TracedMarkup:
        return self

    def __add__(self, other: str) -> str:  # type: ignore[override]
        if not isinstance(other, str) and not hasattr(other, "__html__"):
            return NotImplemented
        return safe(appended(str(self), str(html_safe(other))))

    def __radd__(self, other: str) -> str:  # type: ignore[override]
        if not isinstance(other, str) and not hasattr(other, "__html__"):
            return NotImplemented
        return safe(appended(str(html_safe(other)), str(self)))

    def __mul__(self, times: SupportsIndex) -> str:  # type: ignore[override]
        found = str(self).__mul__(times)
        return found if found is NotImplemented else safe(found)

    __rmul__ = __mul__  # type: ignore[assignment]

    def __mod__(self, values: object) -> str:  # type: ignore[override]
        from chatlint.render.trace_format import bound_printf

        bound_printf(self, values)
        text = Markup(plain(self)) % values
        guard.sized(len(text))
        given = values if isinstance(values, tuple) else (values,)
        return safe(smeared(plain(text), str(self), *(value for value in given if isinstance(value, str))))

    def __getitem__(self, key: SupportsIndex | slice[Bound, Bound, Bound]) -> str:  # type: ignore[override]
        return safe(str(self)[key])

    def join(self, strings: Iterable[str], /) -> str:  # type: ignore[override]
        return safe(joined(str(self), [str(html_safe(item)) for item in strings]))

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> str:  # type: ignore[override]
        return safe(str(self).replace(old, str(html_safe(new)), count))

    def strip(self, characters: str | None = None, /) -> str:  # type: ignore[override]
        return safe(str(self).strip(characters))

    def lstrip(self, characters: str | None = None, /) -> str:  # type: ignore[override]
        return safe(str(self).lstrip(characters))

    def rstrip(self, characters: str | None = None, /) -> str:  # type: ignore[override]
        return safe(str(self).rstrip(characters))

    def removeprefix(self, prefix: str, /) -> str:  # type: ignore[override]
        return safe(str(self).removeprefix(prefix))

    def removesuffix(self, suffix: str, /) -> str:  # type: ignore[override]
        return safe(str(self).removesuffix(suffix))

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:  # type: ignore[override]
        return [safe(piece) for piece in str(self).split(sep, maxsplit)]

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:  # type: ignore[override]
        return [safe(piece) for piece in str(self).rsplit(sep, maxsplit)]

    def splitlines(self, keepends: bool = False) -> list[str]:  # type: ignore[override]
        return [safe(piece) for piece in str(self).splitlines(keepends)]

    def partition(self, sep: str, /) -> tuple[str, str, str]:  # type: ignore[override]
        first, middle, last = str(self).partition(sep)
        return safe(first), safe(middle), safe(last)

    def rpartition(self, sep: str, /) -> tuple[str, str, str]:  # type: ignore[override]
        first, middle, last = str(self).rpartition(sep)
        return safe(first), safe(middle), safe(last)

    def upper(self) -> str:  # type: ignore[override]
        return safe(str(self).upper())

    def lower(self) -> str:  # type: ignore[override]
        return safe(str(self).lower())

    def title(self) -> str:  # type: ignore[override]
        return safe(str(self).title())

    def capitalize(self) -> str:  # type: ignore[override]
        return safe(str(self).capitalize())

    def swapcase(self) -> str:  # type: ignore[override]
        return safe(str(self).swapcase())

    def casefold(self) -> str:  # type: ignore[override]
        return safe(str(self).casefold())

    def zfill(self, width: SupportsIndex, /) -> str:  # type: ignore[override]
        return safe(str(self).zfill(width))

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:  # type: ignore[override]
        return safe(str(self).expandtabs(tabsize))

    def ljust(self, width: SupportsIndex, fillchar: str = " ", /) -> str:  # type: ignore[override]
        return safe(str(self).ljust(width, str(html_safe(fillchar))))

    def rjust(self, width: SupportsIndex, fillchar: str = " ", /) -> str:  # type: ignore[override]
        return safe(str(self).rjust(width, str(html_safe(fillchar))))

    def center(self, width: SupportsIndex, fillchar: str = " ", /) -> str:  # type: ignore[override]
        return safe(str(self).center(width, str(html_safe(fillchar))))

    def translate(self, table: object, /) -> str:
        return safe(str(self).translate(table))  # type: ignore[arg-type]

    @classmethod
    def escape(cls, s: object, /) -> str:  # type: ignore[override]
        return html_safe(s)

    def striptags(self) -> str:
        return smeared(plain(Markup(plain(self)).striptags()), str(self))

    def unescape(self) -> str:
        return smeared(plain(Markup(plain(self)).unescape()), str(self))


TracedMarkup.__name__ = TracedMarkup.__qualname__ = "Markup"
TracedMarkup.__module__ = "markupsafe"


def safe(text: str) -> TracedMarkup:
    """`text`, marked as HTML-safe."""
    found = str.__new__(TracedMarkup, text)
    found._runs = runs_of(text)
    return found


def marked_safe(value: object) -> str:
    """`Markup(value)`."""
    if isinstance(value, TracedMarkup):
        return value
    if hasattr(value, "__html__"):
        return safe(smeared(plain(Markup(value)), *((str(value),) if isinstance(value, str) else ())))
    return safe(shown(value))


def html_safe(value: object) -> str:
    """`markupsafe.escape(value)`."""
    if hasattr(value, "__html__"):
        return marked_safe(value)
    text = shown(value)
    guard.sized(5 * len(text))
    whole = escape(plain(text))
    parts = list(escaped(text, _ESCAPED, lambda character: plain(escape(character))))
    if "".join(parts) != whole:
        return safe(smeared(plain(whole), text))
    return safe(traced(plain(whole), runs_together(parts)))


def markup_joined(values: Iterable[object]) -> str:
    """What `~` makes where autoescape is on: all parts escaped as soon as one is HTML-safe."""
    parts = list(values)
    first = next((index for index, value in enumerate(parts) if hasattr(value, "__html__")), None)
    if first is None:
        return joined("", [shown(value) for value in parts])
    # Jinja escapes every part once it has seen a safe one, those before it as well.
    return safe(joined("", [str(html_safe(value)) for value in parts]))


__all__ = ["Traced", "TracedMarkup", "html_safe", "marked_safe", "markup_joined", "safe"]
