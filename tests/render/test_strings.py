"""Every operation on strings: the traced result is the plain one, and every character is its source's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.conversation import Conversation
from chatlint.text import Input
from tests.render.expressions import EXPRESSIONS
from tests.render.plain import check_spans, outcome, plain_outcome, render

TEXT = st.text("aAbB \n\t<&'\"\\%{}é\u00df\u2003🦙0-", max_size=12)
VARIABLES = st.fixed_dictionaries(
    {
        "a": TEXT,
        "b": TEXT,
        "n": st.integers(-3, 20),
        "f": st.sampled_from([0.0, 1.5, -2.25, 1e20, 1e-7, 3.0]),
        "l": st.lists(st.one_of(TEXT, st.integers(0, 9), st.none(), st.booleans()), max_size=3),
        "d": st.fixed_dictionaries(
            {"k": TEXT, "m": st.one_of(st.none(), st.booleans(), st.integers(-9, 99))}
        ),
    }
)
ADDRESSES = ("built-in method", "<function", "0x", "Undefined object")


def check(expression: str, variables: dict[str, object]) -> None:
    source = "{{ " + expression + " }}"
    rendered = render(source, **variables)
    expected = plain_outcome(source, **variables)
    if any(address in str(expected) for address in ADDRESSES):
        return
    assert outcome(rendered) == expected
    if rendered.prompt is not None:
        conversation = Conversation(({"role": "user", "content": "hi"},), template_kwargs=variables)
        check_spans(rendered.prompt, conversation)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@settings(max_examples=12, deadline=None)
@given(VARIABLES)
def test_every_operation_gives_the_plain_result(expression: str, variables: dict[str, object]) -> None:
    check(expression, variables)


STEPS = """
.strip()
|trim
.lstrip('a')
[1:]
[:-1]
[::-1]
+b
~b
|upper
|lower
|title
.replace('a',b)
|replace(b,'x')
.split('a')[-1]
.split()|join(b)
|string
*2
|indent(1)
|tojson
.center(20)
.partition('a')[2]
|list|join
|e
|safe
|reverse
.removeprefix('a')
.format(b)
%b
""".strip().splitlines()
CHAINS = st.lists(st.sampled_from(STEPS), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(CHAINS, VARIABLES)
def test_operations_one_after_the_other(chain: list[str], variables: dict[str, object]) -> None:
    expression = "a"
    for step in chain:
        expression = f"({expression}){step}"
    check(expression, variables)


@settings(max_examples=60, deadline=None)
@given(st.text("abc \n", min_size=1, max_size=30))
def test_a_text_taken_apart_and_put_together_is_one_span(text: str) -> None:
    source = "{% set ns = namespace(t='') %}{% for c in a %}{% set ns.t = ns.t + c %}{% endfor %}{{ ns.t }}"
    prompt = render(source, a=text).prompt
    assert prompt is not None
    assert [(span.origin, prompt.piece(span)) for span in prompt.spans] == [(Input("/a", 0), text)]
