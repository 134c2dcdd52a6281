"""Parsers that a model card names, held against the format that the template teaches."""

from __future__ import annotations

import json

import pytest

from chatlint.rules.finding import Severity
from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from tests.rules.subjects import subject_of

HERMES = """{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}<|{{ m.role }}|>
{{- '<think>\\n' ~ m.reasoning_content ~ '\\n</think>\\n\\n' if m.reasoning_content }}{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ a if a is string else a | tojson }}}
</tool_call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""


def warnings(*named: tuple[str, str, str]) -> list[str]:
    card = json.dumps([dict(zip(("kind", "name", "engine"), one, strict=True)) for one in named])
    with subject_of(HERMES, named_parsers=card) as subject:
        judged = run(subject, Selection(("format-to-parser",)))
    assert judged.failures == ()
    return [one.message for one in judged.findings if one.severity is Severity.WARNING]


@pytest.mark.parametrize(
    "named",
    [
        ("tool", "hermes", "vllm"),
        ("tool", "qwen25", "sglang"),
        ("tool", "hermes", ""),
        ("reasoning", "qwen3", "vllm"),
        ("tool", "a-plugin-of-ours", "vllm"),
        ("tool", "hf", "vllm"),
    ],
)
def test_what_fits_or_is_not_known_is_no_warning(named):
    assert warnings(named) == []


@pytest.mark.parametrize(
    ("named", "instead"),
    [
        (("tool", "mistral", "vllm"), "`hermes`"),
        (("tool", "glm47", "sglang"), "`hermes`"),
        (("reasoning", "openai_gptoss", "vllm"), "`deepseek_v3`"),
    ],
)
def test_what_reads_another_format(named, instead):
    (message,) = warnings(named)
    assert f"`{named[1]}`" in message
    assert instead in message


def test_each_is_told_once():
    assert len(warnings(("tool", "mistral", "vllm"), ("tool", "glm47", "sglang"))) == 2
