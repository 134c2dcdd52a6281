"""Tools, calls and results: small templates and what must be said of them."""

from __future__ import annotations

import pytest

from tests.detect.detected import CALLS, PLAIN, TEXT, TOOLS, detected, turns

GIVEN = turns(TEXT + CALLS, head=TOOLS)
NAMES = "{% for t in tools or [] %}{{ t.function.name }} {% endfor %}"
CONCAT = "{% for c in m.tool_calls %}{{ c.function.name + ' ' + c.function.arguments }}{% endfor %}"
REPR = "{% for c in m.tool_calls %}{{ c.function.name }} {{ c.function.arguments }}{% endfor %}"
KEYED = (
    "{% for c in m.tool_calls %}<{{ c.function.name }}>"
    "{% for k, v in c.function.arguments.items() %}<{{ k }}>{{ v }}</{{ k }}>{% endfor %}{% endfor %}"
)
KEYED_OR_RAW = (
    "{% for c in m.tool_calls %}{{ c.function.name }}{% set a = c.function.arguments %}{% if a is string %}{{ a }}"
    "{% else %}{% for k, v in a.items() %}<{{ k }}>{{ v }}</{{ k }}>{% endfor %}{% endif %}{% endfor %}"
)
WALKED = "{% for c in m.tool_calls %}{{ c.function.name }}{% for a in c.function.arguments %}{{ a }};{% endfor %}{% endfor %}"
ONE = (
    "{% if m.tool_calls | length > 1 %}{{ raise_exception('one call at once') }}{% endif %}"
    "{% for c in m.tool_calls %}{{ c.function.name }} {{ c.function.arguments | tojson }}{% endfor %}"
)
FIRST = "{% if m.tool_calls %}{{ m.tool_calls[0].function.name }} {{ m.tool_calls[0].function.arguments | tojson }}{% endif %}"
IN_ID = "{% for c in m.tool_calls %}{{ c.id }} {{ c.function.arguments | tojson }}{% endfor %}"
EITHER = "{% if m.tool_calls %}" + CALLS + "{% else %}" + TEXT + "{% endif %}"
PICKY = "{% if m.content is defined %}[{{ m.content }}]{% endif %}" + CALLS
NAMELESS = "{% for c in m.tool_calls %}{{ c.function.arguments | tojson }}{% endfor %}"
WITH_IDS = "{% for c in m.tool_calls %}{{ c.id }} {{ c.function.name }} {{ c.function.arguments | tojson }}{% endfor %}"


@pytest.mark.parametrize(
    ("text", "name", "support", "note"),
    [
        (PLAIN, "tools", "no", ""),
        (GIVEN, "tools", "yes", ""),
        (turns(TEXT, head="{{ tools }}"), "tools", "yes", ""),
        (turns(TEXT, head=NAMES), "tools", "partial", "description, parameter, parameter description"),
        (turns(TEXT, head="{% if messages[0].role == 'system' %}{{ tools | tojson }}{% endif %}"), "tools", "partial", "only beside a system message"),
        (turns(TEXT, head="{% if custom_tools is defined %}{{ custom_tools | tojson }}{% endif %}"), "tools", "partial", "only as `custom_tools`"),
        (turns(TEXT, head="{% if tools %}{{ raise_exception('no tools') }}{% endif %}"), "tools", "raises", "declined: no tools"),
        (PLAIN, "tool_calls", "no", ""),
        (PLAIN, "tool_results", "yes", ""),
        (PLAIN, "parallel_tool_calls", "no", "no tool calls"),
        (GIVEN, "tool_calls", "yes", ""),
        (GIVEN, "tool_results", "yes", ""),
        (turns(TEXT + CALLS, tool=""), "tool_results", "no", ""),
        (turns(TEXT + CALLS, tool="{{ raise_exception('no results') }}"), "tool_results", "raises", "no results"),
        (GIVEN, "parallel_tool_calls", "yes", ""),
        (turns(TEXT + ONE), "parallel_tool_calls", "raises", "one call at once"),
        (turns(TEXT + FIRST), "parallel_tool_calls", "no", "a call is lost"),
        (GIVEN, "object_arguments", "yes", ""),
        (GIVEN, "string_arguments", "partial", "encoded a second time"),
        (turns(TEXT + CONCAT), "tool_calls", "yes", "only with arguments=string"),
        (turns(TEXT + CONCAT), "object_arguments", "raises", "broke: TypeError"),
        (turns(TEXT + CONCAT), "string_arguments", "yes", ""),
        (turns(TEXT + REPR), "object_arguments", "partial", "Python dictionary"),
        (turns(TEXT + REPR), "string_arguments", "yes", ""),
        (turns(TEXT + KEYED), "object_arguments", "yes", ""),
        (turns(TEXT + KEYED), "string_arguments", "raises", "has no attribute 'items'"),
        (turns(TEXT + WALKED), "string_arguments", "no", ""),
        (turns(TEXT + KEYED_OR_RAW), "object_arguments", "yes", ""),
        (turns(TEXT + KEYED_OR_RAW), "string_arguments", "partial", "as JSON, unlike objects"),
        (turns(TEXT + NAMELESS), "tool_calls", "partial", "the name is lost"),
        (turns(TEXT + IN_ID), "tool_calls", "partial", "the name is written only inside the id"),
        (GIVEN, "content_with_calls", "yes", ""),
        (turns(CALLS + TEXT), "content_with_calls", "yes", "after the call"),
        (turns(EITHER), "content_with_calls", "no", "the text is lost"),
        (turns("{% if m.content %}{{ m.content }}{% else %}" + CALLS + "{% endif %}"), "content_with_calls", "no", "the call is lost"),
        (GIVEN, "null_content_with_calls", "yes", ""),
        (turns(PICKY), "null_content_with_calls", "partial", "another way than empty"),
        (turns("{{ m.content + '' }}" + CALLS), "null_content_with_calls", "raises", "broke"),
        (GIVEN, "call_ids", "no", ""),
        (turns(TEXT + WITH_IDS), "call_ids", "partial", "only at the call"),
        (turns(TEXT + WITH_IDS, tool="{{ m.tool_call_id }}:{{ m.content }}"), "call_ids", "yes", ""),
        (PLAIN, "documents", "no", "does not read"),
        ("{% for d in documents or [] %}{{ d.title }}: {{ d.text }}{% endfor %}" + PLAIN, "documents", "yes", ""),
    ],
)  # fmt: skip
def test_of_a_call(text, name, support, note):
    found = detected(text).capabilities[name]
    assert (found.support, note in found.note) == (support, True), found


def test_a_plain_template_costs_few_renders():
    from tests.detect.detected import traced

    trace, _ = traced(PLAIN)
    assert trace.renders <= 28
    trace, _ = traced(GIVEN)
    assert trace.renders <= 42
