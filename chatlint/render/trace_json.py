"""`tojson` as transformers has it (`json.dumps` with `ensure_ascii=False`), with runs.

Keys, strings and numbers keep their offsets inside; escapes are derived from the character they stand for;
`true`, `false` and `null` are their own value's. Punctuation belongs to the object or list it is of (see
`trace_containers`); around a string that is written alone it belongs to that string.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from json.encoder import ESCAPE, ESCAPE_ASCII, encode_basestring, encode_basestring_ascii

from chatlint.render import guard
from chatlint.render.runs import DERIVED, ContainerSource, Run, Source, fused
from chatlint.render.trace import Traced, computed_here, runs_of, runs_together, smeared, traced
from chatlint.render.trace_containers import containers, element_source, escaped, value_source
from chatlint.render.trace_numbers import TracedFloat, TracedInt


def tojson(
    x: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """The filter. Its first positional argument is `ensure_ascii`, as in transformers."""
    source = containers.get(id(x))
    if source is None or type(indent) not in (int, type(None)) or type(separators) not in (tuple, type(None)):
        return _write(x, ensure_ascii, indent, separators, sort_keys)
    key = (bool(ensure_ascii), indent, separators, bool(sort_keys))
    known = source.texts.get(key)
    if known is None:
        before = guard.used()
        written = _write(x, ensure_ascii, indent, separators, sort_keys)
        known = written, guard.used() - before
        if len(source.texts) < _TEXTS_KEPT:
            source.texts[key] = known
    elif (id(source), key) not in paid:
        guard.charge(known[1])
    paid.add((id(source), key))
    text = known[0]
    guard.sized(len(text))
    return text


_TEXTS_KEPT = 8
paid: set[tuple[int, object]] = set()
"""What the running render has written. What an earlier one wrote is known, and yet costs the same steps: a
render must not depend on those before it."""


def _write(
    x: object,
    ensure_ascii: bool,
    indent: int | str | None,
    separators: tuple[str, str] | None,
    sort_keys: bool,
) -> Traced:
    values, depth = guard.weigh(x)
    guard.width(indent)
    if indent is not None:
        guard.sized(values * depth * (len(indent) if isinstance(indent, str) else int(indent)))
    if separators is not None:
        guard.sized(values * sum(map(len, separators)))
    text = json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    guard.sized(len(text))
    between, colon = separators or (", " if indent is None else ",", ": ")
    step = None if indent is None else indent if isinstance(indent, str) else " " * indent
    writer = _Writer(bool(ensure_ascii), step, between, colon, bool(sort_keys))
    writer.value(x, _alone(x), 0)
    if "".join(writer.texts) != text:
        return smeared(text, *writer.strings)
    guard.pieces(len(writer.runs))
    return traced(text, fused(tuple(writer.runs)))


def _alone(value: object) -> Source:
    runs = runs_of(value) if isinstance(value, str) else ()
    return runs[0][1] if len({source for _, source, _ in runs}) == 1 else computed_here()


class _Writer:
    """Writes a value as `json` does, in parts with their runs."""

    __slots__ = ("ascii", "between", "colon", "encode", "runs", "sort", "step", "strings", "texts")

    def __init__(self, ascii_: bool, step: str | None, between: str, colon: str, sort: bool) -> None:
        self.ascii = ascii_
        self.encode = encode_basestring_ascii if ascii_ else encode_basestring
        self.step = step
        self.between = between
        self.colon = colon
        self.sort = sort
        self.texts: list[str] = []
        self.runs: list[Run] = []
        self.strings: list[str] = []

    def mark(self, text: str, source: Source) -> None:
        self.texts.append(text)
        self.runs.append((len(text), source, DERIVED))

    def value(self, value: object, source: Source, depth: int) -> None:
        if isinstance(value, str):
            self.string(value, source)
        elif isinstance(value, dict):
            self.members(value, containers.get(id(value)) or computed_here(), depth)
        elif isinstance(value, (list, tuple)):
            self.elements(value, containers.get(id(value)) or computed_here(), depth)
        else:
            self.scalar(value, source)

    def scalar(self, value: object, source: Source) -> None:
        text = "true" if value is True else "false" if value is False else json.dumps(value)
        if type(value) is TracedInt or type(value) is TracedFloat:
            source = value._source
        own = source.pointer and not isinstance(source, ContainerSource)
        self.texts.append(text)
        self.runs.append((len(text), source, 0 if own else DERIVED))

    def string(self, text: str, source: Source) -> None:
        whole = self.encode(text)
        self.strings.append(text)
        self.texts.append(whole)
        if len(whole) == len(text) + 2:
            runs = runs_of(text)
        else:
            runs = runs_together(escaped(text, ESCAPE_ASCII if self.ascii else ESCAPE, self.escape))
        self.runs += ((1, source, DERIVED), *runs, (1, source, DERIVED))

    def escape(self, character: str) -> str:
        return self.encode(character)[1:-1]

    def members(self, value: Mapping[object, object], source: Source, depth: int) -> None:
        if not value:
            self.mark("{}", source)
            return
        before = "{" + self.line(depth + 1)
        for key, item in sorted(value.items()) if self.sort else value.items():
            self.mark(before, source)
            self.string(key if isinstance(key, str) else json.dumps(key), source)
            self.mark(self.colon, source)
            self.value(item, value_source(key, item, source), depth + 1)
            before = self.between + self.line(depth + 1)
        self.mark(self.line(depth) + "}", source)

    def elements(self, value: Sequence[object], source: Source, depth: int) -> None:
        if not value:
            self.mark("[]", source)
            return
        before = "[" + self.line(depth + 1)
        for index, item in enumerate(value):
            self.mark(before, source)
            self.value(item, element_source(index, item, source), depth + 1)
            before = self.between + self.line(depth + 1)
        self.mark(self.line(depth) + "]", source)

    def line(self, depth: int) -> str:
        return "" if self.step is None else "\n" + self.step * depth
