"""One fault is one finding, though several rules see it."""

from __future__ import annotations

import pytest

import chatlint
from chatlint.rules.finding import Severity

TEXT = "{{ m.content if m.content is string else m.content | map(attribute='text') | join }}"
LOOP = "{% for m in messages %}<|{{ m.role }}|>" + TEXT + "<|end|>{% endfor %}"
GENERATION = "{% if add_generation_prompt %}<|assistant|>{% endif %}"


@pytest.fixture
def told(tmp_path):
    def judge(source: str) -> list[tuple[str, Severity]]:
        file = tmp_path / "a.jinja"
        file.write_text(source, encoding="utf-8")
        (template,) = chatlint.check(str(file), cache=False).targets[0].templates
        return [(one.rule, one.severity) for one in template.findings if one.severity is not Severity.INFO]

    return judge


def test_a_function_that_nobody_defines(told):
    assert told("{{ preamble() }}" + LOOP + GENERATION) == [("undefined-read", Severity.ERROR)]


def test_a_name_that_nobody_sets(told):
    found = dict(told("{{ preamble + ' ' }}" + LOOP + GENERATION))
    assert found["undefined-read"] is Severity.ERROR
    assert "role-support" not in found
