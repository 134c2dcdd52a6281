"""`tojson` as transformers has it (`json.dumps` with `ensure_ascii=False`), with runs.

Keys, strings and numbers keep their offsets inside; escapes are derived from the character they stand for;
`true`, `false` and `null` are their own value's. Punctuation belongs to the object or list it is of (see
`trace_containers`); around a string that is written alone it belongs to that string.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import ESCAPE, ESCAPE_ASCII, encode_basestring, encode_basestring_ascii

from chatlint.render import guard
from chatlint.render.runs import Source
from chatlint.render.trace import Traced, computed_here, runs_of, runs_together, smeared, traced
from chatlint.render.trace_containers import containers, element_source, escaped, mark, value_source
from chatlint.render.trace_numbers import TracedFloat, TracedInt, written


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
    if key not in source.written:
        source.written[key] = _write(x, ensure_ascii, indent, separators, sort_keys)
    text = source.written[key]
    guard.sized(len(text))
    return text


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
    parts = list(_Style(bool(ensure_ascii), step, between, colon, sort_keys).parts(x, _alone(x), 0))
    return traced(text, runs_together(parts)) if "".join(parts) == text else smeared(text, *parts)


def _alone(value: object) -> Source:
    runs = runs_of(value) if isinstance(value, str) else ()
    return runs[0][1] if len({source for _, source, _ in runs}) == 1 else computed_here()


@dataclass(frozen=True, slots=True)
class _Style:
    ascii: bool
    step: str | None
    between: str
    colon: str
    sort: bool

    def parts(self, value: object, source: Source, depth: int) -> Iterator[str]:
        if isinstance(value, str):
            yield from self.string(value, source)
        elif isinstance(value, dict):
            yield from self.members(value, containers.get(id(value)) or computed_here(), depth)
        elif isinstance(value, (list, tuple)):
            yield from self.elements(value, containers.get(id(value)) or computed_here(), depth)
        else:
            yield self.scalar(value, source)

    def scalar(self, value: object, source: Source) -> Traced:
        text = json.dumps(value)
        if type(value) is TracedInt or type(value) is TracedFloat:
            return written(text, value._source)
        return written(text, source) if source.is_input else mark(text, source)

    def string(self, text: str, source: Source) -> Iterator[str]:
        whole = encode_basestring_ascii(text) if self.ascii else encode_basestring(text)
        yield mark('"', source)
        if len(whole) == len(text) + 2:
            yield text
        else:
            yield from escaped(text, ESCAPE_ASCII if self.ascii else ESCAPE, self.escape)
        yield mark('"', source)

    def escape(self, character: str) -> str:
        return (encode_basestring_ascii(character) if self.ascii else encode_basestring(character))[1:-1]

    def members(self, value: Mapping[object, object], source: Source, depth: int) -> Iterator[str]:
        if not value:
            yield mark("{}", source)
            return
        before = "{" + self.line(depth + 1)
        for key, item in sorted(value.items()) if self.sort else value.items():
            yield mark(before, source)
            yield from self.string(key if isinstance(key, str) else json.dumps(key), source)
            yield mark(self.colon, source)
            yield from self.parts(item, value_source(key, item, source), depth + 1)
            before = self.between + self.line(depth + 1)
        yield mark(self.line(depth) + "}", source)

    def elements(self, value: Sequence[object], source: Source, depth: int) -> Iterator[str]:
        if not value:
            yield mark("[]", source)
            return
        before = "[" + self.line(depth + 1)
        for index, item in enumerate(value):
            yield mark(before, source)
            yield from self.parts(item, element_source(index, item, source), depth + 1)
            before = self.between + self.line(depth + 1)
        yield mark(self.line(depth) + "]", source)

    def line(self, depth: int) -> str:
        return "" if self.step is None else "\n" + self.step * depth
