"""The grammar of chat templates: Jinja with `{% generation %}` and the loop controls."""

from __future__ import annotations

from functools import lru_cache

from jinja2 import nodes, pass_eval_context
from jinja2.ext import Extension, LoopControlExtension
from jinja2.nodes import EvalContext
from jinja2.parser import Parser
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment


class GenerationBlock(Extension):
    """`{% generation %}…{% endgeneration %}`: what the assistant wrote, for training masks."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.CallBlock:
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_generation_support"), [], [], body).set_lineno(lineno)

    @pass_eval_context
    def _generation_support(self, context: EvalContext, caller: Macro) -> str:
        return caller()


class ChatGrammar(ImmutableSandboxedEnvironment):
    """An environment that parses and compiles chat templates as transformers does."""

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, LoopControlExtension]
        )


@lru_cache(maxsize=1)
def parsing_environment() -> ChatGrammar:
    """The one environment that templates are parsed in."""
    return ChatGrammar()
