"""Grammars in the Lark dialect of llguidance, which vLLM, SGLang and llama.cpp can run.

Source: llguidance's `docs/syntax.md`. Rules in capitals are lexemes, matched as long as they can be; a
`[lazy]` rule matches as little as it can, which is what text up to a mark needs. A special token is no text
there and has a notation of its own, `<name>`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from chatlint import lazy
from chatlint.export.gbnf import times
from chatlint.export.grammar import Chars, Choice, Grammar, Many, Node, Ref, Scan, Seq, Text, atoms
from chatlint.records import dataclass, field
from chatlint.text import visible_json

ANY = r"(?s:.*)"


def render_lark(grammar: Grammar, special_tokens: Mapping[str, int] | None = None) -> str:
    """The grammar as Lark text. Texts in `special_tokens` (text to id) are referred to as tokens, not
    spelled: by name where the name has angle brackets, else by id."""
    named = {
        text: text if _NAMED.fullmatch(text) else f"<[{number}]>"
        for text, number in (special_tokens or {}).items()
    }
    writer = _Writer(grammar.tokens, named, _splitter(named))
    for name, body in grammar.rules.items():
        writer.rule(name, body)
    notes = [f"// not enforced: {', '.join(grammar.looser)}"] if grammar.looser else []
    return "\n".join(["%llguidance {}", *notes, *writer.lines, ""])


_NAMED = lazy.regex(r"<[^<>\s\[\]]+>")


def _splitter(tokens: Collection[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True)))) if tokens else None


@dataclass(slots=True)
class _Writer:
    """Rules as lines."""

    tokens: frozenset[str]
    named: Mapping[str, str]
    special: re.Pattern[str] | None
    lines: list[str] = field(default_factory=list)
    scans: dict[Scan, str] = field(default_factory=dict)

    def rule(self, name: str, body: Node) -> None:
        if name in self.tokens:
            self.lines.append(f"{name.upper()}: /{regex(body)}/")
            return
        options = body.options if isinstance(body, Choice) else (body,)
        at = len(self.lines)
        self.lines.append("")
        shown = "\n  | ".join(self.node(option) for option in options)
        self.lines[at] = f"{_name(name)}: {shown}"

    def node(self, node: Node, *, tight: bool = False) -> str:
        """A node; `tight` where it must stand as one thing."""
        match node:
            case Text(text):
                return self._text(text, tight=tight)
            case Ref(name):
                return name.upper() if name in self.tokens else _name(name)
            case Seq(items):
                inner = " ".join(self.node(item, tight=isinstance(item, Choice)) for item in items) or '""'
                return f"({inner})" if tight else inner
            case Choice(options):
                inner = " | ".join(self.node(option) for option in options)
                return f"({inner})" if tight else inner
            case Many(item, low, high):
                inner = self.node(item, tight=True) + times(low, high)
                return f"({inner})" if tight else inner
            case Scan():
                return self._scan(node)
            case _:
                return f"/{regex(node)}/"

    def _text(self, text: str, *, tight: bool) -> str:
        parts = list(self._parts(text)) or ['""']
        return parts[0] if len(parts) == 1 else f"({' '.join(parts)})" if tight else " ".join(parts)

    def _parts(self, text: str) -> Iterator[str]:
        """Texts and special tokens."""
        at = 0
        for match in self.special.finditer(text) if self.special else ():
            if match.start() > at:
                yield from map(_quoted, atoms(text[at : match.start()]))
            yield self.named[match[0]]
            at = match.end()
        yield from map(_quoted, atoms(text[at:]))

    def _scan(self, scan: Scan) -> str:
        """The name of the rule for a scan."""
        if scan not in self.scans:
            name = f"scan_{len(self.scans) + 1}"
            self.scans[scan] = name
            at = len(self.lines)
            self.lines.append("")
            inside = self._inside(name, scan)
            options = [
                self._exit(f"{name}_{i}", inside, stop, after) for i, (stop, after) in enumerate(scan.exits)
            ]
            options += [inside] if scan.ends else []
            self.lines[at] = f"{name}: {' | '.join(options)}"
        return self.scans[scan]

    def _inside(self, name: str, scan: Scan) -> str:
        """The lexeme for the text itself, which holds no stop."""
        spelled = [stop for stop in scan.stops if not self._begins_special(stop)]
        if not spelled or (len(scan.stops) == 1 and not scan.ends):
            return f"/{ANY}/"
        stops = "|".join(map(escape, spelled))
        self.lines.append(f"{name.upper()}_TEXT: /{ANY}/ & ~/{ANY}(?:{stops}){ANY}/")
        return f"{name.upper()}_TEXT"

    def _begins_special(self, stop: str) -> bool:
        return bool(self.special and self.special.match(stop))

    def _exit(self, name: str, inside: str, stop: str, after: Node) -> str:
        """Text up to a stop, then what follows the stop."""
        then = "" if after == Seq() else " " + self.node(after, tight=True)
        if self._begins_special(stop):
            return f"{inside} {self._text(stop, tight=False)}{then}"
        self.lines.append(f"{name}[lazy]: {inside} {_quoted(stop)}")
        return f"{name}{then}"


def _quoted(text: str) -> str:
    return visible_json(text)


def _name(name: str) -> str:
    return "start" if name == "root" else name.replace("-", "_")


def regex(node: Node) -> str:
    """A regular node as a regular expression of Rust's `regex` crate."""
    match node:
        case Text(text):
            return escape(text)
        case Chars(ranges, negated):
            return _char_class(ranges, negated)
        case Seq(items):
            return "".join(_grouped(item) if isinstance(item, Choice) else regex(item) for item in items)
        case Choice(options):
            return "|".join(regex(option) for option in options)
        case Many(item, low, high):
            return _grouped(item) + times(low, high)
        case _:
            raise ValueError(f"not regular: {node}")


def _grouped(node: Node) -> str:
    inner = regex(node)
    return inner if isinstance(node, Chars) else f"(?:{inner})"


def _char_class(ranges: Sequence[tuple[str, str]], negated: bool) -> str:
    inner = "".join(
        _in_class(first) if first == last else f"{_in_class(first)}-{_in_class(last)}"
        for first, last in ranges
    )
    return f"[{'^' if negated else ''}{inner}]"


def _in_class(char: str) -> str:
    return char if char.isalnum() else f"\\x{{{ord(char):x}}}"


def escape(text: str) -> str:
    """Text as a regular expression that means it, between slashes."""
    return "".join(char if char.isalnum() or char in " _" else _in_class(char) for char in text)
