"""Grammars, before anyone's notation of them.

A grammar is rules by name; a rule's body is made of six kinds of node. Two of them need a word:

- `Scan` is text up to a mark. The text holds none of the marks, so the first one found decides how it goes
  on. Renderers can say that exactly (a lazy lexeme, an automaton), where "anything, then the mark" would be
  ambiguous.
- a rule listed in `tokens` is regular and stands for one lexeme; only such rules hold `Chars`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from chatlint.errors import UsageError
from chatlint.lazy import regex
from chatlint.limits import GRAMMAR_RULES
from chatlint.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Text:
    """Exactly this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of these ranges (first and last, both included), or of none of them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Ref:
    """The rule of that name."""

    name: str


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other; without items, nothing."""

    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Many:
    """From `low` to `high` times, without bound if `high` is None."""

    item: Node
    low: int = 0
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """Text without any of the stops, then the stop of an exit and what follows it. If `ends`, the text may
    also be all there is. `without`: further texts that must not stand in it."""

    exits: tuple[tuple[str, Node], ...] = ()
    ends: bool = False
    without: tuple[str, ...] = ()

    @property
    def stops(self) -> tuple[str, ...]:
        """Every text at which it stops, dead ends included."""
        return (*(stop for stop, _ in self.exits), *self.without)


Node: TypeAlias = Text | Chars | Ref | Seq | Choice | Many | Scan
NOTHING: Final = Seq()
WS: Final = "ws"
GAP: Final = Many(Ref(WS), 0, 1)
"""White space or none."""


def seq(*nodes: Node) -> Node:
    """One after the other, flat; texts that touch become one, and so do gaps."""
    items: list[Node] = []
    for node in _flat(nodes):
        last = items[-1] if items else None
        if isinstance(node, Text) and isinstance(last, Text):
            items[-1] = Text(last.text + node.text)
        elif not (node == GAP and last == GAP) and node != Text(""):
            items.append(node)
    return items[0] if len(items) == 1 else Seq(tuple(items))


def _flat(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield from _flat(node.items) if isinstance(node, Seq) else (node,)


def choice(*nodes: Node) -> Node:
    """One of several, each once."""
    options = tuple(dict.fromkeys(nodes))
    return options[0] if len(options) == 1 else Choice(options)


def maybe(node: Node) -> Node:
    """It or nothing."""
    return NOTHING if node == NOTHING else Many(node, 0, 1)


def chars(*ranges: str, negated: bool = False) -> Chars:
    """A class of characters: each range is one character or two, first and last."""
    return Chars(tuple((text[0], text[-1]) for text in ranges), negated)


def _string(quote: str, *escapes: str) -> Node:
    known = chars('"', "\\", "/", "b", "f", "n", "r", "t", *escapes)
    escape = seq(Text("\\"), choice(known, seq(Text("u"), Many(_HEX, 4, 4))))
    return seq(Text(quote), Many(choice(chars(quote, "\\", "\x00\x1f", negated=True), escape)), Text(quote))


_DIGIT = chars("09")
_HEX = chars("09", "af", "AF")
_WHOLE = seq(maybe(Text("-")), choice(Text("0"), seq(chars("19"), Many(_DIGIT))))
_FRACTION = maybe(seq(Text("."), Many(_DIGIT, 1)))
_EXPONENT = maybe(seq(chars("e", "E"), maybe(chars("+", "-")), Many(_DIGIT, 1)))

TOKENS: Mapping[str, Node] = {
    WS: Many(chars(" ", "\t", "\n", "\r"), 1, 40),
    "string": _string('"'),
    "pystring": choice(_string('"', "'"), _string("'", "'")),
    "integer": _WHOLE,
    "number": seq(_WHOLE, _FRACTION, _EXPONENT),
    "digits": Many(_DIGIT, 1, 6),
    "name": Many(chars("az", "AZ", "09", "_", "-", "."), 1, 128),
    "identity": Many(chars("az", "AZ", "09", "_", "-", ".", ":"), 1, 64),
}
"""The lexemes that grammars share. White space is bounded: a model must not wander off in it."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by name; `root` is where it starts. `looser` names what the grammar does not enforce though a
    schema says it."""

    rules: Mapping[str, Node]
    root: str = "root"
    tokens: frozenset[str] = field(default_factory=frozenset)
    looser: tuple[str, ...] = ()


class Rules:
    """Rules being collected. Names are made unique; the same body under the same name is one rule."""

    def __init__(self) -> None:
        self._rules: dict[str, Node] = {}
        self._counts: dict[str, int] = {}
        self._looser: dict[str, None] = {}

    def add(self, name: str, body: Node) -> Ref:
        """A rule with this body, named after `name`."""
        known = self._rules.get(_plain(name))
        return Ref(_plain(name)) if known == body else self.recursive(name, lambda _: body)

    def recursive(self, name: str, made: Callable[[Ref], Node]) -> Ref:
        """A rule whose body may refer to itself."""
        name = _plain(name)
        unique = name
        while unique in self._rules or unique in TOKENS or unique == "root":
            self._counts[name] = self._counts.get(name, 1) + 1
            unique = f"{name}-{self._counts[name]}"
        self._rules[unique] = NOTHING
        self._rules[unique] = made(Ref(unique))
        self._check_size()
        return Ref(unique)

    @property
    def bodies(self) -> Mapping[str, Node]:
        """What was collected so far."""
        return self._rules

    def looser(self, what: str) -> None:
        """Notes something that a schema says and the grammar does not."""
        self._looser.setdefault(what)

    def finish(self, root: Node) -> Grammar:
        """The grammar, with the lexemes it uses and without rules that nothing refers to."""
        rules = {"root": root}
        waiting = list(references(root))
        while waiting:
            name = waiting.pop(0)
            if name not in rules:
                rules[name] = self._rules[name] if name in self._rules else TOKENS[name]
                waiting += references(rules[name])
        tokens = frozenset(name for name in rules if name in TOKENS)
        return Grammar(rules, "root", tokens, tuple(self._looser))

    def _check_size(self) -> None:
        if len(self._rules) > GRAMMAR_RULES:
            raise self._too_large()

    def _too_large(self) -> UsageError:
        return UsageError(
            f"the tools need a grammar of more than {GRAMMAR_RULES} rules",
            hint="give fewer tools, or simpler schemas",
        )


def _plain(name: str) -> str:
    """A name that every notation takes: lower-case letters, digits and dashes."""
    kept = "".join(char if char.isascii() and char.isalnum() else "-" for char in name.lower())
    kept = "-".join(filter(None, kept.split("-"))) or "rule"
    return kept if kept[0].isalpha() else f"r-{kept}"


_ATOM = regex(r"<[^<>]*>|[^<]+|<")


def atoms(text: str) -> list[str]:
    """A literal in pieces, each tag alone: two texts that begin with the same tag are then told apart after
    it, which lexers that never go back need."""
    return _ATOM.findall(text)


def references(node: Node) -> Iterator[str]:
    """The names of the rules a body refers to, in order."""
    match node:
        case Ref(name):
            yield name
        case Seq(items) | Choice(items):
            for item in items:
                yield from references(item)
        case Many(item):
            yield from references(item)
        case Scan(exits):
            for _, after in exits:
                yield from references(after)
        case _:
            pass
