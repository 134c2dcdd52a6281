"""Masks and headers for training: what is marked, and what stands before whose words."""

from __future__ import annotations

import pytest

from chatlint.rules.finding import Severity
from chatlint.rules.run import run
from chatlint.rules.selection import Selection
from tests.rules.subjects import subject_of

TURN = (
    "{% for m in messages %}{% if m.role == 'assistant' %}ANSWER{% else %}"
    "<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def said(source: str, rule: str) -> list[str]:
    with subject_of(source) as subject:
        judged = run(subject, Selection((rule,)))
    assert judged.failures == ()
    assert all(one.severity is Severity.INFO for one in judged.findings)
    return [one.message for one in judged.findings]


@pytest.mark.parametrize(
    ("answer", "messages"),
    [
        ("<|assistant|>{{ m.content }}<|end|>\n", ["there is no `{% generation %}` block"]),
        ("<|assistant|>{% generation %}{{ m.content }}<|end|>{% endgeneration %}\n", []),
        (
            "<|assistant|>{% generation %}{{ m.content }}{% endgeneration %}<|end|>\n",
            ["the mask ends before the mark that ends the turn"],
        ),
        (
            "{% generation %}<|assistant|>{{ m.content }}<|end|>{% endgeneration %}\n",
            ["the mask begins before the model does"],
        ),
        (
            "<|assistant|>{% generation %}{{ m.content }}<|end|>{{ '\\n' }}{% endgeneration %}",
            ["the mask has white space at its edges that the model does not write"],
        ),
        (
            "<|assistant|>{% if loop.last %}{% generation %}{{ m.content }}<|end|>{% endgeneration %}\n"
            "{% else %}{{ m.content }}<|end|>{% endif %}",
            ["the mask leaves out an answer"],
        ),
    ],
)
def test_masks(answer: str, messages: list[str]) -> None:
    assert said(TURN.replace("ANSWER", answer), "training-mask") == messages


def test_a_mask_that_transformers_measures_wrong() -> None:
    answer = (
        "{% set text %}{% generation %}{{ m.content }}<|end|>{% endgeneration %}{% endset %}"
        "<|assistant|>{{ text }}\n"
    )
    found = said(TURN.replace("ANSWER", answer), "training-mask")
    assert any("takes the blocks to be elsewhere" in message for message in found)


@pytest.mark.parametrize(
    ("source", "user", "answer"),
    [
        (TURN.replace("ANSWER", "<|assistant|>{{ m.content }}<|end|>\n"), "<|user|>", "<|assistant|>"),
        (
            "<|s|>You are kind.<|end|>\n{% for m in messages %}<|h|>{{ m.role }}\n{{ m.content }}<|end|>\n"
            "{% endfor %}{% if add_generation_prompt %}<|h|>assistant\n<think>{% endif %}",
            "<|h|>user\n",
            "<|h|>assistant\n",
        ),
        (
            "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]"
            "{% else %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %}",
            "[INST] ",
            " [/INST] ",
        ),
        (  # the prompt for an answer is always there, and no header of the history
            "{% for m in messages %}{{ 'Source: ' + m.role + '\n\n ' + m.content + ' <step> ' }}{% endfor %}"
            "{{ 'Source: assistant\nDestination: user\n\n ' }}",
            "Source: user\n\n ",
            "Source: assistant\n\n ",
        ),
        (  # it has other blanks than the history
            "{% for m in messages %}{% if m.role == 'user' %}{{ '<|user|>' + m.content }}{% else %}"
            "{{ '    <|assistant|>  ' + m.content + eos_token }}{% endif %}{% endfor %}"
            "{% if add_generation_prompt %}  <|assistant|>{% endif %}",
            "<|user|>",
            "    <|assistant|>  ",
        ),
        (  # marks of other shapes than tags
            "{% for m in messages %}{{ ']~b]' + m.role + '\n' + m.content + '[e~[\n' }}{% endfor %}"
            "{% if add_generation_prompt %}]~b]assistant\n{% endif %}",
            "]~b]user\n",
            "]~b]assistant\n",
        ),
    ],
)
def test_headers(source: str, user: str, answer: str) -> None:
    assert said(source, "header-markers") == [
        f"before a question stands {user!r}, before an answer {answer!r}"
    ]
