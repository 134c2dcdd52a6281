"""Where trimming changes the text between tags, against Jinja's own lexer set both ways."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.render.trimming import trimmed_lines
from tests.render.plain import render

ON = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
OFF = jinja2.Environment()


def gaps(environment: jinja2.Environment, source: str) -> list[str]:
    """The text between tags, as the lexer leaves it."""
    found = [""]
    for _, kind, text in environment.lex(source):
        if kind == "data":
            found[-1] += text
        elif kind in ("block_begin", "variable_begin", "comment_begin"):
            found.append("")
    return found


def depends(source: str) -> bool:
    return gaps(ON, source) != gaps(OFF, source)


PIECES = st.sampled_from(
    [
        *("{% a %}", "{%- a %}", "{% a -%}", "{%- a -%}", "{%+ a %}", "{% a +%}", "{{ a }}", "{{- a }}"),
        *("{{ a -}}", "{# c #}", "{#- c #}", "{# c -#}", "x", " ", "  ", "\n", "\n\n", "\n  ", "x\n", " x "),
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join))
def test_as_jinja_s_lexer_has_it(source: str) -> None:
    assert bool(trimmed_lines(source)) == depends(source)


def test_on_real_templates(shared: Path) -> None:
    wrong = []
    for path in sorted((shared / "templates").glob("*.jinja"))[3::12]:
        source = path.read_text(encoding="utf-8")
        try:
            expected = depends(source)
        except jinja2.TemplateSyntaxError:
            continue
        if bool(trimmed_lines(source)) != expected:
            wrong.append(path.name)
    assert wrong == []


def test_lines() -> None:
    assert trimmed_lines("{% if a %}\nx\n  {% endif %}\n{{ b }}\n") == (1, 3)


@pytest.mark.parametrize("untrusted", [False, True])
def test_a_render_without_trimming(untrusted: bool) -> None:
    source = "{% if true %}\n  {% set x = 1 %}\n{{ x }}{% endif %}"
    assert render(source, untrusted=untrusted).prompt.text == "1"
    assert render(source, trims=False, untrusted=untrusted).prompt.text == "\n  \n1"
