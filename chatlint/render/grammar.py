"""The grammar of chat templates: Jinja with `{% generation %}` and the loop controls.

Nodes remember where they stand: `TemplateData`, string `Const` and whatever an output statement prints get
the offset of their first character in the normalised source (`offset_of`), which Jinja itself does not
keep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from functools import lru_cache, partial
from typing import TypeAlias

from jinja2 import nodes, pass_eval_context
from jinja2.environment import Environment
from jinja2.ext import Extension, LoopControlExtension
from jinja2.lexer import Token, TokenStream
from jinja2.nodes import EvalContext
from jinja2.parser import Parser
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from chatlint.limits import COMPILE_TOKENS
from chatlint.render.generation import enclosed
from chatlint.render.guard import BoundError

_NEWLINE = re.compile(r"\r\n|\r|\n")
_SPACE = re.compile(r"\s*")
_Names: TypeAlias = Container[str] | None


def normalised(source: str) -> str:
    """Template source as Jinja reads it: every newline is `\\n`, and one at the very end is dropped."""
    return _NEWLINE.sub("\n", source).removesuffix("\n")


def offset_of(node: nodes.Node) -> int | None:
    """Where in the normalised source a node's text begins; None where that is not known."""
    found: int | None = getattr(node.data if isinstance(node, nodes.TemplateData) else node, "offset", None)
    return found


def children(node: nodes.Node) -> tuple[nodes.Node, ...]:
    """The nodes right below a node of a tree that was parsed here, in order."""
    known: tuple[nodes.Node, ...] = node.children  # type: ignore[attr-defined]
    return known


def _keep_children(root: nodes.Node) -> None:
    """Keep with every node what is right below it. Jinja's generator walks everything below each block, and
    reads all fields of all nodes again for that: half of its time."""
    stack = [root]
    while stack:
        node = stack.pop()
        known = node.children = tuple(node.iter_child_nodes())  # type: ignore[attr-defined]
        node.iter_child_nodes = partial(_kept, node.iter_child_nodes, known)  # type: ignore[method-assign]
        stack += known


def _kept(
    read: Callable[[_Names, _Names], Iterator[nodes.Node]],
    known: tuple[nodes.Node, ...],
    exclude: _Names = None,
    only: _Names = None,
) -> Iterator[nodes.Node]:
    """Stands for a node's own `iter_child_nodes`."""
    return iter(known) if exclude is None and only is None else read(exclude, only)


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


class _PlacedToken(Token):
    offset: int


class _PlacedText(str):
    __slots__ = ("offset",)
    offset: int


class _PlacingParser(Parser):
    def parse_primary(self, with_namespace: bool = False) -> nodes.Expr:
        token = self.stream.current
        node = super().parse_primary(with_namespace)
        if token.type == "string" and type(node) is nodes.Const:
            _place(node, token)
        return node


def _place(node: nodes.Node, token: Token) -> None:
    offset = getattr(token, "offset", None)
    if offset is not None:
        node.offset = offset  # type: ignore[attr-defined]


class ChatGrammar(ImmutableSandboxedEnvironment):
    """An environment that parses and compiles chat templates as transformers does."""

    def __init__(self, trims: bool = True) -> None:
        super().__init__(
            trim_blocks=trims, lstrip_blocks=trims, extensions=[GenerationBlock, LoopControlExtension]
        )

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = _PlacingParser(self, source, name, filename).parse()
        _keep_children(tree)
        return tree

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        return TokenStream(_placed(self, source, name, filename, state), name, filename)


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


def _placed(
    environment: Environment, source: str, name: str | None, filename: str | None, state: str | None
) -> Iterator[Token]:
    """Jinja's tokens, each with its offset."""
    offset = 0

    def followed() -> Iterator[tuple[int, str, str]]:
        nonlocal offset
        for offset, token in pieces(environment, source, name, filename, state):  # noqa: B007
            yield token

    for lineno, kind, value in environment.lexer.wrap(followed(), name, filename):
        if kind == "data":
            text = _PlacedText(value)
            text.offset = offset
            yield Token(lineno, kind, text)
        else:
            token = _PlacedToken(lineno, kind, value)
            token.offset = offset
            yield token


@lru_cache(maxsize=2)
def parsing_environment(trims: bool = True) -> ChatGrammar:
    """The one environment that templates are parsed in, and the one for hosts that do not trim."""
    return ChatGrammar(trims)
