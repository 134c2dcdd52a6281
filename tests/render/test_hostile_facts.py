"""Static facts and the rules on text stay linear where a template is made to be slow to read."""

from __future__ import annotations

import time

import pytest

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
    ],
    ids=range(12),
)
def test_no_text_takes_long(source: str) -> None:
    started = time.process_time()
    syntax_of(source)
    trimmed_lines(source)
    with subject_of(source, learned=False) as subject:
        for rule in (content_gated_text, hidden_text, unsafe_code):
            list(rule.check.check(subject))
    assert time.process_time() - started < 4
