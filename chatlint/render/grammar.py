"""The grammar of chat templates: Jinja with `{% generation %}` and the loop controls.

Nodes remember where they stand: `TemplateData`, string `Const` and `Name` get the offset of their first
character in the normalised source (`offset_of`), which Jinja itself does not keep. The tree is that of an
environment with `trim_blocks` and `lstrip_blocks`, and knows what stands there without the two (`untrimmed`):
data that is trimmed altogether is in it, too, as "". So one compilation serves both kinds of hosts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from jinja2 import nodes, pass_eval_context
from jinja2.environment import Environment
from jinja2.ext import Extension, LoopControlExtension
from jinja2.lexer import Token, TokenStream
from jinja2.nodes import EvalContext
from jinja2.parser import Parser
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from chatlint.lazy import regex
from chatlint.limits import COMPILE_TOKENS
from chatlint.render.generation import enclosed
from chatlint.render.guard import BoundError
from chatlint.render.lexing import PlacedText, Tokens, data_token, placed_token, quick_tokens
from chatlint.render.parsing import PlacingParser

_NEWLINE = regex(r"\r\n|\r|\n")
_SPACE = regex(r"\s*")
_WHOLE = frozenset(("raw_begin", "raw_end"))
_OPENING = frozenset(("block_begin", "variable_begin", "comment_begin")) | _WHOLE
_CLOSING = frozenset(("block_end", "variable_end", "comment_end")) | _WHOLE


def normalised(source: str) -> str:
    """Template source as Jinja reads it: every newline is `\\n`, and one at the very end is dropped."""
    return (_NEWLINE.sub("\n", source) if "\r" in source else source).removesuffix("\n")


def offset_of(node: nodes.Node) -> int | None:
    """Where in the normalised source a node's text begins; None where that is not known."""
    found: int | None = getattr(node.data if isinstance(node, nodes.TemplateData) else node, "offset", None)
    return found


def untrimmed(data: nodes.TemplateData) -> tuple[str, int] | None:
    """What template data is without `trim_blocks` and `lstrip_blocks`, and its offset; None if it is the
    same."""
    text = data.data
    return (text.full, text.begin) if isinstance(text, PlacedText) and text.full != text else None


def children(node: nodes.Node) -> tuple[nodes.Node, ...]:
    """The nodes right below a node of a tree that was parsed here, in order."""
    known: tuple[nodes.Node, ...] = node.children  # type: ignore[attr-defined]
    return known


class GenerationBlock(Extension):
    """`{% generation %}…{% endgeneration %}`: what the assistant wrote, for training masks."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_generation_support"), [], [], body).set_lineno(lineno)

    @pass_eval_context
    def _generation_support(self, context: EvalContext, caller: Macro) -> str:
        return enclosed(caller())


class ChatGrammar(ImmutableSandboxedEnvironment):
    """An environment that parses and compiles chat templates as transformers does."""

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, LoopControlExtension]
        )

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return PlacingParser(self, source, name, filename).parse()

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        """`state` is what only `Environment.compile_expression` needs, which no one calls here."""
        tokens = quick_tokens(normalised(source))
        if tokens is None:
            return TokenStream(_placed(self, source, name, filename), name, filename)
        return Tokens(tokens, name, filename)


def pieces(
    environment: Environment,
    source: str,
    name: str | None = None,
    filename: str | None = None,
    state: str | None = None,
) -> Iterator[tuple[int, tuple[int, str, str]]]:
    """What Jinja's lexer cuts a source into, white space in tags and comments too, each with its offset in
    the normalised source.

    Raises jinja2.TemplateSyntaxError, and BoundError for a source of more than `limits.COMPILE_TOKENS`.
    """
    text = normalised(source)
    at = 0
    for count, token in enumerate(environment.lexer.tokeniter(source, name, filename, state)):
        if count > COMPILE_TOKENS:
            raise BoundError(f"a template of more than {COMPILE_TOKENS:,} tokens")
        value = token[2]
        if not text.startswith(value, at):
            # White space before a tag was stripped, and is no token.
            at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        yield at, token
        at += len(value)


def _placed(environment: Environment, source: str, name: str | None, filename: str | None) -> Iterator[Token]:
    """Jinja's tokens with their offsets; data with what it is untrimmed."""
    gaps = _Gaps(normalised(source))
    for offset, piece in pieces(environment, source, name, filename):
        line, kind, value = piece
        if kind in _OPENING:
            yield from gaps.before(offset, line, value)
        if kind in _CLOSING:
            gaps.after(offset, value)
        if kind == "data":
            gaps.hold(offset, value)
            continue
        for token in environment.lexer.wrap((piece,), name, filename):
            yield placed_token((*token, offset))
    yield from gaps.last()


class _Gaps:
    """Template data between one tag and the next, as hosts have it that trim and as those that do not."""

    __slots__ = ("_begin", "_held", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._begin = 0
        self._held: tuple[int, str] | None = None

    def after(self, offset: int, tag: str) -> None:
        """A tag, or the end of one, was passed. A line break after it is the tag's only where that is
        trimmed, but for the white space that a minus takes."""
        end = tag.rstrip()
        self._begin = offset + len(tag if end[-3:-2] == "-" else end)

    def hold(self, offset: int, data: str) -> None:
        """The data of a host that trims."""
        self._held = offset, data

    def before(self, offset: int, line: int, tag: str) -> Iterator[Token]:
        """The data before a tag that begins here."""
        full = self._text[self._begin : offset]
        yield from self._data(full.rstrip() if tag[2:3] == "-" else full, line - full.count("\n"))
        self._begin = len(self._text)

    def last(self) -> Iterator[Token]:
        """The data behind the last tag."""
        yield from self._data(self._text[self._begin :], self._text.count("\n", 0, self._begin) + 1)

    def _data(self, full: str, line: int) -> Iterator[Token]:
        offset, data = self._held or (self._begin, "")
        self._held = None
        if data or full:
            line += full.count("\n", 0, offset - self._begin)
            yield data_token(line, data, offset, full, self._begin)


@lru_cache(maxsize=1)
def parsing_environment() -> ChatGrammar:
    """The one environment that templates are parsed in."""
    return ChatGrammar()
