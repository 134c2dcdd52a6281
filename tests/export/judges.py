"""Who judges grammars: llguidance reads the Lark form, a machine of our own the GBNF form.

A text is "accepted", "viable" (more must follow) or "refused at" a place.
"""

from __future__ import annotations

from functools import cache, lru_cache

from chatlint.export.gbnf import render_gbnf
from chatlint.export.lark import render_lark
from chatlint.export.turn import Request, turn_grammar
from tests.export.gbnf_machine import Machine


@cache
def _tokenizer():
    import llguidance

    return llguidance.LLTokenizer("byte")


@lru_cache(maxsize=256)
def _matcher(grammar):
    import llguidance

    matcher = llguidance.LLMatcher(_tokenizer(), grammar)
    assert not matcher.is_error(), matcher.get_error()
    return matcher


@lru_cache(maxsize=256)
def _machine(grammar):
    return Machine(grammar)


def lark(grammar, text):
    """What llguidance says of a text."""
    matcher = _matcher(render_lark(grammar))
    matcher.reset()
    tokens = list(text.encode())
    taken = matcher.try_consume_tokens(tokens)
    assert not matcher.is_error(), matcher.get_error()
    if taken < len(tokens):
        return f"refused at {taken}"
    return "accepted" if matcher.is_accepting() else "viable"


def gbnf(grammar, text):
    """What the machine says of it."""
    return _machine(render_gbnf(grammar)).read(text)


JUDGES = {"lark": lark, "gbnf": gbnf}


def verdict(judge, output, text, **request):
    """What a judge says of a text under the grammar for a request."""
    return JUDGES[judge](turn_grammar(output, Request(**request)), text)
