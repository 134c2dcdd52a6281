"""Where the result of a call stands, by the turn that is around it."""

from __future__ import annotations

import pytest

from chatlint.detect.capability import ResultTurn
from chatlint.infer.learn import learn
from chatlint.infer.results import learn_result
from chatlint.probe.trace import Trace
from chatlint.render.syntax import syntax_of
from chatlint.source.load import load

from .learned import template

CALLS = """{%- for c in m.tool_calls or [] -%}
<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>
{%- endfor -%}"""


def found(made):
    syntax = syntax_of(made.text)
    with Trace(made) as trace:
        return learn_result(trace, learn(trace, syntax), syntax)


def written(body, name="m.role"):
    """A template with turns `<|role|>…<|end|>` that shows results by `body`."""
    return template(
        f"""{{%- for m in messages -%}}
{{%- if m.role == 'tool' -%}}{body}
{{%- else -%}}<|{{{{ {name} }}}}|>{{{{ m.content or '' }}}}{CALLS}<|end|>
{{%- endif -%}}
{{%- endfor -%}}{{%- if add_generation_prompt -%}}<|assistant|>{{%- endif -%}}"""
    )


@pytest.mark.parametrize(
    ("body", "turn", "before", "after"),
    [
        ("<|tool|>{{ m.content }}<|end|>", ResultTurn.OWN, "<|tool|>", "<|end|>"),
        ("<|user|><result>{{ m.content }}</result><|end|>", ResultTurn.USER, "<result>", "</result><|end|>"),
        ("<|assistant|>It says {{ m.content }}<|end|>", ResultTurn.ASSISTANT, "It says ", "<|end|>"),
        ("<|env|>{{ m.name }}: {{ m.content }}<|end|>", ResultTurn.OWN, "<|env|>: ", "<|end|>"),
        ("<|env|>{{ m.tool_call_id }}:{{ m.content }}", ResultTurn.OWN, "<|env|>⟨id⟩:", ""),
    ],
)
def test_the_turn_and_what_stands_around_the_result(body, turn, before, after):
    result = found(written(body))
    assert (result.turn, result.before, result.after) == (turn, before, after)
    assert result.evidence[0].startswith("calls/one-result")


def test_blanks_between_a_header_and_a_question_are_no_part_of_the_header():
    body = "<|user|>\n<result>\n{{ m.content }}</result><|end|>"
    indented = written(body).text.replace("<|{{ m.role }}|>", "<|{{ m.role }}|>        ")
    assert indented.count("        ") == 1
    result = found(template(indented))
    assert (result.turn, result.before) == (ResultTurn.USER, "\n<result>\n")


def test_a_result_that_is_not_shown():
    assert found(written("")) is None


def test_where_calls_are_lost_the_last_header_counts():
    text = written("<|tool|>{{ m.content }}<|end|>").text.replace(CALLS, "")
    result = found(template(text))
    assert (result.turn, result.before) == (ResultTurn.OWN, "<|tool|>")


CORPUS = {
    "qwen3": (ResultTurn.USER, "<tool_response>\n"),
    "llama-3": (ResultTurn.OWN, "<|start_header_id|>ipython<|end_header_id|>\n\n"),
    "mistral-v11-ids": (ResultTurn.OWN, "[TOOL_RESULTS]⟨id⟩[TOOL_CONTENT]"),
    "deepseek-v3.1": (ResultTurn.OWN, "<｜tool▁output▁begin｜>"),
    "harmony": (ResultTurn.OWN, "<|start|>functions.⟨name⟩ to=assistant<|channel|>commentary<|message|>"),
    "seed-oss": (ResultTurn.OWN, "<seed:bos>tool\n"),
    "xlam": (ResultTurn.USER, "<tool_response>\n"),
}


@pytest.mark.parametrize("name", CORPUS)
def test_known_formats(name):
    result = found(load(f"corpus:{name}").templates[0])
    assert (result.turn, result.before) == CORPUS[name]
