"""Several templates for one model: prompts are compared, and the findings are the package's."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from chatlint.errors import UsageError
from chatlint.pipeline import check
from chatlint.rules.drift import Drift
from tests.source.gguf_files import write_gguf
from tests.source.model_files import write

ONE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}{{ '<assistant>' if add_generation_prompt }}"
SAME = ONE.replace("<{{ m.role }}>", "{{ '<' + m.role + '>' }}")
OTHER = ONE.replace("{{ eos_token }}", "{{ eos_token }}\n")
CONFIG = {"eos_token": "</s>", "bos_token": "<s>"}


def findings(target, rule="CT11", **settings):
    report = check(str(target), select=(rule,), cache=False, **settings).targets[0]
    assert all(not template.findings for template in report.templates)
    return [(finding.severity.value, finding.message) for finding in report.findings]


def test_texts_that_give_the_same_prompts_agree(tmp_path):
    write(tmp_path, {"tokenizer_config.json": {**CONFIG, "chat_template": SAME}, "chat_template.jinja": ONE})
    assert findings(tmp_path) == []


def test_the_converter_reads_another_one(tmp_path):
    write(tmp_path, {"tokenizer_config.json": {**CONFIG, "chat_template": OTHER}, "chat_template.jinja": ONE})
    assert findings(tmp_path) == [
        (
            "error",
            "llama.cpp after conversion reads tokenizer_config.json, which gives other prompts than chat_template.jinja",
        )
    ]
    report = check(str(tmp_path), select=("CT11",), cache=False).targets[0]
    evidence = report.findings[0].evidence[0]
    assert evidence.case == "roles/user"
    assert "the other one goes on with ⏎" in evidence.note


def test_processors_read_another_one(tmp_path):
    files = {
        "tokenizer_config.json": CONFIG,
        "chat_template.jinja": ONE,
        "chat_template.json": {"chat_template": OTHER},
    }
    severity, message = findings(write(tmp_path, files))[0]
    assert severity == "error"
    assert message.startswith("transformers processor, vLLM, SGLang read chat_template.json")


def test_a_gguf_beside_them(tmp_path):
    write(tmp_path, {"tokenizer_config.json": {**CONFIG, "chat_template": ONE}})
    write_gguf(tmp_path / "m.gguf", template=OTHER)
    assert findings(tmp_path)[0][1].startswith("llama.cpp reads m.gguf")
    write_gguf(tmp_path / "m.gguf", template=SAME)
    assert findings(tmp_path) == []


def test_two_ggufs(tmp_path):
    write_gguf(tmp_path / "a.gguf", template=ONE)
    write_gguf(tmp_path / "b.gguf", template=OTHER)
    assert findings(tmp_path)[0][1].startswith("llama.cpp, of b.gguf, reads b.gguf")


def test_a_template_that_one_engine_does_not_find(tmp_path):
    named = {"default": ONE, "rag": ONE}
    write(tmp_path, {"tokenizer_config.json": {**CONFIG, "chat_template": named}})
    assert findings(tmp_path) == [
        ("warning", "llama.cpp after conversion finds no template in this package: built-in ChatML")
    ]


def test_the_base(tmp_path):
    (tmp_path / "mine.jinja").write_text(OTHER)
    (tmp_path / "same.jinja").write_text(SAME)
    (tmp_path / "base.jinja").write_text(ONE)
    base = str(tmp_path / "base.jinja")
    assert findings(tmp_path / "mine.jinja", base=base) == [
        ("warning", "the base gives other prompts for 10 of 10 conversations")
    ]
    assert findings(tmp_path / "same.jinja", base=base) == []
    assert findings(tmp_path / "mine.jinja") == []


CALLS = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
    "<call>{{ c.function.name }} ARGUMENTS</call>{% endfor %}{{ eos_token }}{% endfor %}"
    "{{ '<assistant>' if add_generation_prompt }}"
)
ANY_FORM = CALLS.replace(
    "ARGUMENTS",
    "{{ c.function.arguments if c.function.arguments is string else c.function.arguments | tojson }}",
)
OBJECTS_ONLY = CALLS.replace("ARGUMENTS", "{{ c.function.arguments | tojson }}")


def test_a_copy_that_differs_for_one_form_of_arguments(tmp_path):
    (tmp_path / "mine.jinja").write_text(OBJECTS_ONLY)
    (tmp_path / "base.jinja").write_text(ANY_FORM)
    report = check(str(tmp_path / "mine.jinja"), select=("CT112",), base=str(tmp_path / "base.jinja"))
    (finding,) = report.targets[0].findings
    assert finding.message.startswith("the base gives the same prompts for ordinary conversations, other")
    assert finding.cases
    assert all("arguments=string" in case for case in finding.cases)


def test_two_sources_that_differ_for_one_form_of_arguments(tmp_path):
    files = {
        "tokenizer_config.json": {**CONFIG, "chat_template": OBJECTS_ONLY},
        "chat_template.jinja": ANY_FORM,
    }
    ((severity, message),) = findings(write(tmp_path, files), "sources-disagree")
    assert (severity, message.partition(", ")[0]) == (
        "error",
        "llama.cpp after conversion reads tokenizer_config.json",
    )


def test_the_base_is_part_of_the_question(tmp_path):
    """What was judged with one base is not the answer with another."""
    for name, text in (("mine", OTHER), ("base", ONE)):
        (tmp_path / f"{name}.jinja").write_text(text)
    target, base = str(tmp_path / "mine.jinja"), str(tmp_path / "base.jinja")

    def count():
        return len(check(target, select=("CT11",), base=base).targets[0].findings)

    assert (count(), count()) == (1, 1)
    (tmp_path / "base.jinja").write_text(OTHER)
    assert count() == 0


def test_a_base_that_cannot_be_read(tmp_path):
    (tmp_path / "mine.jinja").write_text(ONE)
    with pytest.raises(UsageError, match="--base: there is no file"):
        check(str(tmp_path / "mine.jinja"), base=str(tmp_path / "none.jinja"))


def test_default_lacks_what_tool_use_has(tmp_path):
    tools = (
        "{{ tools | tojson if tools }}{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}{{ c.function | tojson }}{% endfor %}{{ eos_token }}{% endfor %}"
    )
    named = [{"name": "default", "template": ONE}, {"name": "tool_use", "template": tools}]
    write(tmp_path, {"tokenizer_config.json": {**CONFIG, "chat_template": named}})
    found = findings(tmp_path, "named-template-gap")
    assert [severity for severity, _ in found] == ["warning", "info"]
    assert found[0][1] == (
        "`default` loses the function's name and the arguments of a call in the history, 'tool_use' shows them"
    )
    named = [{"name": "default", "template": tools}, {"name": "tool_use", "template": tools}]
    write(tmp_path, {"tokenizer_config.json": {**CONFIG, "chat_template": named}})
    assert findings(tmp_path, "named-template-gap") == []


@pytest.mark.parametrize(
    ("ours", "theirs", "note"),
    [
        ("<|user|>Q", "<s><|user|>Q", "the other one goes on with <s><|user|>Q"),
        ("Q[/INST]", "Q[/TOOL]", "the other one goes on with [/TOOL]"),
        ("1 < 2", "1 < 3", "the other one goes on with 3"),
        ("<s>Q", "<s>", "the other one ends here"),
    ],
)
def test_prompts_part_at_marks_not_in_them(ours, theirs, note):
    first, second = (SimpleNamespace(text=text, failure=None) for text in (ours, theirs))
    assert Drift(first, second).note == note
