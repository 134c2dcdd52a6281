"""Grammars in GBNF, the notation of llama.cpp, and the request fields that belong to one.

Source: llama.cpp's `grammars/README.md`, and its server's request fields `grammar`, `grammar_lazy`,
`grammar_triggers`, `preserved_tokens` and `stop`. A lazy grammar sleeps until a trigger is written, then
holds from the trigger on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from chatlint.conversation import JSON
from chatlint.export.automaton import State, states_of
from chatlint.export.grammar import Chars, Choice, Grammar, Many, Node, Ref, Scan, Seq, Text, atoms
from chatlint.export.marks import mark_tags
from chatlint.export.turn import Request, calls_grammar, turn_grammar
from chatlint.export.writing import fill
from chatlint.parse.formats import OutputFormat
from chatlint.records import dataclass, field

WORD = 1
"""The kind of a trigger that is a word (`COMMON_GRAMMAR_TRIGGER_TYPE_WORD`)."""
ANY = "[^\\x00]*"
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_CLASS_ESCAPES = {**_ESCAPES, "[": "\\[", "]": "\\]", "-": "\\x2D", "^": "\\x5E", "/": "\\x2F", '"': '"'}


def gbnf_bundle(output: OutputFormat, request: Request, tokens: Collection[str] | None = None) -> Bundle:
    """The grammar for a request. With tool choice auto it holds for calls only and sleeps until one begins,
    so that content and reasoning are free. `tokens`: the tokenizer's added tokens, where they are known.

    Raises UsageError where the format cannot be said as a grammar.
    """
    woken = calls_grammar(output, request)
    grammar = woken.grammar if woken else turn_grammar(output, request)
    preserved = [tag for tag in mark_tags(output) if tokens is None or tag in tokens]
    stop = dict.fromkeys(fill(mark, {}).strip() for mark in output.end_of_turn)
    return Bundle(
        render_gbnf(grammar),
        woken is not None,
        woken.triggers if woken else (),
        tuple(preserved),
        tuple(mark for mark in stop if mark),
    )


@dataclass(frozen=True, slots=True)
class Bundle:
    """A grammar with what an engine must be told beside it."""

    grammar: str
    lazy: bool
    triggers: tuple[str, ...]
    preserved_tokens: tuple[str, ...]
    stop: tuple[str, ...]

    def to_dict(self) -> dict[str, JSON]:
        """The fields of a request to llama.cpp's server."""
        return {
            "grammar": self.grammar,
            "grammar_lazy": self.lazy,
            "grammar_triggers": [{"type": WORD, "value": word} for word in self.triggers],
            "preserved_tokens": list(self.preserved_tokens),
            "stop": list(self.stop),
        }


def render_gbnf(grammar: Grammar) -> str:
    """The grammar as GBNF text, the root first."""
    notes = [f"# not enforced: {', '.join(grammar.looser)}"] if grammar.looser else []
    writer = _Writer()
    for name, body in grammar.rules.items():
        writer.rule(name, body)
    return "\n".join([*notes, *writer.lines, ""])


@dataclass(slots=True)
class _Writer:
    """Rules as lines."""

    lines: list[str] = field(default_factory=list)
    scans: dict[Scan, str] = field(default_factory=dict)

    def rule(self, name: str, body: Node) -> None:
        options = body.options if isinstance(body, Choice) else (body,)
        self.lines.append("")
        at = len(self.lines) - 1
        self.lines[at] = f"{name} ::= {' | '.join(self.node(option) for option in options)}"

    def node(self, node: Node, *, tight: bool = False) -> str:
        """A node; `tight` where it must stand as one thing."""
        match node:
            case Text(text):
                parts = [quoted(part) for part in atoms(text)] or ['""']
                return f"({' '.join(parts)})" if tight and len(parts) > 1 else " ".join(parts)
            case Chars(ranges, negated):
                return char_class(ranges, negated)
            case Ref(name):
                return name
            case Seq(items):
                if not items:
                    return '""'
                inner = " ".join(self.node(item, tight=isinstance(item, Choice)) for item in items)
                return f"({inner})" if tight else inner
            case Choice(options):
                inner = " | ".join(self.node(option) for option in options)
                return f"({inner})" if tight else inner
            case Many(item, low, high):
                inner = self.node(item, tight=True) + times(low, high)
                return f"({inner})" if tight else inner
            case Scan():
                return self._scan(node)

    def _scan(self, scan: Scan) -> str:
        """The name of the first rule of a scan's automaton."""
        if not scan.stops:
            return ANY
        if scan not in self.scans:
            name = f"scan-{len(self.scans) + 1}"
            self.scans[scan] = name
            exits = {stop: self._exit(f"{name}-x{i}", after) for i, (stop, after) in enumerate(scan.exits)}
            for index, state in enumerate(states_of(scan.stops)):
                options = [*_moves(name, state), *_completions(state, exits), *(['""'] if scan.ends else [])]
                self.lines.append(f"{_state_name(name, index)} ::= {' | '.join(options)}")
        return self.scans[scan]

    def _exit(self, name: str, after: Node) -> str:
        """What follows an exit, as one name."""
        if isinstance(after, Ref):
            return after.name
        if after == Seq():
            return ""
        self.rule(name, after)
        return name


def _state_name(name: str, index: int) -> str:
    return f"{name}-{index}" if index else name


def _moves(name: str, state: State) -> Iterator[str]:
    """The moves of a state: characters that lead to the same place together."""
    chars = [char for char, _ in (*state.moves, *state.completes)]
    others = char_class(tuple((char, char) for char in chars), negated=True)
    yield f"{others} {name}"
    for goal in dict.fromkeys(goal for _, goal in state.moves):
        ways = tuple((char, char) for char, to in state.moves if to == goal)
        yield f"{char_class(ways, negated=False)} {_state_name(name, goal)}"


def _completions(state: State, exits: dict[str, str]) -> Iterator[str]:
    for char, mark in state.completes:
        if mark in exits:
            yield f"{char_class(((char, char),), negated=False)} {exits[mark]}".rstrip()


def times(low: int, high: int | None) -> str:
    """How often, as a suffix."""
    known = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (low, high) in known:
        return known[low, high]
    return f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"


def quoted(text: str) -> str:
    """A literal."""
    return '"' + "".join(_ESCAPES.get(char) or _printable(char) for char in text) + '"'


def char_class(ranges: Sequence[tuple[str, str]], negated: bool) -> str:
    """A class of characters."""
    inner = "".join(
        _in_class(first) if first == last else f"{_in_class(first)}-{_in_class(last)}"
        for first, last in ranges
    )
    return f"[{'^' if negated else ''}{inner}]"


def _in_class(char: str) -> str:
    return _CLASS_ESCAPES.get(char) or _printable(char)


def _printable(char: str) -> str:
    if char.isprintable():
        return char
    number = ord(char)
    return (
        f"\\x{number:02X}" if number < 256 else f"\\u{number:04X}" if number < 65536 else f"\\U{number:08X}"
    )
