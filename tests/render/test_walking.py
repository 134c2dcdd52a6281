"""The code that is generated without Jinja's visitors, against that of Jinja's generator."""

from __future__ import annotations

from pathlib import Path

import jinja2
from hypothesis import given
from hypothesis import strategies as st
from jinja2.compiler import CodeGenerator

from chatlint.render.grammar import parsing_environment
from chatlint.render.walking import QuickCodeGenerator

PIECES = st.sampled_from(
    [
        *("{% set a = b %}", "{% set ns.x = loop %}", "{% set loop = 1 %}", "{% set self, caller = a %}"),
        *("{{ self.b() }}", "{{ super() }}", "{{ caller() }}", "{{ kwargs }}", "{{ varargs ~ a }}", "{{ loop }}"),
        *("{% for a in b if a|f %}", "{% for loop in b %}", "{% for a, b in c recursive %}", "{{ loop(a) }}"),
        *("{% if a is t %}", "{% elif b %}", "{% else %}", "{% endif %}", "{% endfor %}", "{{ a|f(b)|g }}"),
        *("{% macro m(a, b=c) %}", "{% macro caller(kwargs) %}", "{% endmacro %}", "{% block b %}", "{% block c scoped %}"),
        *("{% endblock %}", "{% call(a) m(b) %}", "{% endcall %}", "{% filter f %}", "{% endfilter %}"),
        *("{% with a = b, b = a %}", "{% endwith %}", "{% set a %}", "{% endset %}", "{% import a as b %}"),
        *("{% from a import b as c with context %}", "{% include a %}", "{% extends a %}", "{{ a if b else loop }}"),
        *("{% generation %}", "{% endgeneration %}", "{% autoescape a %}", "{% endautoescape %}", "{% break %}"),
    ]
)  # fmt: skip
ENDS = ("if", "for", "macro", "block", "call", "filter", "with", "generation", "autoescape")


def closed(pieces: list[str]) -> str:
    """The pieces, with ends for the tags that are open."""
    opened = [next((end for end in ENDS if piece.startswith("{% " + end)), "") for piece in pieces]
    return "".join(pieces) + "".join(f"{{% end{end} %}}" for end in reversed(opened) if end)


def code_of(generator: CodeGenerator, source: str) -> str:
    try:
        generator.visit(parsing_environment().parse(source))
    except (jinja2.TemplateAssertionError, AssertionError) as error:
        return repr(error)
    return generator.stream.getvalue()


def compared(source: str) -> None:
    environment = parsing_environment()
    try:
        environment.parse(source)
    except jinja2.TemplateSyntaxError:
        return
    plain, quick = (kind(environment, None, None) for kind in (CodeGenerator, QuickCodeGenerator))
    plain.optimizer = quick.optimizer = None
    assert code_of(quick, source) == code_of(plain, source)


@given(st.lists(PIECES, max_size=9).map(closed) | st.lists(PIECES, max_size=6).map("".join))
def test_code_is_that_of_jinja(source: str) -> None:
    compared(source)


def test_so_is_that_of_real_templates(shared: Path) -> None:
    for path in sorted((shared / "templates").glob("*.jinja"))[3::12]:
        compared(path.read_text(encoding="utf-8"))
