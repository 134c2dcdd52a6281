"""One small template for each kind of format, and what must be learned from it."""

from __future__ import annotations

import pytest

from chatlint.infer.vocabulary import vocabulary
from chatlint.parse.formats import Confidence, Marks, ReasoningState, Syntax
from chatlint.parse.notation import Encoding, Items, Members
from chatlint.verify.roundtrip import round_trips
from tests.infer.learned import (
    ARGUMENTS,
    PROMPT,
    TEXT,
    each_call,
    keyed,
    learned,
    learned_from,
    section,
    template,
    turns,
)

NAME = "{{ c.function.name }}"
OBJECT = '{"name": "' + NAME + '", "arguments": ' + ARGUMENTS + "}"
THOUGHT = "{% if m.reasoning_content %}<mull>{{ m.reasoning_content }}</mull>{% endif %}"

CALLS = {
    "object in tags": (
        TEXT + each_call("{{ '\\n' }}<call>\n" + OBJECT + "\n</call>"),
        {"call_start": "\n<call>\n", "call_end": "\n</call>", "body": '{"name": "⟨name⟩", "arguments": ⟨arguments⟩}'},
    ),
    "objects in a list": (
        TEXT + section("<calls>[", each_call(OBJECT, ", "), "]</calls>"),
        {"section_start": "<calls>[", "section_end": "]</calls>", "separator": ", ", "syntax": Syntax.JSON},
    ),
    "bare object": (TEXT + each_call(OBJECT, "; "), {"call_start": "", "call_end": "", "separator": "; "}),
    "nested object": (
        TEXT + each_call('<call>{"type": "function", "function": ' + OBJECT + ', "id": "{{ c.id }}"}</call>'),
        {"body": '{"type": "function", "function": {"name": "⟨name⟩", "arguments": ⟨arguments⟩}, "id": "⟨id⟩"}'},
    ),
    "arguments as a string in the object": (
        TEXT + each_call('<call>{"name": "' + NAME + '", "arguments": {{ c.function.arguments|tojson|tojson }}}</call>'),
        {"body": '{"name": "⟨name⟩", "arguments": "⟨arguments⟩"}'},
    ),
    "name as key": (
        TEXT + section("<calls>[", each_call('{"' + NAME + '": ' + ARGUMENTS + "}", ", "), "]</calls>"),
        {"body": '{"⟨name⟩": ⟨arguments⟩}', "syntax": Syntax.JSON},
    ),
    "counter as id": (
        TEXT + section("<calls>[", each_call('{"call_id": "{{ loop.index0 }}", "name": "' + NAME + '", "arguments": ' + ARGUMENTS + "}", ", "), "]</calls>"),
        {"body": '{"call_id": "⟨id⟩", "name": "⟨name⟩", "arguments": ⟨arguments⟩}', "id": "⟨n⟩"},
    ),
    "name, then object": (
        TEXT + section("<calls>", each_call("<call>" + NAME + "<sep>" + ARGUMENTS + "</call>"), "</calls>"),
        {"section_start": "<calls>", "call_start": "<call>", "body": "⟨name⟩<sep>⟨arguments⟩", "call_end": "</call>", "section_end": "</calls>", "syntax": Syntax.TEXT},
    ),
    "fenced object": (
        TEXT + each_call("<call>" + NAME + "\n```json\n" + ARGUMENTS + "\n```</call>", "{{ '\\n' }}"),
        {"body": "⟨name⟩\n```json\n⟨arguments⟩", "call_end": "\n```</call>", "separator": "\n"},
    ),
    "id between name and arguments": (
        TEXT + each_call("[CALL]" + NAME + "[ID]{{ c.id }}[ARGS]" + ARGUMENTS),
        {"call_start": "[CALL]", "body": "⟨name⟩[ID]⟨id⟩[ARGS]⟨arguments⟩", "call_end": ""},
    ),
    "name only in the id": (
        TEXT + each_call("<call>{{ c.id }}<args>" + ARGUMENTS + "</call>"),
        {"body": "⟨id⟩<args>⟨arguments⟩", "id": ""},
    ),
    "composed id": (
        TEXT + each_call("<call>functions." + NAME + ":{{ loop.index0 }}<args>" + ARGUMENTS + "</call>"),
        {"call_start": "<call>", "body": "⟨id⟩<args>⟨arguments⟩", "id": "functions.⟨name⟩:⟨n⟩"},
    ),
    "counter in the call": (
        TEXT + each_call('<call tool="' + NAME + '" no="{{ loop.index }}">' + ARGUMENTS + "</call>"),
        {"call_start": '<call tool="', "body": '⟨name⟩" no="⟨n⟩">⟨arguments⟩', "call_end": "</call>"},
    ),
    "keyed in tags": (
        TEXT + each_call("<call>" + NAME + keyed("{{ '\\n' }}<k>{{ k }}</k>\n<v>{{ v if v is string else v|tojson }}</v>") + "{{ '\\n' }}</call>"),
        {"body": "⟨name⟩⟨arguments⟩", "members": Members("\n<k>⟨key⟩</k>\n<v>⟨value⟩</v>"), "call_end": "\n</call>"},
    ),
    "key in an attribute": (
        TEXT + section("<calls>\n", each_call('<invoke name="' + NAME + '">\n' + keyed('<p name="{{ k }}">{{ v if v is string else v|tojson }}</p>\n') + "</invoke>\n"), "</calls>"),
        {"section_start": "<calls>", "call_start": '\n<invoke name="', "members": Members('\n<p name="⟨key⟩">⟨value⟩</p>')},
    ),
    "key as tag": (
        TEXT + each_call("<call " + NAME + ">" + keyed("<{{ k }}>{{ v if v is string else v|tojson }}</{{ k }}>") + "</call>"),
        {"members": Members("<⟨key⟩>⟨value⟩</⟨key⟩>"), "body": "⟨name⟩>⟨arguments⟩"},
    ),
    "python calls": (
        TEXT + section("[", each_call(NAME + "(" + keyed("{{ k }}={{ v|string if v is not string else v|tojson }}", ", ") + ")", ", "), "]"),
        {"section_start": "[", "body": "⟨name⟩(⟨arguments⟩", "call_end": ")", "separator": ", ", "members": Members("⟨key⟩=⟨value⟩", ", ")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CALLS)
def test_calls(kind):
    assistant, expected = CALLS[kind]
    calls = learned(turns(assistant)).tool_calls
    assert {name: getattr(calls, name) for name in expected} == expected


def test_a_single_call_is_a_limit():
    calls = learned(
        turns(
            TEXT + "{% if m.tool_calls %}{% set c = m.tool_calls[0] %}<call>" + OBJECT + "</call>{% endif %}"
        )
    ).tool_calls
    assert not calls.parallel
    assert (calls.call_start, calls.call_end) == ("<call>", "</call>")


def test_arguments_that_come_out_as_python_are_asked_for_as_text():
    output = learned(
        turns(
            TEXT + each_call('<call>{"name": "' + NAME + '", "arguments": {{ c.function.arguments }}}</call>')
        )
    )
    assert output.tool_calls.body == '{"name": "⟨name⟩", "arguments": ⟨arguments⟩}'
    assert all("arguments=string" in case for case in output.grounds["tool_calls"].evidence)


def test_no_calls_says_why():
    output = learned(turns(TEXT))
    assert output.tool_calls is None
    assert output.grounds["tool_calls"].confidence is Confidence.NONE
    assert output.grounds["tool_calls"].note


# -- values --------------------------------------------------------------------------------------------------


def values_of(value):
    return learned(
        turns(TEXT + each_call("<call>" + NAME + keyed("<k>{{ k }}</k>" + value) + "</call>"))
    ).tool_calls.values


def test_values_that_look_alike():
    values = values_of("<v>{{ v if v is string else v|tojson }}</v>")
    assert values.string.encoding is Encoding.RAW
    assert values.number.encoding is values.boolean.encoding is values.object.encoding is Encoding.JSON
    assert not values.self_typed


def test_python_booleans():
    values = values_of("<v>{{ v }}</v>")
    assert values.boolean.encoding is values.null.encoding is Encoding.PYTHON


def test_quoted_strings_are_json():
    assert values_of("<v>{{ v|tojson }}</v>").string.encoding is Encoding.JSON


def test_labelled_values():
    values = values_of(
        "<v string=\"{{ 'true' if v is string else 'false' }}\">{{ v if v is string else v|tojson }}</v>"
    )
    assert values.string.start == '<v string="true">'
    assert values.integer.start == values.array.start == '<v string="false">'
    assert values.self_typed


NOTATION = """
{%- macro written(v) -%}
{%- if v is string -%}<q>{{ v }}<q>
{%- elif v is mapping -%}{{ '{' }}{% for k, x in v.items() %}{{ k }}:{{ written(x) }}{% if not loop.last %},{% endif %}{% endfor %}{{ '}' }}
{%- elif v is iterable -%}[{% for x in v %}{{ written(x) }}{% if not loop.last %},{% endif %}{% endfor %}]
{%- else -%}{{ v|tojson }}
{%- endif -%}
{%- endmacro -%}
"""
ELEMENTS = """
{%- macro written(v) -%}
{%- if v is mapping -%}{% for k, x in v.items() %}<{{ k }}>{{ written(x) }}</{{ k }}>{% endfor %}
{%- elif v is iterable and v is not string -%}{% for x in v %}<item>{{ written(x) }}</item>{% endfor %}
{%- else -%}{{ v if v is string else v|tojson }}
{%- endif -%}
{%- endmacro -%}
"""


def test_nested_notation_with_braces():
    calls = learned(
        NOTATION + turns(TEXT + each_call("<call>" + NAME + "{{ written(c.function.arguments) }}</call>"))
    ).tool_calls
    assert calls.members == Members("⟨key⟩:⟨value⟩", ",")
    assert calls.values.string.start == calls.values.string.end == "<q>"
    assert calls.values.array == Items("⟨value⟩", ",", "[", "]")
    assert calls.values.object == Members("⟨key⟩:⟨value⟩", ",", "{", "}")


def test_nested_notation_with_elements():
    calls = learned(
        ELEMENTS + turns(TEXT + each_call("<call " + NAME + ">{{ written(c.function.arguments) }}</call>"))
    ).tool_calls
    assert calls.values.array == Items("<item>⟨value⟩</item>")
    assert calls.values.object == Members("<⟨key⟩>⟨value⟩</⟨key⟩>")


def test_what_was_left_out_is_said():
    given = turns(
        TEXT
        + each_call(
            "<call>"
            + NAME
            + "{% for k, v in c.function.arguments.items() if v is not none %}<k>{{ k }}</k><v>{{ v }}</v>{% endfor %}</call>"
        )
    )
    assert "null" in learned(given).grounds["tool_calls.values"].note


# -- reasoning and content -----------------------------------------------------------------------------------


def test_reasoning():
    output = learned(turns(THOUGHT + TEXT))
    assert (output.reasoning.start, output.reasoning.end, output.reasoning.guess) == (
        "<mull>",
        "</mull>",
        False,
    )


def test_reasoning_that_every_turn_opens():
    output = learned(turns("<mull>\n{{ m.reasoning_content or '' }}\n</mull>\n\n" + TEXT))
    assert (output.header, output.reasoning.start.strip()) == ("<|assistant|>", "<mull>")
    assert output.reasoning.end.strip() == "</mull>"
    assert output.content.start == ""


def test_reasoning_only_beside_calls():
    output = learned(
        turns(
            "{% if m.tool_calls %}"
            + THOUGHT
            + "{% endif %}"
            + TEXT
            + each_call("<call>" + OBJECT + "</call>")
        )
    )
    assert output.reasoning.start == "<mull>"
    assert vocabulary(output).reasoning_mode == "TOOLS_ONLY"


def test_reasoning_without_tags():
    output = learned(
        turns("{% if m.reasoning_content %}Thoughts: {{ m.reasoning_content }} Answer: {% endif %}" + TEXT)
    )
    assert output.reasoning.start == "Thoughts: "
    assert output.reasoning.end.strip() == "Answer:"


def test_reasoning_before_a_header_of_plain_words():
    text = (
        "{% for m in messages %}{% if m.reasoning_content %}<mull>{{ m.reasoning_content }}</mull>{% endif %}"
        "{{ m.role }}: {{ m.content }}{% endfor %}"
    )
    trace, output = learned_from(template(text))
    assert (output.header, output.reasoning.start, output.reasoning.end) == (
        "assistant: ",
        "<mull>",
        "</mull>",
    )
    assert output.end_of_message == ()
    assert round_trips(trace, output).failures == ()


def test_reasoning_that_is_only_stripped_is_a_guess():
    output = learned(
        turns(
            "{{ m.content.split('</mull>')[-1] }}",
            prompt="{% if add_generation_prompt %}<|assistant|><mull>\n{% endif %}",
        )
    )
    assert (output.reasoning.start.strip(), output.reasoning.end, output.reasoning.guess) == (
        "<mull>",
        "</mull>",
        True,
    )
    assert output.generation_prompt.reasoning is ReasoningState.OPEN
    assert output.grounds["reasoning"].confidence is Confidence.LOW


def test_an_empty_block_is_reasoning_that_never_shows():
    output = learned(turns("<mull></mull>" + TEXT))
    assert (output.reasoning.start, output.reasoning.end, output.reasoning.guess) == (
        "<mull>",
        "</mull>",
        True,
    )
    assert output.content.start == ""


def test_content_in_a_wrapper():
    output = learned(turns(THOUGHT + "<say>" + TEXT + "</say>"))
    assert (output.content.start, output.content.end) == ("<say>", "</say>")
    assert vocabulary(output).content_mode == "ALWAYS_WRAPPED"


def test_content_in_a_wrapper_beside_calls_only():
    output = learned(
        turns(
            "{% if m.tool_calls %}<say>"
            + TEXT
            + "</say>{% else %}"
            + TEXT
            + "{% endif %}"
            + each_call("<call>" + OBJECT + "</call>")
        )
    )
    assert output.content.start == ""
    assert output.content.alternatives == (Marks("<say>", "</say>"),)
    assert output.tool_calls.section_start + output.tool_calls.call_start == "<call>"


def test_parts_out_of_order_and_apart():
    behind = learned(turns(each_call("<call>" + OBJECT + "</call>") + TEXT))
    assert behind.order.index("tool_calls") < behind.order.index("content")
    apart = learned(
        turns(
            "{% if m.tool_calls %}"
            + each_call("<call>" + OBJECT + "</call>")
            + "{% else %}"
            + TEXT
            + "{% endif %}"
        )
    )
    assert apart.exclusive == (("content", "tool_calls"),)


# -- messages and ends ---------------------------------------------------------------------------------------

CHANNELS = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if m.reasoning_content %}<|start|>assistant to=self<|body|>{{ m.reasoning_content }}<|on|>{% endif %}"
    "{% if m.content %}<|start|>assistant to=user<|body|>{{ m.content }}{% if m.tool_calls %}<|on|>{% endif %}{% endif %}"
    + each_call(
        "<|start|>assistant to=" + NAME + "<|body|>" + ARGUMENTS + "{% if not loop.last %}<|on|>{% endif %}"
    )
    + "<|over|>{% else %}<|start|>{{ m.role }}<|body|>{{ m.content }}<|over|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)


def test_channels():
    output = learned(CHANNELS)
    assert (output.header, output.header_end) == ("<|start|>assistant", "<|body|>")
    assert (output.reasoning.start, output.content.start) == (" to=self<|body|>", " to=user<|body|>")
    assert (output.tool_calls.call_start, output.tool_calls.body) == (" to=", "⟨name⟩<|body|>⟨arguments⟩")
    assert (output.end_of_turn, output.end_of_message) == (("<|over|>",), ("<|on|>",))
    assert vocabulary(output).tool_format == "RECIPIENT_CHANNELS"


def test_a_turn_may_end_where_the_next_message_begins():
    text = turns(TEXT, end="")
    assert learned(text).end_of_turn == ("<|user|>",)


def test_a_message_that_comes_last_may_not_be_ended():
    """Then the end of a question stands with the generation prompt, and is no part of the header."""
    end = "{% if not loop.last or add_generation_prompt %}<|end|>{% endif %}"
    output = learned("{% for m in messages %}<|{{ m.role }}|>{{ m.content }}" + end + "{% endfor %}" + PROMPT)
    assert (output.header, output.end_of_turn) == ("<|assistant|>", ("<|end|>",))
    assert output.parser().parse("Juniper<|end|>")["content"] == "Juniper"


def test_generation_prompts_by_switch():
    prompt = (
        "{% if add_generation_prompt %}<|assistant|>"
        "{% if enable_thinking is defined and enable_thinking is false %}<mull></mull>{% endif %}{% endif %}"
    )
    found = learned(turns(THOUGHT + TEXT, prompt=prompt)).generation_prompt
    assert (found.text, found.reasoning) == ("<|assistant|>", ReasoningState.NONE)
    states = {dict(one.switches)["enable_thinking"]: (one.text, one.reasoning) for one in found.by_switch}
    assert states[False] == ("<|assistant|><mull></mull>", ReasoningState.CLOSED)


def test_evidence_names_cases():
    output = learned(turns(THOUGHT + TEXT + each_call("<call>" + OBJECT + "</call>")))
    assert "calls/two@generation=off" in output.grounds["tool_calls"].evidence
    assert "reasoning/last@generation=off" in output.grounds["reasoning"].evidence
    assert output.confidence is Confidence.HIGH
