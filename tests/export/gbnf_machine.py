"""Reads GBNF and runs it as llama.cpp does: a set of stacks, one character at a time.

Written from llama.cpp's description of the notation (`grammars/README.md`), apart from the code under test.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.S)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"', "[": "[", "]": "]"}
_NAME = re.compile(r"[a-zA-Z0-9-]+")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_TIMES = re.compile(r"[*+?]|\{\s*(\d+)\s*(?:(,)\s*(\d*)\s*)?\}")


class Malformed(Exception):
    """It is no GBNF."""


class Machine:
    """A grammar ready to read texts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.rules: dict[str, list[tuple]] = {}
        self._count = 0
        self._skip()
        while self._at < len(text):
            self._rule()
        self._check()

    def read(self, text: str) -> str:
        """ "accepted", "viable" if more must follow, or "refused at N"."""
        stacks = self._settle({(("ref", "root"), None)})
        for at, char in enumerate(text):
            moved = {rest for (item, rest) in filter(None, stacks) if _fits(item, char)}
            stacks = self._settle(moved)
            if not stacks:
                return f"refused at {at}"
        return "accepted" if None in stacks else "viable"

    # -- running ---------------------------------------------------------------------------------------------------

    def _settle(self, stacks: set) -> set:
        """The stacks with a class of characters, or nothing, on top."""
        done: set = set()
        seen = set(stacks)
        waiting = list(stacks)
        while waiting:
            stack = waiting.pop()
            if stack is None or stack[0][0] == "class":
                done.add(stack)
                continue
            (_, name), rest = stack
            for option in self.rules[name]:
                made = rest
                for item in reversed(option):
                    made = (item, made)
                if made not in seen:
                    seen.add(made)
                    waiting.append(made)
        return done

    def _check(self) -> None:
        """Every rule is there, and none begins with itself: llama.cpp refuses that."""
        for name, options in self.rules.items():
            for option in options:
                for kind, what in (item[:2] for item in option):
                    if kind == "ref" and what not in self.rules:
                        raise Malformed(f"{name} refers to {what}, which is not there")
        empty: set[str] = set()
        while grown := {
            name for name, options in self.rules.items()
            if name not in empty and any(all(i[0] == "ref" and i[1] in empty for i in o) for o in options)
        }:  # fmt: skip
            empty |= grown
        for name in self.rules:
            self._no_left_recursion(name, empty)

    def _no_left_recursion(self, start: str, empty: set[str]) -> None:
        seen, waiting = set(), [start]
        while waiting:
            for option in self.rules[waiting.pop()]:
                for item in option:
                    if item[0] == "class":
                        break
                    if item[1] == start:
                        raise Malformed(f"{start} begins with itself")
                    if item[1] not in seen:
                        seen.add(item[1])
                        waiting.append(item[1])
                    if item[1] not in empty:
                        break

    # -- reading ---------------------------------------------------------------------------------------------------

    def _skip(self, *, lines: bool = True) -> None:
        if lines:
            self._at = _BLANK.match(self._text, self._at).end()
            return
        while self._text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1

    def _take(self, text: str) -> None:
        if not self._text.startswith(text, self._at):
            raise Malformed(f"expected {text!r} at {self._text[self._at : self._at + 30]!r}")
        self._at += len(text)

    def _rule(self) -> None:
        name = self._name()
        self._skip(lines=False)
        self._take("::=")
        self._skip(lines=False)
        if name in self.rules:
            raise Malformed(f"{name} is there twice")
        self.rules[name] = []
        self.rules[name] = self._options(nested=False)
        self._skip()

    def _name(self) -> str:
        match = _NAME.match(self._text, self._at)
        if not match:
            raise Malformed(f"expected a name at {self._text[self._at : self._at + 30]!r}")
        self._at = match.end()
        return match[0]

    def _options(self, *, nested: bool) -> list[tuple]:
        options = [self._sequence(nested=nested)]
        while self._text[self._at : self._at + 1] == "|":
            self._at += 1
            self._skip(lines=nested)
            options.append(self._sequence(nested=nested))
        return options

    def _sequence(self, *, nested: bool) -> tuple:
        items: list = []
        while (char := self._text[self._at : self._at + 1]) and char not in "|)\r\n":
            item = self._item(char)
            many = len(item) > 1 and _TIMES.match(self._text, self._at)
            items += self._repeated([self._fresh([tuple(item)])] if many else item)
            self._skip(lines=nested)
        return tuple(items)

    def _item(self, char: str) -> list:
        if char == '"':
            return self._literal()
        if char == "[":
            return [self._class()]
        if char == "(":
            self._at += 1
            self._skip()
            options = self._options(nested=True)
            self._take(")")
            return [self._fresh(options)]
        return [("ref", self._name())]

    def _literal(self) -> list:
        self._at += 1
        items = []
        while self._text[self._at : self._at + 1] != '"':
            char = self._char()
            items.append(("class", ((char, char),), False))
        self._at += 1
        return items

    def _class(self) -> tuple:
        self._at += 1
        negated = self._text[self._at] == "^"
        self._at += negated
        ranges = []
        while self._text[self._at] != "]":
            first = self._char()
            last = first
            if self._text[self._at] == "-" and self._text[self._at + 1] != "]":
                self._at += 1
                last = self._char()
            ranges.append((first, last))
        self._at += 1
        return ("class", tuple(ranges), negated)

    def _char(self) -> str:
        if self._at >= len(self._text):
            raise Malformed("it breaks off")
        match = _ESCAPE.match(self._text, self._at)
        if match:
            self._at = match.end()
            digits = match[1] or match[2] or match[3]
            if digits:
                return chr(int(digits, 16))
            if match[4] not in _PLAIN:
                raise Malformed(f"no escape: {match[0]}")
            return _PLAIN[match[4]]
        self._at += 1
        return self._text[self._at - 1]

    def _fresh(self, options: list[tuple]) -> tuple:
        self._count += 1
        name = f"{self._count}:inner"
        self.rules[name] = options
        return ("ref", name)

    def _repeated(self, items: list) -> list:
        match = _TIMES.match(self._text, self._at)
        if not match or not items:
            return items
        self._at = match.end()
        low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(match[0], (0, 0))
        if match[1]:
            low = int(match[1])
            high = low if not match[2] else int(match[3]) if match[3] else None
        *before, last = items
        return [*before, *[last] * low, *self._more(last, None if high is None else high - low)]

    def _more(self, item: tuple, count: int | None) -> list:
        if count is None:
            name = self._fresh([])
            self.rules[name[1]] = [(item, name), ()]
            return [name]
        made: list = []
        for _ in range(count):
            made = [self._fresh([(item, *made), ()])]
        return made


def _fits(item: tuple, char: str) -> bool:
    _, ranges, negated = item
    return any(first <= char <= last for first, last in ranges) is not negated
