"""Chunkings, and what they catch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatlint.parse.formats import OutputFormat, ToolCalls
from chatlint.verify.chunks import Chunkings, broken_chunking, streamed

CALLS = OutputFormat(tool_calls=ToolCalls(call_start="<call>", call_end="</call>"))
TEXT = 'Hi <call>{"name": "a", "arguments": {"b": "</call>"}}</call> there'


@given(st.text(max_size=60), st.booleans())
def test_chunks_are_the_text(text, every_cut):
    for chunks in Chunkings(every_cut=every_cut).of(text):
        assert "".join(chunks) == text


def test_every_cut():
    cuts = list(Chunkings(left=0, every_cut=True).of("abcd"))
    assert cuts[1:] == [("a", "bcd"), ("ab", "cd"), ("abc", "d")]


def test_singles_are_bounded():
    ways = Chunkings(left=5)
    assert tuple("abcd") in list(ways.of("abcd"))
    assert tuple("efgh") not in list(ways.of("efgh")) or ways.left >= 0


def test_a_good_parser_is_not_caught():
    whole = CALLS.parser().parse(TEXT)
    assert broken_chunking(CALLS.parser(), TEXT, whole, Chunkings(every_cut=True)) is None


def test_another_message_is():
    assert broken_chunking(CALLS.parser(), TEXT, {"role": "assistant"}, Chunkings()) == tuple(TEXT)


def test_streamed_is_the_message():
    assert streamed(CALLS.parser(), TEXT) == CALLS.parser().parse(TEXT)
