"""Nodes of a template's tree, made without Jinja's constructor, which is slow."""

from __future__ import annotations

from typing import TypeVar

from jinja2 import nodes
from jinja2.environment import Environment
from jinja2.parser import Parser

from chatlint.render.below import equip, settle

_Node = TypeVar("_Node", bound=nodes.Node)


class MakingParser(Parser):
    """Jinja's parser, with what makes nodes, and what is printed."""

    def __init__(
        self,
        environment: Environment,
        source: str,
        name: str | None = None,
        filename: str | None = None,
        state: str | None = None,
    ) -> None:
        super().__init__(environment, source, name, filename, state)
        self.rare: set[type[nodes.Node]] = set()

    def parse(self) -> nodes.Template:
        tree = nodes.Template(self.subparse(), lineno=1)
        settle(tree, self.environment, self.rare)
        return tree

    def made(self, kind: type[_Node], line: int | None, *below: nodes.Node) -> _Node:
        """A node with all but its fields; what is below it is made, too."""
        node = object.__new__(kind)
        node.lineno = line  # type: ignore[assignment]
        equip(node, self.environment, below, self.rare)
        return node

    def settled(self, node: _Node) -> _Node:
        """An expression that Jinja's own methods put together."""
        settle(node, self.environment, self.rare)
        return node

    def subparse(self, end_tokens: tuple[str, ...] | None = None) -> list[nodes.Node]:
        if end_tokens is not None:
            self._end_token_stack.append(end_tokens)
        body: list[nodes.Node] = []
        printed: list[nodes.Expr] = []
        stream = self.stream
        while (kind := stream.current.type) != "eof":
            if kind == "data":
                printed.append(self._data())
            elif kind == "variable_begin":
                next(stream)
                printed.append(self.parse_tuple())
                stream.expect("variable_end")
            else:
                self._print(body, printed)
                printed = []
                next(stream)
                if end_tokens is not None and stream.current.test_any(*end_tokens):
                    break
                statement = self.parse_statement()
                body += statement if isinstance(statement, list) else [statement]
                stream.expect("block_end")
        self._print(body, printed)
        if end_tokens is not None:
            self._end_token_stack.pop()
        return body

    def _data(self) -> nodes.TemplateData:
        token = next(self.stream)
        node = self.made(nodes.TemplateData, token.lineno)
        node.data = token.value
        return node

    def _print(self, body: list[nodes.Node], printed: list[nodes.Expr]) -> None:
        if printed:
            node = self.made(nodes.Output, printed[0].lineno, *printed)
            node.nodes = printed
            body.append(node)
