"""Static facts and the rules on text stay linear where a template is made to be slow to read."""

from __future__ import annotations

import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.render.syntax import syntax_of
from chatlint.render.trimming import trimmed_lines
from chatlint.rules.hazards import content_gated_text, hidden_text, unsafe_code
from tests.rules.subjects import subject_of

MANY = 60_000


@pytest.mark.parametrize(
    "source",
    [
        "{% raw %}" + "{# " * MANY + "{% endraw %}",
        "{{ '\\x41' }}{% raw %}" + "{# \n" * MANY + "{% endraw %}",
        "{{ '{.__" + "_" * MANY + "' }}",
        "{% if 'word' in messages[0].content %}" + "a" * MANY + "{% endif %}",
        "{% if 'word' in messages[0].content %}" + "a " * MANY + "{% endif %}",
        "{% if '" + " " * MANY + "x' in messages[0].content %}b{% endif %}",
        "x\n\u200b" * MANY,
        "{{ '" + "\\u200b" * MANY + "' }}",
        "{{ '" + "QUJD" * MANY + "-' }}",
        "{{ '" + "414" * MANY + "z' }}",
        "{{ if " * 2000 + "x" * MANY,
        "\n ".join("" for _ in range(MANY)),
        "".join(f"{{% macro m{n}() %}}{{{{ m{n + 1}() }}}}{{% endmacro %}}" for n in range(MANY // 20)),
        "{{ '" + "\\x41" * 3 * MANY + "' }}",
    ],
    ids=range(14),
)
def test_no_text_takes_long(source: str) -> None:
    started = time.process_time()
    syntax_of(source)
    trimmed_lines(source)
    with subject_of(source, learned=False) as subject:
        for rule in (content_gated_text, hidden_text, unsafe_code):
            list(rule.check.check(subject))
    assert time.process_time() - started < 4


@given(
    st.integers(1, 6).flatmap(
        lambda size: st.lists(st.lists(st.integers(0, size - 1), max_size=3), min_size=size, max_size=size)
    )
)
def test_macros_without_end_are_those_that_lead_back(calls: list[list[int]]) -> None:
    reached = {(one, other) for one, others in enumerate(calls) for other in others}
    for middle, start, end in product(range(len(calls)), repeat=3):
        if {(start, middle), (middle, end)} <= reached:
            reached.add((start, end))
    source = "".join(
        f"{{% macro m{one}() %}}{''.join(f'{{{{ m{other}() }}}}' for other in others)}{{% endmacro %}}"
        for one, others in enumerate(calls)
    )
    found = [use.name for use in syntax_of(source).endless]
    assert found == [f"m{one}" for one in range(len(calls)) if (one, one) in reached]
