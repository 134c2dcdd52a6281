"""Reasoning and switches: small templates and what must be said of them."""

from __future__ import annotations

import pytest

from tests.detect.detected import CALLS, PLAIN, PROMPT, TEXT, detected, traced, turns

THOUGHT = "{% if m.reasoning_content %}<t>{{ m.reasoning_content }}</t>{% endif %}"
ALWAYS = turns(THOUGHT + TEXT + CALLS)
LAST = turns("{% if loop.last %}" + THOUGHT + "{% endif %}" + TEXT + CALLS)
LOOP = turns(
    "{% if m.tool_calls and loop.nextitem and loop.nextitem.role == 'tool' and not loop.nextitem.last %}{% if messages[-1].role == 'tool' %}"
    + THOUGHT
    + "{% endif %}{% endif %}"
    + TEXT
    + CALLS
)
KEPT = turns("{% if keep_thinking or loop.index0 > last.user %}" + THOUGHT + "{% endif %}" + TEXT + CALLS,
             head="{% set last = namespace(user=0) %}{% for m in messages if m.role == 'user' %}{% set last.user = messages.index(m) %}{% endfor %}")  # fmt: skip
ANSWER = turns(
    "{% if loop.index0 == last.answer %}" + THOUGHT + "{% endif %}" + TEXT + CALLS,
    head="{% set last = namespace(answer=0) %}{% for m in messages if m.role == 'assistant' %}{% set last.answer = messages.index(m) %}{% endfor %}",
)
SWITCHED = turns("{% if enable_thinking %}" + THOUGHT + "{% endif %}" + TEXT)
TRAINING = turns("{% if not add_generation_prompt and loop.last %}" + THOUGHT + "{% endif %}" + TEXT + CALLS)
PARTS = turns(
    "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content or [] %}{{ p.thinking if p.type == 'thinking' else p.text }}{% endfor %}{% endif %}"
)
DATA = turns("{% if m.content %}{{ m.content }}{% endif %}{# thinking #}")
CUT = turns("{{ (m.content or '').split('</think>')[-1] }}")


@pytest.mark.parametrize(
    ("text", "support", "last", "loop", "earlier"),
    [
        (PLAIN, "no", "no", "no", "no"),
        (ALWAYS, "yes", "yes", "yes", "yes"),
        (LAST, "partial", "yes", "no", "no"),
        (LOOP, "partial", "no", "yes", "no"),
        (KEPT, "partial", "yes", "yes", "partial"),
        (ANSWER, "partial", "yes", "yes", "no"),
        (SWITCHED, "partial", "yes", "no", "yes"),
        (TRAINING, "partial", "yes", "no", "no"),
        (PARTS, "yes", "yes", "no", "yes"),
        (DATA, "no", "no", "no", "no"),
    ],
)
def test_where_reasoning_is_kept(text, support, last, loop, earlier):
    found = detected(text)
    names = ("reasoning", "reasoning_last_turn", "reasoning_tool_loop", "reasoning_earlier_turns")
    assert [str(found.support(name)) for name in names] == [support, last, loop, earlier]


def test_what_is_said_of_it():
    assert detected(SWITCHED).capabilities["reasoning_last_turn"].note == "only with enable_thinking=true"
    assert detected(TRAINING).capabilities["reasoning_last_turn"].note == "only without a generation prompt"
    assert detected(KEPT).capabilities["reasoning_earlier_turns"].note == "only with keep_thinking=true"
    assert "kept in the last turn" in detected(LAST).capabilities["reasoning"].note
    assert "dropped from a running tool loop" in detected(LAST).capabilities["reasoning"].note


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (ALWAYS, "reasoning_content, reasoning, thinking"),
        (PARTS, "parts"),
        (turns("{{ m.thinking }}" + TEXT), "reasoning_content, reasoning, thinking"),
    ],
)
def test_reasoning_fields(text, fields):
    """transformers 5.24 copies any of the three names to two of them."""
    assert detected(text).capabilities["reasoning_fields"].note == fields


@pytest.mark.parametrize(("text", "support"), [(PLAIN, "yes"), (CUT, "no")])
def test_a_thought_in_the_content(text, support):
    assert detected(text).support("inline_reasoning") == support


@pytest.mark.parametrize(
    ("text", "name", "default", "values", "effect"),
    [
        (PLAIN + PROMPT + "{% if add_generation_prompt and enable_thinking is false %}<t></t>{% endif %}", "enable_thinking", "true", ["true", "false"], "generation prompt"),
        (PLAIN + PROMPT + "{% if add_generation_prompt and thinking %}<t>{% endif %}", "thinking", "false", ["true", "false"], "generation prompt"),
        (PLAIN + "{% if verbose %}{% endif %}", "verbose", "unset", ["true", "false"], ""),
        ("{% set how = effort or 'low' %}{% if how not in ['low', 'high'] %}{{ raise_exception('no such effort') }}{% endif %}[{{ how }}]" + PLAIN, "effort", '"low"', ['"low"', '"high"'], "opening text"),
        ("{{ 'Today: ' + today }}" + PLAIN, "today", "unset", ['"Zeppelin"'], "opening text"),
        ("{% for x in extras or [] %}{{ x }}{% endfor %}" + PLAIN, "extras", "unset", [], ""),
        ("{% set most = most_kept if most_kept is defined else 0 %}{% if most_kept is defined and most_kept > 0 %}[cut]{% endif %}" + PLAIN, "most_kept", "0", ["0", "1"], "opening text"),
        ("{% if 8 <= depth | default(2) or depth is defined and depth >= 8 %}[deep]{% endif %}" + PLAIN, "depth", "7", ["7", "9"], "opening text"),
        (KEPT, "keep_thinking", "false", ["true", "false"], "reasoning in the history"),
        ("{% if level is defined %}{{ 'Level: ' + level }}{% endif %}" + PLAIN, "level", "unset", ['"Zeppelin"'], "opening text"),
    ],
)  # fmt: skip
def test_switches(text, name, default, values, effect):
    found = detected(text).switch(name)
    assert (found.default, list(found.values), found.effect) == (default, values, effect)


def test_a_list_of_names_may_have_calls_written_otherwise():
    text = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
        "{% if inner is defined and c.function.name in inner %}<|code|>{{ c.function.name }}("
        "{% for k, v in c.function.arguments | items %}{{ k }}='{{ v }}'{{ ', ' if not loop.last }}{% endfor %})<|over|>"
        "{% else %}<call>{{ c.function | tojson }}</call>{% endif %}{% endfor %}<|end|>{% endfor %}"
    )
    found = detected(text).switch("inner")
    assert list(found.values) == ['["find_tide"]']
    assert found.effect == "calls to <|code|>⟨name⟩(⟨key⟩='⟨value⟩…')"


def test_a_switch_that_works_only_beside_another():
    text = "{% if thinking and effort_of_thinking == 'max' %}[max]{% endif %}" + PLAIN
    found = detected(text).switch("effort_of_thinking")
    assert found.effect == "opening text (only with thinking=true)"


@pytest.mark.parametrize(
    ("written", "effect"),
    [
        (
            "{{ m.content if m.content is string }}"
            "{% for p in m.content if m.content is not string %}{% if p.type == 'image' %}"
            "{% if mark %}Picture: {% endif %}<img>{% else %}{{ p.text }}{% endif %}{% endfor %}",
            "turns (only with images)",
        ),
        (
            "{{ m.content if m.content is string }}"
            "{% for p in m.content if m.content is not string %}{% if p.type == 'image_url' %}"
            "{{ '<img/>' if mark else '<img>' }}{% else %}{{ p.text }}{% endif %}{% endfor %}",
            "turns (only with images)",
        ),
        (
            "{{ (m.content.split('</think>') | last) if mark else m.content }}",
            "turns (only with thoughts in the text)",
        ),
        (
            "{{ '[' + documents[0].text + ']' if documents and mark }}{{ m.content }}",
            "opening text (only with documents)",
        ),
        ("{{ '' if mark and 'image' in m }}{{ m.content }}", ""),
    ],
)
def test_a_switch_that_works_only_where_a_conversation_has_something_else(written, effect):
    """What it is read for, texts, calls and reasoning do not have."""
    text = "{% for m in messages %}<|{{ m.role }}|>" + written + "<|end|>{% endfor %}"
    assert detected(text).switch("mark").effect == effect


def test_the_generation_prompt_by_switch():
    found = detected(
        PLAIN
        + "{% if add_generation_prompt %}<|a|>{% if enable_thinking is false %}<t></t>{% endif %}{% endif %}"
    )
    assert found.generation_prompt.by_switch == {
        "enable_thinking=true": "<|a|>",
        "enable_thinking=false": "<|a|><t></t>",
    }


def test_a_template_with_many_switches_is_not_asked_for_ever():
    text = "".join(f"{{% if switch_{number} %}}{{% endif %}}" for number in range(40)) + PLAIN
    found = detected(text)
    assert [switch.effect for switch in found.switches[12:]] == ["not tried"] * 28


def test_switches_without_effect_are_together_asked_beside_little_else():
    def renders(count):
        asked = " or ".join(f"inert_{number}" for number in range(count))
        parts = (
            "{% if p.type in ('image', 'audio', 'video') %}<m>{% if " + asked + " %}{% endif %}{% endif %}"
        )
        text = PLAIN.replace(
            "{{ m.content }}",
            "{{ m.content if m.content is string }}"
            "{% for p in m.content if m.content is not string %}" + parts + "{{ p.text }}{% endfor %}",
        )
        trace, found = traced(text)
        assert [one.effect for one in found.switches] == [""] * count
        return trace.renders

    two_values_in_two_contexts, beside = 4, 8
    assert renders(12) - renders(1) <= 11 * two_values_in_two_contexts + beside
