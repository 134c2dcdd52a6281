"""Hostile turns: bounded time, and nothing learned rather than nonsense."""

from __future__ import annotations

import time

import pytest

from chatlint.verify.roundtrip import round_trips
from tests.infer.learned import ARGUMENTS, TEXT, each_call, learned_from, template, turns

NAME = "{{ c.function.name }}"
FLOODS = {
    "braces": "{{ '{' * 60000 }}",
    "lists in objects": "{{ '{\"a\":[' * 9000 }}",
    "tags that never end": "{{ '<a ' * 20000 }}",
    "brackets": "{{ '[' * 60000 }}",
    "tags": "{{ '<a></a>' * 9000 }}",
    "blanks": "{{ ' ' * 60000 }}",
    "too much": "{{ 'x' * 900000 }}",
    "slots": "{{ '⟨name⟩⟨⟨⟩' * 5000 }}",
    "placeholders": "{{ '\ue0a0\ue0a1' * 20000 }}",
}


@pytest.mark.parametrize("flood", FLOODS)
def test_learning_is_bounded(flood):
    text = turns(FLOODS[flood] + TEXT + each_call("<call>" + NAME + FLOODS[flood] + ARGUMENTS + "</call>"))
    before = time.process_time()
    trace, output = learned_from(template(text))
    round_trips(trace, output)
    assert time.process_time() - before - trace.seconds < 20


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{{ 1 / 0 }}",
        "{{ raise_exception('no') }}",
        "{% for m in messages %}",
        "{{ messages }}",
        "{{ messages|tojson }}",
        "{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}",
        "{% for m in messages|reverse %}{{ m.role }}{{ m.content }}{% endfor %}",
        "{% for m in messages %}{{ m.content|reverse }}{% endfor %}",
        "{% for m in messages %}⟨name⟩{{ m.content }}⟨⟨⟩{% endfor %}",
    ],
)
def test_any_template_gives_a_format(text):
    trace, output = learned_from(template(text))
    assert output.to_dict()["schema"]
    round_trips(trace, output)
