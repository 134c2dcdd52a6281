"""Roles, orders and text: small templates and what must be said of them."""

from __future__ import annotations

import pytest

from tests.detect.detected import PLAIN, PROMPT, detected

PER_PART = "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}"
ONLY = "{% for m in messages %}{% if m.role in ['user', 'assistant'] %}<|{{ m.role }}|>{{ m.content }}{% endif %}{% endfor %}"
STRICT = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
)
FIRST_SYSTEM = (
    "{% if messages[0].role == 'system' %}<s>{{ messages[0].content }}</s>{% endif %}"
    "{% for m in messages if m.role != 'system' %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
)


@pytest.mark.parametrize(
    ("text", "name", "support", "note"),
    [
        (PLAIN, "system", "yes", ""),
        (ONLY, "system", "no", ""),
        (STRICT, "system", "raises", "declined: roles must alternate"),
        (PLAIN, "late_system", "yes", ""),
        (FIRST_SYSTEM, "system", "yes", ""),
        (FIRST_SYSTEM, "late_system", "no", ""),
        (FIRST_SYSTEM, "two_systems", "partial", "/messages/1/content lost"),
        (FIRST_SYSTEM, "developer", "yes", ""),
        (ONLY, "developer", "no", ""),
        (STRICT, "consecutive_users", "raises", "declined"),
        (PLAIN, "consecutive_users", "yes", ""),
        (PLAIN, "consecutive_assistants", "yes", ""),
        (STRICT, "assistant_first", "raises", "declined"),
        ("{{ messages[-1].content }}", "history", "partial", "/messages/0/content lost"),
        ("{{ messages[1].content }}{{ messages[0].content }}", "assistant_first", "yes", "in another order"),
        ("{{ messages[1].content }}", "system_only", "raises", "broke: UndefinedError"),
        (PLAIN, "named_roles", "no", ""),
        ("{% for m in messages %}{{ m.name or m.role }}{{ m.content }}{% endfor %}", "named_roles", "yes", ""),
        ("{% for m in messages %}{{ m.content | trim | upper }}{% endfor %}", "system", "yes", "altered"),
        ("{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}", "system", "yes", "more than once"),
        (PLAIN, "string_content", "yes", ""),
        (PLAIN, "parts_user", "partial", "printed as data"),
        ("{% for m in messages %}{{ m.content | tojson }}{% endfor %}", "parts_user", "partial", "printed as data"),
        ("{% for m in messages %}{{ '<u>' + m.content }}{% endfor %}", "parts_user", "raises", "broke: TypeError"),
        (f"{{% for m in messages %}}{PER_PART}{{% endfor %}}", "parts_user", "yes", ""),
        (f"{{% for m in messages %}}{PER_PART}{{% endfor %}}", "parts_tool", "yes", ""),
        ("{% for m in messages %}{{ m.content[0].text }}{% endfor %}", "parts_user", "partial", "1/text lost"),
        ("{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}", "string_content", "no", ""),
        (PLAIN, "empty_content", "yes", ""),
    ],
)  # fmt: skip
def test_of_a_role(text, name, support, note):
    found = detected(text).capabilities[name]
    assert (found.support, note in found.note) == (support, True), found


def test_a_template_that_takes_only_parts_is_asked_with_parts():
    found = detected("{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}")
    assert found.support("system") == "yes"
    assert found.capabilities["system"].evidence == ("roles/system-user@parts=all",)
    assert not found.chat_template_caps["supports_string_content"]
    assert found.chat_template_caps["supports_typed_content"]


def test_a_template_that_needs_a_variable_is_given_one():
    found = detected("{{ policy + ':' }}" + PLAIN)
    assert found.support("system") == "yes"
    assert found.capabilities["system"].evidence == ('roles/system-user@kwargs.policy=""',)


def test_a_template_that_walks_through_tools_is_given_a_list():
    found = detected("{% for t in tools %}{{ t.function.name }}{% endfor %}" + PLAIN)
    assert found.support("system") == "yes"
    assert found.has("tools")


@pytest.mark.parametrize(
    ("text", "support", "prompt"),
    [
        (PLAIN + PROMPT, "yes", "<|assistant|>"),
        (PLAIN, "no", ""),
        (PLAIN + "<|assistant|>", "no", ""),
        (
            PLAIN + "{% if add_generation_prompt %}<|assistant|>{% else %}<eos>{% endif %}",
            "partial",
            "<|assistant|>",
        ),
    ],
)
def test_the_generation_prompt(text, support, prompt):
    found = detected(text)
    assert found.support("generation_prompt") == support
    assert found.generation_prompt.text == prompt
    assert found.generation_prompt.evidence == ("roles/user", "roles/user@generation=off")


@pytest.mark.parametrize(
    ("text", "name", "support", "note"),
    [
        (PLAIN, "prefill", "no", "ended after the text"),
        ("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% if not loop.last %}<|end|>{% endif %}{% endfor %}", "prefill", "yes", "left open"),
        (PLAIN, "continue_final_message", "yes", ""),
        ("{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}<|end|>{% endfor %}", "continue_final_message", "partial", "trimmed"),
        ("{{ messages[0].content }}", "prefill", "no", "lost"),
        ("{{ messages[0].content }}", "continue_final_message", "raises", "does not appear"),
    ],
)  # fmt: skip
def test_of_a_begun_answer(text, name, support, note):
    found = detected(text).capabilities[name]
    assert (found.support, note in found.note) == (support, True), found


MEDIA = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for p in m.content %}{% if p.type == 'image' %}<img>{% elif p.type == 'input_audio' %}<snd>{{ loop.index }}"
    "{% elif p.type == 'video' %}{{ raise_exception('no video') }}{% else %}{{ p.text }}{% endif %}{% endfor %}"
    "{% endif %}{% endfor %}"
)
FRONT = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for p in m.content if p.type == 'image' %}<img>{% endfor %}"
    "{% for p in m.content if p.type == 'text' %}{{ p.text }}{% endfor %}{% endif %}{% endfor %}"
)


@pytest.mark.parametrize(
    ("text", "name", "support", "note"),
    [
        (MEDIA, "images", "yes", "written as <img>"),
        (MEDIA, "audio", "yes", "written as <snd>"),
        (MEDIA, "video", "raises", "no video"),
        (FRONT, "images", "partial", "moved before the text"),
        (FRONT, "audio", "no", "does not name"),
        (PLAIN, "images", "no", "no content parts"),
    ],
)
def test_of_media(text, name, support, note):
    found = detected(text).capabilities[name]
    assert (found.support, note in found.note) == (support, True), found
