"""Where each character of a prompt came from, and which lines ran."""

from __future__ import annotations

import pytest

from chatlint.conversation import Conversation
from chatlint.render.rendered import RenderRequest
from chatlint.render.renderer import open_renderer
from chatlint.text import Computed, Input, Literal, Special, listed
from tests.render.plain import render, template

TWO = Conversation(
    ({"role": "user", "content": "hi"}, {"role": "assistant", "content": " yo "}),
    template_kwargs={"name": "Bob"},
)
HI = Input("/messages/0/content", 0)


def spans(source: str, conversation: Conversation = TWO) -> list[tuple[str, object]]:
    rendered = render(source, conversation)
    assert rendered.prompt is not None, rendered.failure
    return [(rendered.prompt.piece(span), span.origin) for span in rendered.prompt.spans]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a{{ messages[0].content }}\nb", [("a", Literal(1, 1)), ("hi", HI), ("\nb", Literal(1, 27))]),
        ("{{ 'a' + messages[0].content }}", [("a", Literal(1, 4)), ("hi", HI)]),
        ("{{ 'a' ~ 'b' }}", [("a", Literal(1, 4)), ("b", Literal(1, 10))]),
        ("{% set x = 'a' %}\n{{ x }}", [("a", Literal(1, 12))]),
        ("{% set x %}a{% endset %}\n{{ x }}", [("a", Literal(1, 12))]),
        ("{% macro f(x, y='z') %}{{ x }}{{ y }}{% endmacro %}\n{{ f('q') }}", [("q", Literal(2, 6)), ("z", Literal(1, 17))]),
        ("\n\n  {%- if true %}\n   x{% endif %}", [("   x", Literal(4, 1))]),
        ("a \r\n{{- 'b' -}}\r\n c", [("a", Literal(1, 1)), ("b", Literal(2, 5)), ("c", Literal(3, 2))]),
        ("{# c #}a{# d\n #}b", [("a", Literal(1, 8)), ("b", Literal(2, 4))]),
        ("{% raw %}{{ x }}{% endraw %}", [("{{ x }}", Literal(1, 10))]),
        ("{{ bos_token }}", [("<s>", Special("bos_token"))]),
        ("{{ bos_token + eos_token }}", [("<s>", Special("bos_token")), ("</s>", Special("eos_token"))]),
        ("<s>", [("<s>", Literal(1, 1))]),
        ("{{ name }}", [("Bob", Input("/name", 0))]),
        ("{{ loop }}\n{% for m in messages %}{{ loop.index }}{% endfor %}", [("\n", Literal(1, 11)), ("12", Computed(2))]),
        ("{{ messages[0].role|upper }}", [("USER", Input("/messages/0/role", None))]),
        ("{{ messages[0].role|title }}", [("U", Input("/messages/0/role", None)), ("ser", Input("/messages/0/role", 1))]),
        ("{{ messages[1].content|trim }}", [("yo", Input("/messages/1/content", 1))]),
        ("{{ messages[0].content * 2 }}", [("hi", HI), ("hi", HI)]),
        ("{% for k in messages[0] %}{{ k }},{% endfor %}", [("role", Input("/messages/0/role", 0, key=True)), (",", Literal(1, 34)), ("content", Input("/messages/0/content", 0, key=True)), (",", Literal(1, 34))]),
        ("{{ strftime_now('%Y') }}", [("2026", Computed(1))]),
        ("x\n{{ none }}", [("x\n", Literal(1, 1)), ("None", Computed(2))]),
        ("{{ messages[0].content is string }}", [("True", Computed(1))]),
        ("{{ messages|length ~\n 'a' }}", [("2", Computed(1)), ("a", Literal(2, 2))]),
        ("{{ ', '.join(['a', messages[0].content]) }}", [("a", Literal(1, 15)), (", ", Literal(1, 4)), ("hi", HI)]),
        ("{{ ['a', messages[0].content]|join('-') }}", [("a", Literal(1, 5)), ("-", Literal(1, 36)), ("hi", HI)]),
        ("{{ 'a%sb' % messages[0].content }}", [("a", Literal(1, 4)), ("hi", HI), ("b", Literal(1, 4))]),
        ("{{ '<'|safe + messages[0].content }}", [("<", Literal(1, 4)), ("hi", HI)]),
        ("{{ messages[0].content|indent(2, true) }}", [("  ", Computed(1)), ("hi", HI)]),
        ("{{ messages[0].content.encode() }}", [("b'hi'", Computed(1))]),
    ],
)  # fmt: skip
def test_origins(source: str, expected: list[tuple[str, object]]) -> None:
    assert spans(source) == expected


def test_a_macro_does_not_move_its_caller() -> None:
    source = "{% macro f() %}\n{{ 1 }}{% endmacro %}\n\n{{ f() ~ 2 }}"
    assert spans(source)[-2:] == [("1", Computed(2)), ("2", Computed(4))]


def test_null_members_are_dropped_and_do_not_shift_pointers() -> None:
    conversation = Conversation(({"role": "user", "name": None, "content": "hi"},))
    assert spans("{{ messages[0]|tojson }}", conversation)[-2] == ("hi", HI)


def test_pointers_are_escaped() -> None:
    conversation = Conversation(({"role": "user", "a/b": {"c~d": "x"}},))
    assert spans("{{ messages[0]['a/b']['c~d'] }}", conversation) == [
        ("x", Input("/messages/0/a~1b/c~0d", 0))
    ]


def test_the_generation_block_has_a_span_wherever_it_is_printed() -> None:
    source = (
        "{% macro f(m) %}<{% generation %}{{ m.content }}{% endgeneration %}>{% endmacro %}"
        "{% set x %}{% for m in messages %}{{ f(m) }}{% endfor %}{% endset %}[{{ x|trim }}]"
    )
    rendered = render(source, TWO)
    assert rendered.prompt is not None
    assert [rendered.prompt.text[start:stop] for start, stop in rendered.generation] == ["hi", " yo "]


LINES = """{% macro f(x) %}
{{ x }}
{% endmacro %}
{% if messages|length > 1 %}
many
{% elif messages|length == 7 %}
seven

{% else %}
one
{% endif %}
{% for m in messages %}
{{ m.role }}
  {% if m.role == 'tool' %}
{{ f(m) }} and

more
  {% endif %}
{% endfor %}
{{ raise_exception('x') }}
{% set y = 1 %}
end"""


def test_lines_that_ran_and_lines_that_could() -> None:
    renderer = open_renderer(template(LINES))
    rendered = renderer.render(RenderRequest(TWO))
    assert rendered.failure is not None
    assert rendered.failure.line == 20
    assert renderer.coverable_lines() == {1, 2, 4, 5, 6, 7, 10, 12, 13, 14, 15, 17, 20, 21, 22}
    assert rendered.lines == {1, 4, 5, 6, 12, 13, 14, 20}


def test_failures_name_their_line() -> None:
    for source, line in (
        ("a\n\n{{ raise_exception('x') }}", 3),
        ("a\n{% macro f(x) %}\n{{ x.y.z }}{% endmacro %}\n\n{{ f(1) }}", 3),
        ("a\n{% if %}", 2),
        ("a\n{{ 'x'|nothing }}", 2),
        ("{% for m in messages %}\n{{ m.content\n + 1 }}{% endfor %}", 2),
        ("a\n{{ 'x' * 10**9 }}", 2),
    ):
        rendered = render(source, TWO)
        assert rendered.failure is not None
        assert rendered.failure.line == line, source


@pytest.mark.parametrize(
    ("names", "said"), [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("aba", "a and b")]
)
def test_names_in_a_sentence(names: str, said: str) -> None:
    assert listed(names) == said
