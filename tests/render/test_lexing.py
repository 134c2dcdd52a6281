"""The tokens that are cut at once, against those of Jinja's own lexer."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.ext import LoopControlExtension

from chatlint.errors import TemplateError
from chatlint.limits import COMPILE_TOKENS
from chatlint.render.environment import parse_template
from chatlint.render.grammar import GenerationBlock, normalised
from chatlint.render.lexing import PlacedToken, quick_tokens

JINJA = jinja2.Environment(
    trim_blocks=True, lstrip_blocks=True, extensions=[GenerationBlock, LoopControlExtension]
)
WITHIN = [
    *("a", "_b1", "not", "é", "1", "1.5", "1e5", "0x1f", "1_0", "1a", "a.1.5", ".", "..", "'a\n'", '"b"'),
    *("''", "'\\n\\x41'", "'\\x4'", "'é'", "'", '"', "\\", "{", "}", "(", ")", "[", "]", "{'a':{'b':{}}}"),
    *(" ", "\n", "\t", "\x0b", "\x1c", "\xa0", "~", "//", "**", "==", "!", "=", "<", "|", ",", ";", "$"),
]
AROUND = [
    *("{%", "%}", "{{", "}}", "-", "+", "#", "{# c #}", "{#- c -#}", "{#+ c +#}", "{##}", "{#-#}", "{#--#}"),
    *("-%}\n", "+%}\n", "%}\n", "-}}\n ", "{% set a = 1 %}", "{%- if x -%}", "{%+ endif +%}", "{{- 'a' -}}"),
    *("{{+ x}}", "{{ {'a': 1}}}", "{{ [1]}}", "x", " x ", "\n", "  ", "\r\n", "\r", "{% raw %}"),
]
WORDS = st.lists(st.sampled_from(WITHIN), max_size=8).map("".join)
TAGS = st.one_of(
    st.sampled_from(AROUND), WORDS.map("{{{{{}}}}}".format), WORDS.map("{{%- {} %}}\n".format), WORDS
)


def spoken(source: str) -> list[tuple[int, str, object]]:
    """Jinja's own tokens but for data."""
    return [tuple(token) for token in JINJA._tokenize(source, None) if token.type != "data"]


def texts(tokens: list[PlacedToken]) -> list[tuple[int, str]]:
    return [(token.lineno, str(token.value)) for token in tokens if token.type == "data" and len(token.value)]


@given(st.lists(TAGS, max_size=8).map("".join))
def test_tokens_are_those_of_jinja(source: str) -> None:
    text = normalised(source)
    tokens = quick_tokens(text)
    if tokens is None:
        return
    assert [tuple(token)[:3] for token in tokens[:-1] if token.type != "data"] == spoken(source)
    data = [token for token in JINJA._tokenize(source, None) if token.type == "data"]
    assert texts(tokens) == [(token.lineno, token.value) for token in data]
    assert all(
        text.startswith(token.value, token.offset) for token in tokens if token.type in ("name", "data")
    )


@pytest.mark.parametrize(
    "source",
    [
        "{{ é }}",
        "{{ ( }}",
        "{{ ) }}",
        "{{ $ }}",
        "{{ 'a }}",
        "{{ '\\x4' }}",
        "{# a",
        "{% raw %}{% endraw %}",
        "{% a",
    ],
)
def test_unusual_is_left_to_jinja(source: str) -> None:
    assert quick_tokens(source) is None


def test_few_real_templates_are_unusual(shared: Path) -> None:
    sources = [path.read_text(encoding="utf-8") for path in sorted((shared / "templates").glob("*.jinja"))]
    assert sum(quick_tokens(normalised(source)) is None for source in sources) * 100 < len(sources)


@pytest.mark.parametrize(
    "source", ["{{ 1 }}" * COMPILE_TOKENS, "{{" + "(" * COMPILE_TOKENS, "{##}" * COMPILE_TOKENS]
)
def test_no_more_tokens_than_are_compiled(source: str) -> None:
    assert quick_tokens(source) is None


@pytest.mark.timeout(20)
@pytest.mark.parametrize("begun", ["{{", "{% ", "a{% if x %}{%-", "{{ 'a'"])
def test_a_tag_that_never_ends_is_read_once(begun: str) -> None:
    """Where each blank began a search of its own, this took minutes."""
    assert quick_tokens(begun + " " * 300_000) is None


@pytest.mark.parametrize("source", ["{% if %}{{ \u0663.5 }}", "{{ \u0663.5 }}"])
def test_digits_of_other_scripts_are_left_to_jinja(source: str) -> None:
    assert quick_tokens(source) is None
    with pytest.raises(TemplateError):
        parse_template(source)
