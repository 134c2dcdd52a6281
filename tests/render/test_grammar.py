"""The tree that templates are compiled from, against Jinja's own lexer and nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import nodes
from jinja2.ext import LoopControlExtension

from chatlint.render.environment import parse_template
from chatlint.render.grammar import GenerationBlock, children, normalised, offset_of, untrimmed
from chatlint.text import Literal
from tests.render.plain import render

EXTENSIONS = [GenerationBlock, LoopControlExtension]
TRIMMING = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=EXTENSIONS)
PLAIN = jinja2.Environment(extensions=EXTENSIONS)
PIECES = st.sampled_from(
    [
        *("{% set a = 1 %}", "{%- set a = 1 %}", "{% set a = 1 -%}", "{%+ set a = 1 %}", "{% set a = 1 +%}"),
        *("{{ 'a' }}", "{{- 'a' }}", "{{ 'a' -}}", "{# c #}", "{#- c #}", "{# c -#}", "{%- set a = 1 -%}"),
        *("{% raw %}", "{%- raw -%}", "{% endraw %}", "{%- endraw -%}", "{% endraw +%}", "{% if 1 %}"),
        *("{% endif %}", "x", " ", "  ", "\n", "\n\n", "\r\n", "\n  ", "x\n", " x ", "\t", "é"),
    ]
)


def data_of(tree: nodes.Node) -> list[nodes.TemplateData]:
    return list(tree.find_all(nodes.TemplateData))


def texts_of(tree: nodes.Node) -> list[tuple[str, int]]:
    """What is printed as it stands, with its lines, neighbours put together."""
    return [(node.data, node.lineno) for node in data_of(tree) if len(node.data)]


def parsed(environment: jinja2.Environment, source: str) -> nodes.Template | None:
    try:
        return environment.parse(source)
    except jinja2.TemplateSyntaxError:
        return None


def compared(source: str) -> None:
    trimming, plain = parsed(TRIMMING, source), parsed(PLAIN, source)
    if trimming is None or plain is None:
        return
    tree = parse_template(source)
    assert texts_of(tree) == texts_of(trimming)
    whole = [untrimmed(node) or (str(node.data), offset_of(node)) for node in data_of(tree)]
    assert [text for text, _ in whole if text] == [text for text, _ in texts_of(plain)]
    for node, (full, begin) in zip(data_of(tree), whole, strict=True):
        assert normalised(source).startswith(full, begin)
        assert normalised(source).startswith(node.data, offset_of(node))


@given(st.lists(PIECES, max_size=10).map("".join))
def test_data_as_with_and_without_trimming(source: str) -> None:
    compared(source)


def test_data_of_real_templates(shared: Path) -> None:
    for path in sorted((shared / "templates").glob("*.jinja"))[5::12]:
        compared(path.read_text(encoding="utf-8"))


@given(st.lists(PIECES, max_size=8).map("".join))
def test_renders_as_with_and_without_trimming(source: str) -> None:
    for environment, trims in ((TRIMMING, True), (PLAIN, False)):
        tree = parsed(environment, source)
        if tree is not None:
            prompt = render(source, trims=trims).prompt
            assert prompt.text == environment.from_string(tree).render()
            literals = [span for span in prompt.spans if isinstance(span.origin, Literal)]
            lines = normalised(source).split("\n")
            for span in literals:
                rest = "\n".join(lines[span.origin.line - 1 :])[span.origin.column - 1 :]
                assert rest.startswith((prompt.piece(span), "'" + prompt.piece(span), '"'))


SOURCE = """{% macro m(a, b=1) %}{{ a ~ b }}{% endmacro %}{% for x in y if x %}{{ m(x[1:2], b={'c': [1, (2, 3)]}) }}
{% else %}{{ 'none' if not y is defined else y|join(', ') }}{% endfor %}{% call m(1) %}{% endcall %}"""


def below(node: nodes.Node) -> Iterator[nodes.Node]:
    for child in type(node).iter_child_nodes(node):
        yield child
        yield from below(child)


@pytest.mark.parametrize("kind", [nodes.Node, nodes.Name, (nodes.Const, nodes.Call)])
def test_nodes_know_what_is_below_them(kind: type) -> None:
    tree = parse_template(SOURCE)
    for node in (tree, *below(tree)):
        assert (
            list(children(node)) == list(node.iter_child_nodes()) == list(type(node).iter_child_nodes(node))
        )
        assert list(node.find_all(kind)) == [one for one in below(node) if isinstance(one, kind)]
        assert node.environment is tree.environment is not None
