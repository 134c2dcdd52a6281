"""Against real transformers: the same text, or the same exception with the same message."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatlint.conversation import Conversation
from chatlint.render.rendered import FailureKind, RenderRequest, RenderSettings
from chatlint.render.renderer import open_renderer
from tests.conftest import SHARED
from tests.render.conversations import ASSISTANT, CONVERSATIONS, USER, calls
from tests.render.oracle import Oracle
from tests.render.plain import check_spans, outcome, render, template

TEMPLATES = sorted((SHARED / "templates").glob("*.jinja"))
SAMPLE = TEMPLATES[::10]
GIVEN = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return Oracle()


def compare(oracle: Oracle, path: Path) -> None:
    source = path.read_bytes().decode()
    for tokens in (GIVEN, {}):
        renderer = open_renderer(template(source, **tokens))
        for name, conversation in CONVERSATIONS.items():
            for generation in (True, False):
                rendered = renderer.render(RenderRequest(conversation, generation))
                expected = oracle(source, conversation, generation, tokens)
                assert outcome(rendered) == expected, (path.name, name, generation, tokens)
                assert not rendered.mutated
                if rendered.prompt is not None:
                    check_spans(rendered.prompt, conversation)
        renderer.close()


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.stem)
def test_a_sample_of_real_templates(oracle: Oracle, path: Path) -> None:
    compare(oracle, path)


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(12))
def test_all_real_templates(oracle: Oracle, part: int, shared: Path) -> None:
    for path in TEMPLATES[part::12]:
        compare(oracle, path)


CONTINUED = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if not loop.last %}[end]\n{% endif %}{% endfor %}"
)
TRIMMED = "{% for m in messages %}[{{ m.role }}]{{ m.content|trim }}{% endfor %}[end]"
PARTS = "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}[end]"
REASONING = "{% for m in messages %}<think>{{ m.thinking }}|{{ m.reasoning_content }}</think>{{ m.content }}{% endfor %}"
OPEN = [
    Conversation((USER, ASSISTANT)),
    Conversation((USER, {"role": "assistant", "content": " spaces "})),
    Conversation((USER, {"role": "assistant", "content": ""})),
    Conversation((USER, {"role": "assistant", "content": None})),
    Conversation((USER, {"role": "assistant"})),
    Conversation((USER, {"role": "assistant", "content": 5})),
    Conversation((USER, {"role": "assistant", "content": {"a": 1}})),
    Conversation(
        (USER, {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "image"}]})
    ),
    Conversation((USER, {"role": "assistant", "content": [{"type": "image"}]})),
    Conversation((USER, {"role": "assistant", "content": "x", "reasoning": "because"})),
    Conversation((USER, {"role": "assistant", "content": "x", "thinking": "a", "reasoning_content": "b"})),
    Conversation((USER, calls(content="CONTINUE_FINAL_MESSAGE_TAG twice"))),
    Conversation(()),
]


@pytest.mark.parametrize("conversation", OPEN)
@pytest.mark.parametrize("field", [True, "content", "reasoning_content", "thinking", "reasoning", "nothing"])
@pytest.mark.parametrize("source", [CONTINUED, TRIMMED, PARTS, REASONING])
def test_continue_final_message(
    oracle: Oracle, source: str, field: bool | str, conversation: Conversation
) -> None:
    for generation in (False, True):
        renderer = open_renderer(template(source))
        rendered = renderer.render(RenderRequest(conversation, generation, field))
        assert outcome(rendered) == oracle(source, conversation, generation, continue_final_message=field)
        if rendered.prompt is not None:
            check_spans(rendered.prompt, conversation)


GENERATION = (
    "{% for m in messages %}[{{ m.role }}]{% generation %}{{ m.content }}!{% endgeneration %}\n{% endfor %}"
)
IN_A_MACRO = (
    "{% macro f(m) %}head{% generation %}{{ m.content }}{% endgeneration %}{% endmacro %}"
    "{% for m in messages %}{{ f(m) }}{% endfor %}"
)


def test_generation_spans(oracle: Oracle) -> None:
    conversation = Conversation((USER, ASSISTANT))
    for source in (GENERATION, IN_A_MACRO):
        rendered = open_renderer(template(source)).render(RenderRequest(conversation, False))
        assert list(rendered.generation_reported) == oracle.generation_spans(source, conversation)
        text = outcome(rendered)
        assert [text[start:stop].rstrip("!") for start, stop in rendered.generation] == [
            message["content"] for message in conversation.messages
        ]
    assert rendered.generation != rendered.generation_reported, "transformers is wrong inside a macro"


SOURCES = {
    "no loader": "{% include 'x' %}",
    "import": "{% import 'x' as y %}",
    "extends": "{% extends 'x' %}",
    "unknown tag": "{% foo %}",
    "unknown filter": "{{ 'x'|foo }}",
    "unknown filter, in an if": "{% if messages %}{{ 'x'|foo }}{% endif %}",
    "unknown test": "{{ 'x' is foo }}",
    "filter arguments": "{{ 'x'|indent(1, 2, 3, 4, 5) }}",
    "filter keyword": "{{ 'x'|trim(foo=1) }}",
    "tojson keyword": "{{ 'x'|tojson(foo=1) }}",
    "raise_exception arguments": "{{ raise_exception() }}",
    "strftime_now arguments": "{{ strftime_now() }}",
    "strftime_now of none": "{{ strftime_now(none) }}",
    "raise with a list": "{{ raise_exception(['a', messages[0].role]) }}",
    "namespace name": "{% set ns = namespace() %}{% set ns._x = 1 %}",
    "namespace argument": "{% set ns = namespace(_x=1) %}",
    "namespace member": "{% set ns = namespace(x=1) %}{{ ns.y.z }}",
    "namespace class": "{{ namespace(x=1).__class__ }}{{ namespace(x=1).__class__.x }}",
    "dict": "{{ dict(a=1) }}{{ dict.fromkeys('ab') }}",
    "dict member": "{{ dict.x.y }}",
    "append": "{{ messages.append(1) }}",
    "mro": "{{ ''.__class__.__mro__ }}",
    "macro arguments": "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}",
    "macro keyword": "{% macro f(a) %}{% endmacro %}{{ f(b=2) }}",
    "break": "{% for m in messages %}{% break %}{% endfor %}x",
    "range": "{% for i in range(1000000) %}{% endfor %}",
    "generator as JSON": "{{ messages|map(attribute='role')|tojson }}",
    "undefined as JSON": "{{ x|tojson }}",
    "set as key": "{{ {messages[0]: 1} }}",
    "no else": "{{ ('x' if false) + 'y' }}",
    "length of none": "{{ tools|length }}",
    "items of a string": "{{ 'x'|items|list }}",
    "CRLF": "a\r\nb\rc\n{{ 'x\r\ny' }}\n",
    "two last newlines": "a\n\n",
    "whitespace": "  {%- if true -%}  x  {%- endif -%}\n\n y {#- c -#} z {{- 'w' -}} v",
    "raw": "{% raw %}{{ x }}{% endraw %}",
    "line": "{% set x %}\na{{ messages[0].role }}\n{% endset %}{{ x|upper }}",
    "call": "{% macro f() %}<{{ caller() }}>{% endmacro %}{% call f() %}{{ messages[0].role }}{% endcall %}",
    "filter block": "{% filter upper %}{{ messages[0].role }}{% endfilter %}",
    "recursive": "{% for x in [[1], [2]] recursive %}{{ loop(x) if x is iterable else x }}{{ loop.depth }}{% endfor %}",
    "with": "{% with a = messages[0].role %}{{ a }}{% endwith %}{{ a }}",
    "block": "{% block x %}{{ messages[0].role }}{% endblock %}{{ self.x() }}",
    "autoescape": "{% autoescape true %}{{ '<' }}{{ messages[0].content }}{{ 'a' ~ '<' }}{% endautoescape %}",
    "autoescape, volatile": "{% autoescape messages %}{{ '<' ~ messages[0].content }}<{% endautoescape %}",
    "changed, cycle": "{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "nested too deep for Python": "{% for a in [1] %}" * 25 + "{% endfor %}" * 25,
}


@pytest.mark.parametrize("name", SOURCES)
def test_constructs(oracle: Oracle, name: str) -> None:
    conversation = CONVERSATIONS["turns"]
    expected = oracle(SOURCES[name], conversation)
    found = outcome(render(SOURCES[name], conversation))
    if name == "nested too deep for Python":
        found, expected = found[0], expected[0]
    assert found == expected


def test_the_two_hosts_differ_where_transformers_does(oracle: Oracle) -> None:
    conversation = Conversation(
        ({"role": "user", "content": None}, {"role": "assistant", "content": "x", "reasoning": "r"})
    )
    source = "{{ additional_special_tokens }}{{ messages }}{{ unk_token is defined }}{{ dict }}"
    tokens = {"unk_token": "", "additional_special_tokens": ("<a>", "<b>")}
    texts = []
    for host in ("transformers-5.24", "transformers-4.57"):
        renderer = open_renderer(template(source, **tokens), RenderSettings(host))
        texts.append(outcome(renderer.render(RenderRequest(conversation))))
    assert texts[0].startswith(
        "[{'role': 'user'}, {'thinking': 'r', 'role': 'assistant', 'content': 'x', 'reasoning': 'r', "
        "'reasoning_content': 'r'}]True"
    )
    assert texts[1] == (
        "['<a>', '<b>'][{'role': 'user', 'content': None}, {'role': 'assistant', 'content': 'x', 'reasoning': 'r'}]"
        "False<class 'dict'>"
    )


def test_host_failures_are_the_hosts() -> None:
    rendered = render("x", Conversation(()))
    assert rendered.failure is not None
    assert rendered.failure.kind is FailureKind.HOST
