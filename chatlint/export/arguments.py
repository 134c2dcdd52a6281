"""The arguments of a call as grammar, in the format's notation of members and values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from chatlint.conversation import JSON, JSONObject
from chatlint.errors import UsageError
from chatlint.export.grammar import GAP, NOTHING, Many, Node, Ref, Rules, Scan, Text, choice, seq
from chatlint.export.marks import literal_node, pattern_node, until
from chatlint.export.objects import Shape, members_of
from chatlint.export.schemas import (
    Dialect,
    Literals,
    branches,
    constants,
    extra_of,
    properties_of,
    required_of,
    resolve,
    types_of,
)
from chatlint.export.writing import quotes_of
from chatlint.parse.formats import Items, Members, Values, Written
from chatlint.parse.notation import Encoding
from chatlint.parse.patterns import KEY, VALUE, Slot, literal, split_at
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: after `before`, then `close`; both patterns without slots but counters."""

    before: str
    close: str


class Notation:
    """Grammars of values in one format's notation, for the schemas of one document."""

    def __init__(self, rules: Rules, values: Values, root: JSON) -> None:
        self._rules = rules
        self._values = values
        self._root = root
        self._made: dict[str, Ref] = {}
        self._literals = {dialect: Literals(rules, dialect, root) for dialect in Dialect}

    def members(self, notation: Members, node: JSON, name: str) -> Node:
        """An object with marks around its members."""
        schema = resolve(node, self._root)
        shape = Shape(
            {
                key: self._member(notation, literal(key), member, f"{name}-{key}")
                for key, member in properties_of(schema).items()
            },
            required_of(schema),
            self._extra(notation, schema, name),
        )
        inner = members_of(self._rules, name, shape, literal_node(notation.separator))
        return seq(literal_node(notation.start), inner, literal_node(notation.end))

    def _extra(self, notation: Members, schema: JSONObject, name: str) -> Node | None:
        extra = extra_of(schema)
        if extra is False:
            return None
        return self._member(notation, KEY, extra if isinstance(extra, Mapping) else {}, f"{name}-extra")

    def _member(self, notation: Members, key: str, node: JSON, name: str) -> Node:
        """One member; `key` as a pattern."""
        before, _, close = notation.member.partition(VALUE)
        return self._value(node, _Place(before.replace(KEY, key), close.replace(KEY, key)), name)

    def _value(self, node: JSON, place: _Place, name: str, above: frozenset[str] = frozenset()) -> Ref:
        """A value with what stands before and after it, for every alternative and type of its schema.
        `above`: the schemas of which this one is an alternative."""
        schema = resolve(node, self._root)
        key = json.dumps([schema, place.before, place.close], sort_keys=True, ensure_ascii=False)
        if key not in self._made:

            def made(own: Ref) -> Node:
                self._made[key] = own
                return self._body(schema, place, name, above | {key})

            self._rules.recursive(name, made)
        return self._made[key]

    def _body(self, schema: JSONObject, place: _Place, name: str, above: frozenset[str]) -> Node:
        options = branches(schema)
        if not options:
            types = types_of(schema, self._root)
            ways = self._ways(types)
            return choice(*(self._way(way, types_in, schema, place, name) for way, types_in in ways))
        found = [self._value(option, place, name, above) for option in options]
        others = [ref for ref in found if ref not in [self._made[key] for key in above]]
        return choice(*others) if others else self._value({}, place, name)

    def _ways(self, types: frozenset[str]) -> list[tuple[Written | Items | Members, frozenset[str]]]:
        """The notations of these types. Beside a raw string, what is marked alike need not be said."""
        string = self._values.string
        raw = string.encoding is Encoding.RAW and "string" in types
        found: dict[Written | Items | Members, set[str]] = {}
        for json_type, way in self._values.by_type.items():
            same = isinstance(way, Written) and (way.start, way.end) == (string.start, string.end)
            if json_type in types and not (raw and json_type != "string" and same):
                found.setdefault(way, set()).add(json_type)
        return [(way, frozenset(types)) for way, types in found.items()]

    def _way(
        self,
        way: Written | Items | Members,
        types: frozenset[str],
        schema: JSONObject,
        place: _Place,
        name: str,
    ) -> Node:
        slots = {Slot.KEY: Ref("name")}
        if not isinstance(way, Written):
            inner = (
                self._items(way, schema, name) if isinstance(way, Items) else self.members(way, schema, name)
            )
            return seq(pattern_node(place.before, slots), inner, pattern_node(place.close, slots))
        if quotes_of(way):
            way = Written(encoding=Encoding.PYTHON)
        before, close = place.before + way.start, way.end + place.close
        if way.encoding is Encoding.RAW and "string" in types and constants(schema) is None:
            return self._raw(before, close, slots)
        dialect = Dialect.PYTHON if way.encoding is Encoding.PYTHON else Dialect.JSON
        inner = choice(*self._constants(way, types, schema, name, dialect))
        return seq(pattern_node(before, slots), inner, pattern_node(close, slots))

    def _constants(
        self, way: Written, types: frozenset[str], schema: JSONObject, name: str, dialect: Dialect
    ) -> Iterator[Node]:
        """Values that are literals; strings of an enumeration that stand raw."""
        listed = constants(schema)
        if listed is None:
            yield self._literals[dialect].value({**schema, "type": sorted(types)}, name)
            return
        for value in listed:
            if isinstance(value, str) and way.encoding is Encoding.RAW:
                yield Text(value)
            else:
                yield self._literals[dialect].value({"const": value}, name)

    def _raw(self, before: str, close: str, slots: Mapping[Slot, Node]) -> Node:
        """A string as it stands, up to its closing mark."""
        stop, rest = until(close, slots)
        if not stop:
            raise UsageError(
                f"no grammar can hold a string that nothing ends (after {before!r})",
                hint="the format writes strings raw, without a mark behind them",
            )
        return seq(pattern_node(before.rstrip(), slots), Scan(((stop, rest),)))

    def _items(self, notation: Items, schema: JSONObject, name: str) -> Node:
        """An array with marks around its items."""
        before, close = split_at(notation.item, Slot.VALUE)
        items = schema.get("items")
        node = items if isinstance(items, Mapping) else {}
        item = self._value(node, _Place(before, close), f"{name}-item")
        row = seq(item, Many(seq(literal_node(notation.separator), item)))
        low = schema.get("minItems")
        inner = row if isinstance(low, int) and low > 0 else choice(NOTHING, row)
        return seq(literal_node(notation.start), GAP, inner, GAP, literal_node(notation.end))
