"""Printed values: what `str()` and `repr()` make of them, with runs.

The punctuation of a printed list or object of the conversation (brackets, commas, the quotes of the strings
in it) belongs to that list or object, as characters derived from it; so does `True` or `None` to its own
value. In what the template put together itself, punctuation is `Computed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MethodType
from typing import TypeAlias

from jinja2.utils import Namespace
from markupsafe import Markup

from chatlint.lazy import regex
from chatlint.render import guard
from chatlint.render.runs import DERIVED, ContainerSource, Run, Source
from chatlint.render.trace import Traced, computed, computed_here, plain, runs_of, smeared, traced
from chatlint.render.trace_numbers import TracedFloat, TracedInt

Sources: TypeAlias = dict[int, ContainerSource]
"""Where each list and object of the conversation is, by its `id`."""
Parts: TypeAlias = list[tuple[str, Run | None]]

containers: Sources = {}
"""The sources of this render's conversation; `hosts` fills it, and keeps the containers alive."""

_VIEWS: dict[type, str] = {
    type({}.items()): "dict_items",
    type({}.keys()): "dict_keys",
    type({}.values()): "dict_values",
}


def shown(value: object) -> str:
    """`str(value)`, with runs: what an output statement prints."""
    kind = type(value)
    if kind is Traced:
        return value  # type: ignore[return-value]
    if kind is dict or kind is list or kind is tuple:
        return represented(value)
    if kind is TracedInt or kind is TracedFloat:
        return str(value)
    if kind in _VIEWS or isinstance(value, (Namespace, tuple)):
        return represented(value)
    text = str(built_in(value))
    return text if type(text) is Traced else computed(text)


def built_in(value: object) -> object:
    """For a method of a traced string, the one that a plain string has."""
    if type(value) is MethodType and type(value.__self__) is Traced:
        return getattr(plain(value.__self__), value.__name__)
    return value


def represented(value: object) -> str:
    """`repr(value)`, with runs."""
    guard.weigh(value)
    if isinstance(value, Namespace) or type(value) in _VIEWS:
        guard.weigh(_inside(value))
    text = repr(value)
    guard.sized(len(text))
    parts = list(_parts(value, computed_here()))
    whole = "".join(map(plain, parts))
    return smeared(text, *parts) if whole != text else traced(text, _runs(parts))


def _runs(parts: Sequence[str]) -> tuple[Run, ...]:
    runs: list[Run] = []
    for part in parts:
        runs += runs_of(part)
    return tuple(runs)


def _inside(value: object) -> object:
    return value._Namespace__attrs if isinstance(value, Namespace) else list(value)  # type: ignore[call-overload]


def _parts(value: object, inherited: Source) -> Iterator[str]:
    """The parts of `repr(value)`; `inherited` is the source of what no value of its own has."""
    kind = type(value)
    if kind is dict:
        yield from _members(value, containers.get(id(value)) or computed_here())  # type: ignore[arg-type]
    elif kind is list or isinstance(value, tuple):
        yield from _elements(value, containers.get(id(value)) or computed_here())  # type: ignore[arg-type]
    elif isinstance(value, Markup):
        yield mark("Markup(", inherited)
        yield from quoted(traced(plain(value), runs_of(value)), inherited)
        yield mark(")", inherited)
    elif isinstance(value, str):
        yield from quoted(value, inherited)
    elif kind is TracedInt or kind is TracedFloat:
        yield repr(value)
    elif kind in _VIEWS:
        yield mark(_VIEWS[kind] + "(", inherited)
        yield from _parts(_inside(value), inherited)
        yield mark(")", inherited)
    elif isinstance(value, Namespace):
        yield mark("<Namespace ", inherited)
        yield from _parts(_inside(value), inherited)
        yield mark(">", inherited)
    else:
        yield mark(repr(value), inherited)


def _members(value: Mapping[object, object], source: Source) -> Iterator[str]:
    before = "{"
    for key, item in value.items():
        yield mark(before, source)
        yield from _parts(key, source)
        yield mark(": ", source)
        yield from _parts(item, value_source(key, item, source))
        before = ", "
    yield mark("{}" if before == "{" else "}", source)


def _elements(value: Sequence[object], source: Source) -> Iterator[str]:
    opening, closing = "[]" if type(value) is list else "()"
    yield mark(opening, source)
    for index, item in enumerate(value):
        if index:
            yield mark(", ", source)
        yield from _parts(item, element_source(index, item, source))
    yield mark(("," if len(value) == 1 and closing == ")" else "") + closing, source)


def value_source(key: object, item: object, source: Source) -> Source:
    """For `true`, `false` and `null`: the member's own source; for all else the object's (its
    punctuation)."""
    if item is None or item is True or item is False:
        runs = runs_of(key) if isinstance(key, str) else ()
        if runs and runs[0][1].key:
            return runs[0][1].value()
    return source


def element_source(index: int, item: object, source: Source) -> Source:
    """The same for an element of a list."""
    return source.child(index) if item is None or item is True or item is False else source


def mark(text: str, source: Source) -> Traced:
    """Punctuation of a value at `source`."""
    return traced(text, ((len(text), source, DERIVED),))


def quoted(text: str, source: Source) -> Iterator[str]:
    """`repr` of a string, whose quotes belong to `source`."""
    whole = str.__repr__(text)
    quote = whole[0]
    yield mark(quote, source)
    if whole[1:-1] == text:
        yield text
    else:
        yield from escaped(text, _MAY_BE_ESCAPED, lambda character: _escape(character, quote))
    yield mark(quote, source)


_MAY_BE_ESCAPED = regex(r"""[\x00-\x1f"'\\\x7f-\xa0\xad]|[^\x00-\xff]""")


def _escape(character: str, quote: str) -> str:
    if character in "'\"":
        return "\\" + character if character == quote else character
    return repr(character)[1:-1]


def escaped(text: str, candidates: re.Pattern[str], escape: Callable[[str], str]) -> Iterator[str]:
    """`text` with `escape` applied to each of the candidates: what stays itself keeps its offset."""
    begin = 0
    for number, match in enumerate(candidates.finditer(plain(text))):
        if not number % guard.LAZY_ITEMS_A_STEP:
            guard.charge(1)
        character = match[0]
        changed = escape(character)
        if changed != character:
            index = match.start()
            if begin < index:
                yield text[begin:index]
            yield smeared(changed, text[index])
            begin = index + 1
    if begin < len(text):
        yield text[begin:]
