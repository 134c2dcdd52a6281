"""The line that a finding points at: where something was written, or where it ought to have been."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.rules.cause import Sight
from chatlint.rules.sights import at, at_end
from chatlint.rules.whereabouts import whereabouts
from tests.rules.subjects import subject_of


def line_of(source, pointer="", probe="roles/user", **axes):
    """Of what stands at a pointer, or is lost."""
    with subject_of(source, learned=False) as subject:
        seen = subject.trace.see(probe, **axes)
        return whereabouts(subject, at(seen, pointer) if pointer else at_end(seen))


LOOP = """{%- for m in messages %}
{%- if m.role == 'user' %}
U {{ m.content }}
{%- elif m.role == 'assistant' %}
A {{ m.content }}
{%- if m.tool_calls %}CALLS{% endif %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
A
{%- endif %}"""


@pytest.mark.parametrize(
    ("source", "probe", "pointer", "line"),
    [
        (LOOP, "calls/one-result", "/messages/1/tool_calls", 6),
        (LOOP, "calls/one-result", "/messages/1/tool_calls/0/function/arguments", 6),
        (LOOP.replace("'user'", "'system'"), "roles/user-assistant-user", "/messages/0/content", 4),
        (LOOP, "roles/developer", "/messages/0/content", 2),
        (LOOP.replace("m.role ==", "m['name'] !="), "roles/developer", "/messages/0/content", 3),
        (LOOP, "tools/one", "/tools", 0),
        (
            LOOP.replace("CALLS", "\n{{ m.tool_calls[0].function.arguments.x }}"),
            "calls/one-result",
            "/messages/1/tool_calls/0/function/arguments",
            7,
        ),
    ],
)
def test_what_is_lost_is_where_it_is_read_or_beside_what_is_written(source, probe, pointer, line):
    assert line_of(source, pointer, probe)[0] == line


def test_a_lost_message_is_where_its_role_is_asked_for():
    source = LOOP.replace("U {{ m.content }}", "U")
    with subject_of(source, learned=False) as subject:
        seen = subject.trace.see("roles/user")
        assert whereabouts(subject, at_end(seen, lost="/messages/0")) == (2, 8)


def test_null_is_where_it_is_printed():
    source = "{% for m in messages %}\n<a>{{ m.content }}{% if m.tool_calls %}<c>{% endif %}{% endfor %}"
    with subject_of(source, host="transformers-4.57", learned=False) as subject:
        seen = subject.trace.see("calls/one-result", content="null")
        at_none = seen.text.index("None")
        assert whereabouts(subject, Sight(seen, at_none, at_none + 4)) == (2, 4)


PARTED = """{%- if messages[0].role == 'system' %}
S {{ messages[0].content }}
{%- endif %}
{%- for m in messages %}{% if m.role == 'user' %}{% endif %}{% endfor %}
{%- for m in messages %}
{%- set text = m.content if m.content is string else '' %}
{%- if m.role == 'user' %}
U {{ text }}
{%- elif m.role == 'assistant' %}
  {%- if m.content is string %}
A {{ m.content }}
  {%- endif %}
{%- elif m.role == 'tool' %}
T {{ text }}
{%- endif %}
{%- endfor %}"""


@pytest.mark.parametrize(
    ("probe", "pointer", "place"),
    [
        ("roles/two-systems", "/messages/1", (7, 8)),  # the question for the first message is not about it
        ("roles/late-system", "/messages/2", (9, 10)),
        ("roles/developer", "/messages/0", (7, 8)),
        ("content/two-parts", "/messages/0/content", (6, 16)),
        ("content/two-parts-assistant", "/messages/1/content", (10, 10)),
        (
            "content/two-parts-result",
            "/messages/2/content",
            (6, 16),
        ),  # 8 and 10 are in the branches of others
    ],
)
def test_what_is_lost_is_where_an_author_has_to_change_something(probe, pointer, place):
    with subject_of(PARTED, learned=False) as subject:
        seen = subject.trace.see(probe)
        assert whereabouts(subject, at_end(seen, lost=pointer)) == place


def test_what_is_lost_beside_a_call_is_where_calls_are_asked_for():
    source = LOOP.replace("A {{ m.content }}", "{% if not m.tool_calls %}\nA {{ m.content }}{% endif %}")
    with subject_of(source, learned=False) as subject:
        seen = subject.trace.see("calls/one-result", content="text")
        sight = at_end(seen, lost="/messages/1/content", asked="/messages/1/tool_calls")
        assert whereabouts(subject, sight) == (5, 11)


def test_what_is_written_is_where_its_text_stands():
    assert line_of(LOOP)[0] == 10


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (LOOP, (3, 3)),
        ("<|user|>{{ messages[0].content }}", (1, 9)),
        ("<|user|>\r\n\n{{ messages[0].content }}", (3, 1)),
        ("<|user|>\n\n  {{- messages[0].content }}", (3, 3)),
        ("<|user|>\n{% if true %}{{ messages[0].content }}{% endif %}", (2, 14)),
        ("<|user|>{{ '' ~ 1 }}{{ messages[0].content }}", (1, 21)),
        ("{{ '<|user|>' + messages[0].content }}", (1, 17)),
        ("{{ '<|user|>' }}\n{{-\n ( messages[0]['content'] | trim) + '!' }}", (2, 1)),
        (
            "{% for m in messages %}<s>\n{% set text = m.content %}{{ '<u>' }}\n{{ text }}</s>{% endfor %}",
            (3, 1),
        ),
        # the texts around it stand in two rounds of a loop
        ("{% for c in ['', 'x'] %}\n{{ messages[0].content if c }}<s>\n{{ 1 }}{% endfor %}", (2, 1)),
        # a macro prints what it is given
        ("{% macro say(text) %}\n{{ text }}{% endmacro %}<s>\n{{ say(messages[0].content) }}</s>", (2, 1)),
        # in which branch, nothing tells: the text before it
        (
            "<|user|>\n{% if x %}{{ messages[0].content }}\n{% else %}{{ messages[0].content }}{% endif %}",
            (1, 1),
        ),
        # a condition prints nothing
        ("<|user|>\n{{ messages[0].content if messages[0].content }}", (2, 1)),
    ],
)
def test_what_is_printed_is_where_the_tag_that_prints_it_is(source, place):
    assert line_of(source, "/messages/0/content") == place


def test_lost_content_is_where_content_is_read_if_nothing_else_is_known():
    source = (
        "<|s|>\n{% for m in messages %}{% for part in m.content %}{{ part.text }}{% endfor %}{% endfor %}"
    )
    assert line_of(source, "/messages/0/content") == (2, 39)


@given(
    st.lists(st.text("ab \\'\"é", max_size=6).filter(lambda text: "{" not in text), min_size=2, max_size=5),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_in_a_text_of_several_lines_it_is_the_line(lines, newline, quoted):
    """The last character of the text stands on its last line, whether it is a string or text."""
    lines = [f"{line}x" for line in lines]
    text = newline.join(line.replace("\\", "\\\\").replace("'", "\\'") if quoted else line for line in lines)
    source = f"{{{{ '{text}' }}}}" if quoted else text
    expected = len(lines), len(text.rpartition(newline)[2])
    assert line_of(source) == expected


def test_text_that_only_begins_as_a_string_does_is_text():
    assert line_of("'\\x\nx") == (2, 1)


def test_a_text_that_the_template_changes_is_where_it_begins():
    assert line_of("{{ 'one\ntwo' | upper }}") == (1, 4)


def test_without_a_prompt_there_is_no_line():
    with subject_of("{{ raise_exception('no') }}", learned=False) as subject:
        assert whereabouts(subject, Sight(subject.trace.see("roles/user"))) == (0, 0)
