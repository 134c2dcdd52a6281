"""Detection as a whole: evidence, caps, limits, coverage, and templates that cannot be asked."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.detect.limits import coverage, limits
from tests.conftest import SHARED
from tests.detect.detected import CALLS, PLAIN, PROMPT, TEXT, TOOLS, detected, traced, turns

NINE = {
    "supports_tools", "supports_tool_calls", "supports_system_role", "supports_parallel_tool_calls",
    "supports_preserve_reasoning", "supports_reasoning_effort", "supports_string_content",
    "supports_typed_content", "supports_object_arguments",
}  # fmt: skip


def test_the_nine():
    caps = detected(turns(TEXT + CALLS, head=TOOLS)).chat_template_caps
    assert set(caps) == NINE
    assert {name for name, there in caps.items() if there} == NINE - {
        "supports_preserve_reasoning", "supports_reasoning_effort", "supports_typed_content",
    }  # fmt: skip


def test_tools_under_another_name_are_not_supported_tools():
    found = detected("{% if custom_tools is defined %}{{ custom_tools | tojson }}{% endif %}" + PLAIN)
    assert found.has("tools")
    assert not found.chat_template_caps["supports_tools"]


EFFORT = "{% if thinking_effort == 'high' %}[high]{% endif %}"
KEEPER = turns("{% if loop.last or hold_thoughts %}{{ m.reasoning_content }}{% endif %}" + TEXT)
FIELD = turns("{{ m.thinking }}" + TEXT)
SANDBOX = turns(
    TEXT + "{% set ids = [] %}{% for c in m.tool_calls %}{{ ids.append(c.id) }}" + "{% endfor %}" + CALLS,
    head=TOOLS,
)
NAMED = turns(
    TEXT + CALLS,
    head=TOOLS,
    tool="{% if not m.name %}{{ raise_exception('results need names') }}{% endif %}{{ m.name }}: {{ m.content }}",
)


@pytest.mark.parametrize(
    ("text", "name", "theirs", "why"),
    [
        (EFFORT + PLAIN, "supports_reasoning_effort", False, "thinking_effort"),
        (KEEPER, "supports_preserve_reasoning", False, "hold_thoughts"),
        (FIELD, "supports_preserve_reasoning", False, "another field"),
        (SANDBOX, "supports_tool_calls", True, "sandbox"),
        (NAMED, "supports_tools", False, "results need names"),
    ],
)
def test_where_llama_cpp_decides_otherwise(text, name, theirs, why):
    found = detected(text)
    (difference,) = [one for one in found.differs_from_llama_cpp if one.name == name]
    assert (difference.theirs, found.chat_template_caps[name]) == (theirs, not theirs)
    assert why in difference.why


@pytest.mark.parametrize(
    "text", ["{% if %}", "{% for x in range(99999) %}{% for y in range(99999) %}.{% endfor %}{% endfor %}"]
)
def test_a_template_that_cannot_be_asked(text):
    trace, found = traced(text)
    assert {one.support for one in found.capabilities.values()} == {"unknown"}
    assert all(one.note for one in found.capabilities.values())
    assert not any(found.chat_template_caps.values())
    assert trace.renders < 60


def test_limits_are_grouped_by_message_and_line():
    trace, _ = traced(
        "{% for m in messages %}\n{% if m.role == 'tool' %}{{ raise_exception('no tools') }}{% endif %}\n"
        "{% if m.role == 'developer' %}{{ raise_exception('no developer') }}{% endif %}{{ m.content }}{% endfor %}"
    )
    found = {limit.message: limit for limit in limits(trace)}
    assert set(found) == {"no tools", "no developer"}
    assert "roles/developer" in found["no developer"].cases
    assert "calls/one-result" in found["no tools"].cases
    assert (found["no tools"].line, found["no developer"].line) == (2, 3)


def test_what_breaks_is_no_limit():
    trace, _ = traced("{% for m in messages %}{{ m.content.nothing.more }}{% endfor %}")
    assert not limits(trace)


def test_coverage():
    trace, _ = traced(
        PLAIN
        + "\n{% if never %}{% if messages == 3 %}\nfirst\nsecond {{ x }}\n{% endif %}{% endif %}\n"
        + PROMPT
    )
    found = coverage(trace)
    assert (found.cases, found.rendered, found.raised) == (
        len(trace.observations),
        len(trace.observations),
        0,
    )
    assert any(first <= 4 <= last for first, last in found.unreached)
    assert not any(first <= 1 <= last for first, last in found.unreached)


PIECES = (
    PLAIN, PROMPT, TOOLS, TEXT, CALLS, "{{ messages[0].content }}", "{{ bos_token }}", "{% for t in tools %}{{ t }}{% endfor %}",
    "{% for m in messages %}{{ m.role }}{{ m.reasoning_content }}{{ m.tool_calls }}{% endfor %}",
    "{% if messages | length > 2 %}{{ raise_exception('too long') }}{% endif %}", "{{ messages | tojson }}",
    "{% if enable_thinking %}<t>{% endif %}", "{{ undefined_thing.more }}", "{% set messages = messages[1:] %}", "{{ messages[3].content | upper }}",
    "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}", "{{ tools[0].function.parameters.properties }}",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=4).map("".join))
def test_of_any_template_every_answer_names_its_cases(text):
    trace, found = traced(text)
    asked = {observation.case.id for observation in trace.observations}
    evidence = [case for one in found.capabilities.values() for case in one.evidence]
    evidence += [case for switch in found.switches for case in switch.evidence]
    assert set(evidence) <= asked
    assert all(one.evidence for one in found.capabilities.values())
    assert set(found.chat_template_caps) == NINE
    assert trace.renders <= 90


def test_detection_says_the_same_twice():
    text = turns(TEXT + CALLS, head=TOOLS)
    assert traced(text)[1] == traced(text)[1]


@pytest.mark.sweep
def test_every_real_template(shared):
    for path in sorted((SHARED / "templates").glob("*.jinja")):
        trace, found = traced(path.read_bytes().decode("utf-8"))
        asked = {observation.case.id for observation in trace.observations}
        assert trace.renders <= 90, path.name
        assert {case for one in found.capabilities.values() for case in one.evidence} <= asked
        json.dumps(found.chat_template_caps)


def test_what_was_not_rendered_is_not_known():
    """Nobody asked: neither "no" nor "raises" would be true."""
    endless = "{% for a in range(99999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}"
    found = detected(turns(TEXT + CALLS, head="{% if tools %}" + endless + "{% endif %}")).capabilities
    about_calls = ("tool_calls", "parallel_tool_calls", "call_ids", "object_arguments")
    names = (*about_calls, "reasoning", "reasoning_fields", "reasoning_last_turn", "continue_final_message")
    assert {found[name].support for name in names} == {"unknown"}
    assert found["continue_final_message"].note.startswith("not rendered: earlier cases hit a bound")
    assert found["tool_calls"].note.startswith("broke: BoundError: more than")
    assert found["system"].support == "yes"
