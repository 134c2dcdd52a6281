"""The advice fits the template: a second BOS is no better than a late one."""

from __future__ import annotations

import pytest

from chatlint.rules.catalogue import find_rule
from chatlint.rules.run import causes_of
from tests.rules.subjects import subject_of

TURN = "<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("\n{{ bos_token }}{% for m in messages %}" + TURN, "before anything else"),
        (
            "{% for m in messages %}{% if m.role != 'system' %} {% endif %}{{ bos_token if loop.first }}"
            + TURN,
            "once",
        ),
    ],
)
def test_advice(source: str, advice: str) -> None:
    with subject_of(source, learned=False) as subject:
        (told,) = causes_of(find_rule("bos-not-first"), subject)
    assert advice in told.fix
