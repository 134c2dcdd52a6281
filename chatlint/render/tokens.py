"""The tags of a template, token by token, with the place of each in the source: what an edit needs to know.

Offsets count code points of the *normalised* source (`grammar.normalised`), as all offsets do.
"""

from __future__ import annotations

from chatlint.records import dataclass

_OPENS = {"(": ")", "[": "]", "{": "}"}
_SILENT = frozenset({"whitespace", "data", "comment", "comment_begin", "comment_end", "linecomment"})
_BEGINS = frozenset({"variable_begin", "block_begin"})
_ENDS = frozenset({"variable_end", "block_end"})
_WORDS = frozenset({"if", "else", "in", "not", "and", "or", "is", "recursive"})
_CONSTANTS = frozenset({"true", "false", "none", "True", "False", "None"})


@dataclass(frozen=True, slots=True)
class Token:
    """A token inside a tag: Jinja's `kind` (`name`, `string`, `operator` …), its text, where it begins."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Chain:
    """A name with the members that are read of it: `message.tool_calls[0]['function']`.

    `names` are those of the members, `*` for an index that is not written out; `first` is the number of its
    first token, `ends` are those of the tokens that end each name. `called`: parentheses follow, so the last
    member is a method."""

    names: tuple[str, ...]
    first: int
    ends: tuple[int, ...]
    called: bool

    @property
    def last(self) -> int:
        return self.ends[-1]

    def upto(self, name: str) -> Chain | None:
        """The chain that ends with the member of this name, be it this one or, where a method is called on
        it, what stands before the method. None if there is none."""
        if not self.called:
            return self if self.names[-1] == name else None
        shorter = Chain(self.names[:-1], self.first, self.ends[:-1], False)
        return shorter if shorter.names[-1:] == (name,) else None


@dataclass(frozen=True, slots=True)
class Tag:
    """`{{ … }}` or `{% … %}`: from `start` to `end` of the source, and the tokens between its signs."""

    start: int
    end: int
    tokens: tuple[Token, ...]
    prints: bool

    @property
    def word(self) -> str:
        """What kind of statement it is; "" for an output."""
        return self.tokens[0].text if self.tokens and not self.prints else ""

    @property
    def value(self) -> int:
        """The number of the first token of what is printed, set or tested."""
        if self.prints or not self.tokens:
            return 0
        if self.word in ("set", "for"):
            sign = "=" if self.word == "set" else "in"
            places = (place for place, token in enumerate(self.tokens) if token.text == sign)
            return next(places, len(self.tokens)) + 1
        return len(self.tokens) if self.word in ("macro", "block") else 1

    @property
    def chains(self) -> tuple[Chain, ...]:
        """Every chain in its value, in order."""
        places = range(self.value, len(self.tokens))
        return tuple(self._chain(place) for place in places if self._begins(place))

    def near(self, place: int) -> str:
        """The text of the token at a number, "" outside the tag."""
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def close(self, place: int) -> int | None:
        """The number of the bracket that closes the one at `place`."""
        waiting: list[str] = []
        for number in range(place, len(self.tokens)):
            text = self.tokens[number].text
            if text in _OPENS and self.tokens[number].kind == "operator":
                waiting.append(_OPENS[text])
            elif waiting and text == waiting[-1]:
                waiting.pop()
                if not waiting:
                    return number
        return None

    def _begins(self, place: int) -> bool:
        token = self.tokens[place]
        if token.kind != "name" or token.text in _WORDS | _CONSTANTS or self.near(place + 1) == "=":
            return False
        before = self.near(place - 1)
        return before not in (".", "|", "is") and (before, self.near(place - 2)) != ("not", "is")

    def _chain(self, first: int) -> Chain:
        names, ends = [self.tokens[first].text], [first]
        while True:
            last = ends[-1]
            sign = self.near(last + 1)
            if sign == "." and last + 2 < len(self.tokens):
                names.append(self.tokens[last + 2].text)
                ends.append(last + 2)
            elif sign == "[" and (close := self.close(last + 1)) is not None:
                names.append(self._member(last + 2, close))
                ends.append(close)
            else:
                return Chain(tuple(names), first, tuple(ends), sign == "(")

    def _member(self, first: int, close: int) -> str:
        only = self.tokens[first] if close == first + 1 else None
        return only.text[1:-1] if only and only.kind == "string" else "*"


def offset_at(source: str, line: int, column: int) -> int:
    """The offset in the normalised source of a one-based place in it."""
    from chatlint.render.grammar import normalised

    return sum(len(one) + 1 for one in normalised(source).split("\n")[: line - 1]) + column - 1


def tags_of(source: str) -> tuple[Tag, ...]:
    """The tags of a template, in order; comments and raw text are none. Nothing for what Jinja cannot cut."""
    from jinja2 import TemplateSyntaxError

    from chatlint.render.grammar import parsing_environment, pieces
    from chatlint.render.guard import BoundError

    tags: list[Tag] = []
    inside: list[Token] = []
    start = 0
    try:
        for offset, (_, kind, text) in pieces(parsing_environment(), source):
            if kind in _BEGINS:
                start, inside = offset, []
            elif kind in _ENDS:
                sign = text.rstrip()  # white space that is stripped behind it belongs to the token
                tags.append(Tag(start, offset + len(sign), tuple(inside), kind == "variable_end"))
            elif kind not in _SILENT:
                inside.append(Token(kind, text, offset))
    except (TemplateSyntaxError, BoundError):
        return ()
    return tuple(tags)
