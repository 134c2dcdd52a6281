"""The places that rules mark, in templates of several branches."""

from __future__ import annotations

import pytest

from chatlint.detect.capabilities import detect_capabilities
from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from tests.rules.subjects import subject_of

CALLS = """{%- for m in messages %}
<|{{ m.role }}|>
{%- if m.content %}{{ m.content }}{% endif %}
{%- for c in m.tool_calls or [] %}{% set c = c.function %}
{{ '<call=' ~ c.name ~ '>' }}
{%- if c.arguments is mapping %}
{%- for name in c.arguments %}
{%- set value = c.arguments[name] %}
{{ '<arg=' ~ name ~ '>' }}
{{- value }}
{{- '</arg>' }}
{%- endfor %}
{%- elif c.arguments is string %}
{%- if c.arguments | length %}
{{ c.arguments }}
{%- endif %}
{%- endif %}
</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""

JSON_CALLS = """{%- for m in messages %}
<|{{ m.role }}|>{{ m.content }}
{%- for c in m.tool_calls or [] %}{% set c = c.function %}
<call>{"name": "
{{- c.name }}
{{- '", "arguments": ' }}
{%- if c.arguments is string %}
{{- c.arguments }}
{%- else %}
{{- c.arguments | tojson }}
{%- endif %}}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""

SEARCH = """{%- set ns = namespace(last=0) %}
{%- for m in messages[::-1] %}
{%- if m.role == 'user' and m.content is string %}{% set ns.last = loop.index %}{% endif %}
{%- endfor %}
{%- for m in messages %}
{%- if m.content is string %}
{%- set text = m.content %}
{%- else %}
{%- set text = '' %}
{%- endif %}
{%- if m.role == 'user' or m.role == 'system' %}
U {{ text }}<|end|>
{%- elif m.role == 'assistant' %}
A {{ text }}<|end|>
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
A
{%- endif %}"""

THOUGHTS = """{%- for m in messages %}
<|{{ m.role }}|>
{%- set thought = m.reasoning_content or '' %}
{%- set keep = false %}
{%- if thought %}
{%- if loop.last %}
{%- set keep = true %}
{%- endif %}
{%- endif %}
{%- if keep %}
<think>{{ thought }}</think>
{%- endif %}
{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}
<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""

ONE_LINE = (
    "{% for m in messages %}{% if m.role == 'user' %}{{ '<u>' + m.content }}"
    "{% elif m.role == 'developer' %}{{ raise_exception('no developers') }}"
    "{% else %}{{ '<a>' + m.content }}{% endif %}<|end|>{% endfor %}"
)

JOINED = """{%- macro text_of(content, short) %}{% if short %}{{ content[:9] }}{% else %}{{ content | trim }}{% endif %}{% endmacro %}
{%- for m in messages %}
<|{{ m.role }}|>
{%- set text = text_of(m.content) %}
{{- '\\n' + text }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""


@pytest.mark.parametrize(
    ("source", "rule", "place"),
    [
        (CALLS, "argument-shape", (15, 1)),
        (CALLS, "ambiguous-value", (10, 1)),
        (JSON_CALLS, "empty-arguments", (8, 5)),
        (SEARCH, "content-shape", (6, 8)),
        (THOUGHTS, "reasoning-history", (6, 1)),
        (ONE_LINE, "content-shape", (1, 60)),
        (ONE_LINE, "role-support", (1, 107)),
        (JOINED, "content-altered", (5, 12)),
        (JOINED.replace("' + text }}", "' }}\n{{- text }}"), "content-altered", (6, 1)),
    ],
)
def test_the_place_is_the_one_to_change(source: str, rule: str, place: tuple[int, int]) -> None:
    with subject_of(source) as subject:
        subject.capabilities = detect_capabilities(subject.trace, subject.syntax)
        found = run(subject, Selection((rule,))).findings
    places = [(one.location.line, one.location.column) for one in found if one.rule == rule]
    assert places[0] == place
