"""Marks as grammar: exact where text is exact, loose where white space does not matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatlint.export.grammar import (
    GAP,
    NOTHING,
    Choice,
    Many,
    Node,
    Ref,
    Scan,
    Seq,
    Text,
    choice,
    seq,
)
from chatlint.lazy import regex
from chatlint.limits import EXPORT_MARK_CHARACTERS
from chatlint.parse.formats import OutputFormat
from chatlint.parse.patterns import Slot, pieces

_SPACE = regex(r"\s+")
_FIRST = regex(r"<[^<>\s]*>|\[/?[A-Z][A-Z_/]+\]|[^\s]+")
_LISTED = {",", ";"}


def literal_node(text: str) -> Node:
    """Literal text of a mark. A space inside is a space; line breaks, and white space at the edges, are
    optional."""
    if text.strip() in _LISTED:
        return seq(GAP, Text(text.strip()), GAP)
    nodes: list[Node] = []
    at = 0
    for run in _SPACE.finditer(text):
        nodes.append(Text(text[at : run.start()]))
        inside = run[0] == " " and run.start() > 0 and run.end() < len(text)
        nodes.append(Text(" ") if inside else GAP)
        at = run.end()
    return seq(*nodes, Text(text[at:]))


def pattern_node(pattern: str, slots: Mapping[Slot, Node]) -> Node:
    """A pattern with its slots as nodes; counters are digits."""
    known = {Slot.COUNTER: Ref("digits"), **slots}
    return seq(
        *(known[piece] if isinstance(piece, Slot) else literal_node(piece) for piece in pieces(pattern))
    )


def first_of(pattern: str) -> str:
    """What a mark begins with for sure: its first tag or word, up to white space or a slot; "" if nothing."""
    parts = pieces(pattern.lstrip())
    first = parts[0] if parts and isinstance(parts[0], str) else ""
    match = _FIRST.match(first.lstrip())
    return match[0] if match else ""


_TAGS = regex(r"<[^<>\s]+>|\[/?[A-Z][A-Z_/]+\]")


def tags(pattern: str) -> list[str]:
    """The whole tags in a pattern's text."""
    return [tag for piece in pieces(pattern) if isinstance(piece, str) for tag in _TAGS.findall(piece)]


def mark_tags(output: OutputFormat) -> tuple[str, ...]:
    """The tags of all of a format's marks, each once, those that end turns left out."""
    found = [tag for mark in _marks(output) for tag in tags(mark)]
    ends = {tag for mark in output.end_of_turn for tag in tags(mark)}
    return tuple(tag for tag in dict.fromkeys(found) if tag not in ends)


def too_long(output: OutputFormat) -> bool:
    """Whether the marks are longer than any that a model was made to write."""
    return sum(map(len, _marks(output))) > EXPORT_MARK_CHARACTERS


def _marks(output: OutputFormat) -> Iterator[str]:
    for marks in (*(output.reasoning.every if output.reasoning else ()), *output.content.every):
        yield from (marks.start, marks.end)
    calls = output.tool_calls
    if calls:
        yield from (calls.section_start, calls.call_start, calls.body, calls.call_end, calls.section_end)
        yield from (calls.members.member,) if calls.members else ()
        for way in calls.values.by_type.values():
            yield from (way.start, way.end)


def until(pattern: str, slots: Mapping[Slot, Node], after: Node = NOTHING) -> tuple[str, Node]:
    """An exit of a scan that ends at a mark: its beginning, then the rest of it and what follows."""
    first = first_of(pattern)
    whole = pattern_node(pattern.lstrip(), slots)
    rest = Consumer({}).node(whole, first)
    return first, seq(rest if rest is not None else NOTHING, after)


class Consumer:
    """Grammars with a beginning of their text taken off."""

    def __init__(self, rules: Mapping[str, Node]) -> None:
        self._rules = rules

    def node(self, node: Node, text: str) -> Node | None:
        """What may follow `text` where the node stands; None if it cannot begin so."""
        if not text:
            return node
        found = [seq(rest, after) for after, rest in self._ways((node,), text)]
        return choice(*found) if found else None

    def _ways(self, items: tuple[Node, ...], text: str) -> Iterator[tuple[Node, Node]]:
        """Each way to take `text` off a sequence: what remains after it, what remains of the node it ends
        in."""
        if not text:
            yield seq(*items), NOTHING
            return
        if not items:
            return
        first, rest = items[0], items[1:]
        match first:
            case Text(known):
                if text.startswith(known):
                    yield from self._ways(rest, text[len(known) :])
                elif known.startswith(text):
                    yield seq(*rest), Text(known[len(text) :])
            case Seq(inner):
                yield from self._ways((*inner, *rest), text)
            case Choice(options):
                for option in options:
                    yield from self._ways((option, *rest), text)
            case Many(Ref("ws"), 0, 1):
                yield from self._ways(rest, text.lstrip() if text[0].isspace() else text)
            case Many(item, 0, 1):
                yield from self._ways((item, *rest), text)
                yield from self._ways(rest, text)
            case Ref(name) if name in self._rules:
                yield from self._ways((self._rules[name], *rest), text)
            case Scan():
                yield from self._scanned(first, rest, text)
            case _:
                return

    def _scanned(self, scan: Scan, rest: tuple[Node, ...], text: str) -> Iterator[tuple[Node, Node]]:
        """Through text up to the first stop in it, or somewhere in that text."""
        places = [(text.index(stop), -len(stop), stop) for stop in scan.stops if stop in text]
        if not places:
            yield seq(*rest), scan
            return
        at, _, stop = min(places)
        after = dict(scan.exits).get(stop)
        if after is not None:
            yield from self._ways((after, *rest), text[at + len(stop) :])
