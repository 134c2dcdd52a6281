"""The trees of the one method for all operators, against those of Jinja's parser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import nodes
from jinja2.ext import LoopControlExtension

from chatlint.errors import TemplateError
from chatlint.render.environment import TemplateTooLarge, parse_template
from chatlint.render.grammar import GenerationBlock, normalised, offset_of
from chatlint.render.tree import nodes_below

JINJA = jinja2.Environment(
    trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, LoopControlExtension]
)
ATOMS = st.sampled_from(["a", "b.c", "1", "2.5", "'x'", "'x' 'y'", "none", "True", "(a)", "[]", "()", "{}"])
SPACES = st.sampled_from([" ", "\n"])
BINARY = st.sampled_from(
    [
        *("or", "and", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "not\nin"),
        *("+", "-", "~", "*", "/", "//", "%", "**", "if"),
    ]
)
AROUND = st.sampled_from(
    [
        *("not {}", "-{}", "+{}", "({})", "[{},\n1]", "({},)", "{'k': {}}", "f({})", "f(x={}, *a, **b)"),
        *("f(*{})", "{}.m", "{}.0", "{}[{}]", "{}[1:]", "{}[:{}:2]", "{}[1, {}]", "{}|f", "{}|f({})"),
        *("{}|f.g|h", "{}()", "{} is f", "{} is not f", "{} is f({})", "{} is f a", "{} if 1"),
        *("{} if 1 else {}", "a ~ {} ~ b", "{}\n"),
        *("{}|f()()", "{}|f({})(1)|g", "{} is f()()", "{} is f({})(x=1)"),
    ]
)
SOUP = st.sampled_from(
    [
        *("a", "1", "'x'", "not", "in", "is", "if", "else", "and", "or", "(", ")", "[", "]", "{", "}", ":"),
        *(",", ".", "|", "-", "+", "*", "**", "~", "=", "==", "<", "\n", "f(", "x=", "é", "none"),
    ]
)


def joined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(parts, SPACES, BINARY, SPACES, parts).map("".join)


EXPRESSIONS = st.recursive(
    ATOMS,
    lambda parts: (
        joined(parts) | joined(joined(parts)) | st.builds(lambda a, e: a.replace("{}", e), AROUND, parts)
    ),
    max_leaves=12,
)
TEMPLATES = st.sampled_from(
    [
        *(
            "{{ @ }}",
            "{{ a }}{{ @ }}b",
            "{% set x = @ %}",
            "{% set x, n.y = @ %}",
            "{% set @ %}a{% endset %}",
        ),
        "{% if @ %}x{% elif a %}y{% else %}{% endif %}",
        "{% for a, (b, c) in @ if d %}{% else %}{% endfor %}",
        "{% for @ in x recursive %}{% endfor %}",
        "{% macro m(a, b=@) %}{% endmacro %}",
        "{% call(a) @ %}{% endcall %}",
        "{% generation %}{{ @ }}{% endgeneration %}",
        "{% filter f(@) %}{% endfilter %}",
        "{% block b %}@",
    ]
)


def is_empty(node: object) -> bool:
    """Whether it is data that is trimmed altogether, which Jinja's trees do not have."""
    if isinstance(node, nodes.Output):
        return all(map(is_empty, node.nodes))
    return isinstance(node, nodes.TemplateData) and not len(node.data)


def dumped(node: object) -> Iterator[object]:
    if isinstance(node, nodes.Output):
        yield next(one.lineno for one in node.nodes if not is_empty(one))
        yield from dumped(node.nodes)
    elif isinstance(node, nodes.Node):
        yield type(node), node.lineno
        for name, value in node.iter_fields():
            yield name
            yield from dumped(value)
    elif isinstance(node, list):
        kept = [one for one in node if not is_empty(one)]
        yield len(kept)
        for one in kept:
            yield from dumped(one)
    else:
        yield node, type(node) if not isinstance(node, str) else str


def fault(error: jinja2.TemplateSyntaxError | TemplateError) -> tuple[str | None, int | None]:
    return error.message, error.line if isinstance(error, TemplateError) else error.lineno


def compared(source: str) -> None:
    try:
        expected = JINJA.parse(source)
    except jinja2.TemplateSyntaxError as error:
        said = fault(error)
        with pytest.raises(TemplateError) as caught:
            parse_template(source)
        assert fault(caught.value) == said
        return
    tree = parse_template(source)
    assert list(dumped(tree)) == list(dumped(expected))
    for node in tree.find_all(nodes.Name):
        offset = offset_of(node)
        assert offset is None or normalised(source).startswith(node.name, offset)


@given(TEMPLATES, EXPRESSIONS)
def test_trees_are_those_of_jinja(template: str, expression: str) -> None:
    compared(template.replace("@", expression))


@given(TEMPLATES, st.lists(SOUP, max_size=9).map(" ".join))
def test_so_are_errors(template: str, soup: str) -> None:
    compared(template.replace("@", soup))


@given(st.data())
def test_so_are_those_of_real_templates_that_are_cut(shared: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted((shared / "templates").glob("*.jinja"))))
    source = path.read_text(encoding="utf-8")
    begin = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(begin, min(begin + 40, len(source))))
    compared(source[:begin] + source[end:])


@pytest.mark.parametrize("brackets", ["()", "[]", "a[]", "f()", "a|f()"])
def test_brackets_are_nested_so_deep_and_no_deeper(brackets: str) -> None:
    def nested(depth: int) -> str:
        return "{{ " + brackets[:-1] * depth + "1" + brackets[-1] * depth + " }}"

    assert parse_template(nested(50))
    with pytest.raises(TemplateTooLarge, match="nested too deep"):
        parse_template(nested(70))


@pytest.mark.parametrize(
    "source",
    [
        "{{ f|default(namespace)(a=1) }}",
        "{{ x is odd()() }}",
        "{% if a|b()(1)|c %}{{ [x|abs()()] }}{% endif %}",
    ],
)
def test_what_filters_and_tests_give_may_be_called(source: str) -> None:
    compared(source)
    below = nodes_below(parse_template(source))
    assert {type(node) for node in below} >= {nodes.Call, nodes.Name}


def test_a_required_block_may_hold_white_space_that_is_trimmed() -> None:
    compared("{% block x required %}\n{% endblock %}")
