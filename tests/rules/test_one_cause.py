"""One fault is one finding, though several rules see it."""

from __future__ import annotations

from pathlib import Path

import pytest

import chatlint
from chatlint.rules.finding import Severity

ROLES = Path(__file__).parent / "role_support"
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


UNKNOWN = {
    "a filter for contents that are lists": (
        "{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}{{ m.content }}"
        "{% else %}{{ m.content | from_parts }}{% endif %}<|end|>{% endfor %}",
        Severity.WARNING,
    ),
    "a filter for arguments that are texts": (
        "{{ tools | tojson if tools }}" + LOOP.replace("<|end|>", "{% for c in m.tool_calls or [] %}"
        "<call>{{ c.function.name }} {% set a = c.function.arguments %}"
        "{% if a is string %}{{ a | compact_json }}{% else %}{{ a | tojson }}{% endif %}</call>{% endfor %}<|end|>"),
        Severity.WARNING,
    ),
    "a filter for every call": (
        "{{ tools | tojson if tools }}" + LOOP.replace("<|end|>", "{% for c in m.tool_calls or [] %}"
        "<call>{% if c %}{{ c.function | as_call }}{% endif %}</call>{% endfor %}<|end|>"),
        Severity.ERROR,
    ),
    "a function for every call": (
        "{{ tools | tojson if tools }}" + LOOP.replace("<|end|>", "{% for c in m.tool_calls or [] %}"
        "<call>{{ as_call(c.function) }}</call>{% endfor %}<|end|>"),
        Severity.ERROR,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_breaks_for_a_name_that_there_is_not(told, name):
    source, severity = UNKNOWN[name]
    assert told(source.replace("m.content if", "m.content or '' if") + GENERATION) == [
        ("undefined-read", severity)
    ]


@pytest.fixture
def infos(tmp_path):
    def judge(source: str, *rules: str) -> list[tuple[str, str]]:
        file = tmp_path / "a.jinja"
        file.write_text(source, encoding="utf-8")
        (template,) = chatlint.check(str(file), cache=False, select=rules).targets[0].templates
        return [(one.rule, one.message) for one in template.findings]

    return judge


def test_an_end_that_changes_whatever_comes(infos):
    source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ '<|end|>' if not loop.last else '<|last|>' }}"
    assert infos(source + "{% endfor %}" + GENERATION, "prefix-break") == [
        ("prefix-break", "what stands behind the last message changes when the conversation goes on")
    ]


@pytest.mark.parametrize(
    ("first", "lost"),
    [
        ("{% if messages[0].role == 'system' %}<|system|>{{ messages[0].content }}<|end|>{% endif %}",
         "system text that is not first and a developer message are"),
        ("", "system text and a developer message are"),
        ("{% for m in messages if m.role == 'system' %}<|system|>{{ m.content }}<|end|>{% endfor %}",
         "a developer message is"),
    ],
)  # fmt: skip
def test_roles_for_which_nothing_is_written(infos, first, lost):
    loop = LOOP.replace(
        "{% for m in messages %}", "{% for m in messages if m.role in ['user', 'assistant'] %}"
    )
    assert infos(first + loop + GENERATION, "role-support") == [
        ("role-support", f"{lost} dropped without a word")
    ]


def test_system_text_that_only_a_last_question_has(infos):
    source = (ROLES / "bad-system-in-tool-loop.jinja").read_text(encoding="utf-8")
    message = "system text alone and system text in a tool loop are dropped without a word"
    assert infos(source, "role-support") == [("role-support", message)]


@pytest.mark.parametrize("prompt", ["{% if add_generation_prompt %}<|user|>{% endif %}", "<|user|>"])
def test_a_prompt_that_opens_a_question(infos, prompt):
    assert infos(LOOP + prompt, "generation-prompt", "prefix-break") == [
        ("generation-prompt", "the generation prompt '<|user|>' opens a question, not an answer")
    ]


@pytest.mark.parametrize("always", ["<|assistant|>", "<|assistant|><|to|>user<|text|>"])
def test_a_generation_prompt_that_is_always_there(infos, always):
    source = LOOP + always
    (alone,) = infos(source, "generation-prompt")
    assert alone[1].endswith("is written even after a finished answer")
    assert infos(source, "prefix-break")
    assert infos(source, "generation-prompt", "prefix-break") == [alone]


def test_a_name_that_nobody_sets(told):
    found = dict(told("{{ preamble + ' ' }}" + LOOP + GENERATION))
    assert found["undefined-read"] is Severity.ERROR
    assert "role-support" not in found


def test_names_behind_the_one_that_breaks_first(infos):
    """The template breaks on the first; whether it needs the others is asked with that one set."""
    source = "{{ preamble + ' ' }}{{ 'Today: ' + today }}{{ mood ~ ' ' }}" + LOOP + GENERATION
    assert [message for _, message in infos(source, "undefined-read")][:2] == [
        "the template breaks where `preamble` is not set",
        "the template breaks where `today` is not set",
    ]


BROKEN = Path(__file__).parent / "json_fidelity" / "bad-unclosed-text.jinja"


def test_json_that_is_none(infos):
    assert infos(BROKEN.read_text(encoding="utf-8"), "json-fidelity") == [
        ("json-fidelity", "a tool is written as JSON that is none: Expecting ',' delimiter")
    ]


ONE_FOR_ALL = Path(__file__).parent / "media_placeholders" / "bad-one-for-all.jinja"


def test_one_placeholder_for_all_sounds(infos):
    source = ONE_FOR_ALL.read_text(encoding="utf-8")
    one, *others = infos(source, "media-placeholders")
    assert one[1] == "of two sounds in one message, only one is written"
    assert not any("moved" in message for _, message in others)
    each = source.replace("{% set heard.any = true %}", "<|sound|>").replace(
        "{{- '<|sound|>' if heard.any }}", ""
    )
    assert infos(each, "media-placeholders")[0][1].startswith("sounds are moved away")


PARTS = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ '<|system|>' + m.content }}{% else %}<|{{ m.role }}|>"
    "{% if m.content is string %}{{ m.content }}{% else %}{% for content in m.content %}{{ content.text }}"
    "{% endfor %}{% endif %}{% endif %}<|end|>{% endfor %}"
)


def test_a_shape_that_a_server_makes_of_every_request(told, tmp_path):
    """Contents are lists in vLLM, as the template loops over some: system text breaks there, for one reason."""
    assert told(PARTS + GENERATION) == [("content-shape", Severity.WARNING)]
    report = chatlint.check(str(tmp_path / "a.jinja"), cache=False)
    (found,) = [one for one in report.targets[0].templates[0].findings if one.rule == "content-shape"]
    assert found.consequence == "Requests that transformers renders fail in vllm."
    assert "vllm" in found.hosts
    assert "vllm" not in found.hidden_on


LOSES_TEXTS = (
    "{% for m in messages %}<|{{ m.role }}|>{% set parts = m.content | selectattr('type', 'equalto', 'text') | list %}"
    "{{ parts | map(attribute='text') | join }}<|end|>{% endfor %}"
)


def test_texts_that_are_lost_in_a_server_too(told, tmp_path):
    """vLLM sees no loop over contents and joins what callers send in parts."""
    assert told(LOSES_TEXTS + GENERATION) == [("content-shape", Severity.ERROR)]
    report = chatlint.check(str(tmp_path / "a.jinja"), cache=False)
    (found,) = [one for one in report.targets[0].templates[0].findings if one.rule == "content-shape"]
    assert "vllm" in found.hosts


def test_lists_that_are_printed_in_a_server_too(told, tmp_path):
    """Contents are lists in vLLM, as the template loops over some: system text is printed as one."""
    assert told(PARTS.replace("'<|system|>' + m.content", "m.content") + GENERATION) == [
        ("content-shape", Severity.WARNING)
    ]
    report = chatlint.check(str(tmp_path / "a.jinja"), cache=False)
    (found,) = [one for one in report.targets[0].templates[0].findings if one.rule == "content-shape"]
    assert found.consequence.startswith("vllm sends lists for all contents")
    assert "vllm" in found.hosts


def test_alone_the_rule_about_servers_tells_it(told, tmp_path):
    told(PARTS + GENERATION)
    report = chatlint.check(str(tmp_path / "a.jinja"), cache=False, select=("breaks-in-serving",))
    (found,) = report.targets[0].templates[0].findings
    assert found.hosts == ("vllm",)
