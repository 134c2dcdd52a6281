"""Our reader of response templates against transformers' own."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.errors import UsageError
from chatlint.export.response_reading import Refused, ResponseReader, Unreadable, slow
from chatlint.export.response_template import response_template
from tests.corpus.entries import ENTRIES, TOOLS
from tests.export.learned import READINGS, each


def by_transformers(template, prompt, text, tools=()):
    """transformers' message, or None where it raises."""
    from transformers.utils.chat_parsing import parse_response

    try:
        return parse_response(text, json.loads(json.dumps(template)), prefix=prompt, tools=list(tools))
    except (ValueError, KeyError):
        return None


def by_us(template, prompt, text, tools=()):
    try:
        return ResponseReader(template).read(prompt, text, tools)
    except Refused:
        return None


@each([reading for reading in READINGS if reading.apart][::3])
def test_our_own_templates(reading):
    try:
        template = response_template(reading.format)
    except UsageError:
        pytest.skip("the format cannot be expressed")
    arguments = (template, reading.generation_prompt, reading.text, reading.tools)
    assert by_us(*arguments) == by_transformers(*arguments)


PLAIN = {
    "start_anchor": "<a>",
    "defaults": {"role": "assistant"},
    "fields": {
        "thinking": {"open": "<t>", "close": "</t>"},
        "tool_calls": {
            "open": "<c>", "close": ["</c>", "<e>"], "content": "json", "repeats": True,
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "<e>"},
    },
}  # fmt: skip
JOINED = {
    "start_anchor_pattern": "<a+>",
    "fields": {
        "thinking": {"open_pattern": r"<t>\s*", "close_pattern": r"</t>|(?=<c>)", "repeats": True, "join": "|"},
        "tool_calls": {
            "open_pattern": r"<c>(?P<name>\w+)", "close": "</c>", "content": "xml-inline", "repeats": True,
            "content_args": {"tag_pattern": r"<(?P<key>\w)>(?P<value>.*?)</(?P=key)>", "merge_duplicates": True},
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
        "content": {"content_args": {"strip": False}, "repeats": True},
    },
}  # fmt: skip
LISTED = {
    "start_anchor": "<a>",
    "fields": {
        "tool_calls": {
            "open": "<c>", "close": "</c>", "content": "python-call-list", "transform_each": True,
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}},
        },
        "note": {"open": "<t>", "close": "</t>", "content": "kv-lines", "content_args": {"kv_sep": "="}},
        "number": {"open": "<e>", "content": "int"},
    },
}  # fmt: skip
pieces = st.sampled_from(
    ["<a>", "<t>", "</t>", "<c>", "</c>", "<e>", "x", " ", "\n", "f", '{"name": "f", "arguments": {"days": "3"}}',
     "<b>1</b>", "<b>2</b>", "[f(x=1)]", '[f(x="a,b", y=[1, None]), g()]', "[f(true)]", "k=v", "7", "{"]
)  # fmt: skip


@pytest.mark.parametrize("template", [PLAIN, JOINED, LISTED], ids=["plain", "joined", "listed"])
@settings(max_examples=150, deadline=None)
@given(parts=st.lists(pieces, max_size=10), prompt=st.lists(pieces, max_size=3))
def test_any_text(template, parts, prompt):
    arguments = (template, "".join(prompt), "".join(parts), TOOLS["weather"])
    assert by_us(*arguments) == by_transformers(*arguments)


@pytest.mark.parametrize(
    "template",
    [
        "no object",
        {"fields": {}},
        {"fields": {"content": {}}},
        {"start_anchor": "<a>", "fields": {"a": {}, "b": {}}},
        {"start_anchor": "<a>", "fields": {"a": {"opens": "x"}}},
        {"start_anchor": "<a>", "fields": {"a": {"content": "yaml"}}},
        {"start_anchor": "<a>", "fields": {"a": {"open": "x", "open_pattern": "y"}}},
        {"start_anchor": "", "fields": {"a": {}}},
        {"start_anchor": "<a>", "version": 2, "fields": {"a": {}}},
        {"start_anchor": "<a>", "extra": 1, "fields": {"a": {}}},
    ],
)
def test_what_transformers_refuses(template):
    from transformers.utils.chat_parsing.response_templates import load_response_template

    with pytest.raises(ValueError, match=r"."):
        load_response_template(template)
    with pytest.raises(Refused):
        ResponseReader(template)


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|a)*b", r"(?:\s*x*)*y", "((ab)*c)+", "(?P<n>.*)*", "x" * 3_000, "(", r"(?<=a+)b"]
)
def test_patterns_that_are_not_tried(pattern):
    with pytest.raises(Unreadable):
        ResponseReader({"start_anchor_pattern": pattern, "fields": {"content": {}}})


def test_ordinary_patterns_are_tried():
    for entry in ENTRIES:
        template = entry.config.get("response_template")
        if template:
            ResponseReader(template)
    for pattern in (
        r"\s*(?:(?!x).)*?y",
        r"[(+*)]+",
        r"\(a*\)*",
        "(?:ab)?c*",
        "(a|b)c*",
        r"(?P<n>\w+)=(?P=n)",
    ):
        assert not slow(pattern), pattern
