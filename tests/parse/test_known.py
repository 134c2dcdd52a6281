"""What chunks have amounted to is remembered: that changes nothing, and is bounded."""

from __future__ import annotations

import json
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from chatlint.errors import UsageError
from chatlint.parse import known
from chatlint.parse.events import ArgumentsDelta, ContentDelta, ToolCallStart
from chatlint.parse.known import memory
from chatlint.parse.message import assemble
from tests.parse.catalogue import CATALOGUE
from tests.parse.reading import TOOLS, by_chunk, calls_of, chunks_of, random_chunks, read, stream
from tests.parse.test_hostile import work
from tests.parse.writer import write

HERMES = CATALOGUE["hermes_json"].output
QWEN = CATALOGUE["qwen_xml"].output
PYTHONIC = CATALOGUE["lfm2_pythonic"].output
CALL = '<tool_call>\n{"name": "get_weather", "arguments": '


def size() -> int:
    """How many chunks and states are noted."""
    return sum(len(states) + sum(map(len, states.values())) for states in memory._ways.values())


@pytest.fixture
def tiny(monkeypatch):
    """A memory that is emptied all the time."""
    memory.forget()
    monkeypatch.setattr(known, "_MOST", 7)
    memory.forget()
    yield
    monkeypatch.undo()
    memory.forget()


def read_chunks(output, chunks: list[str]) -> dict:
    """The message of a text that comes in chunks."""
    return assemble(stream(output, chunks, tools=TOOLS))


def texts(output) -> list[str]:
    """Turns that differ in what is between the marks."""
    found = []
    for seed in range(3):
        source = random.Random(seed)
        city = source.choice(["Rome", "'s-Gravenhage", 'a "b" \\ c', "x\ny", "{}", "<b>"])
        calls = [("get_weather", {"city": city, "days": source.randrange(10**6)}), ("now", {})]
        found.append(
            write(output, content="Is it, or  not?\n\n", reasoning="", calls=calls, ids=["f:0", "f:1"])
        )
    return found


@pytest.mark.parametrize("name", CATALOGUE)
def test_known_or_not_the_events_are_the_same(name: str) -> None:
    output = CATALOGUE[name].output
    for text in texts(output):
        for chunks in (list(text), chunks_of(text, 4), random_chunks(text, 3)):
            memory.forget()
            cold = by_chunk(output, chunks, tools=TOOLS)
            assert by_chunk(output, chunks, tools=TOOLS) == cold
            by_chunk(output, chunks_of(text, 3), tools=TOOLS)
            assert by_chunk(output, chunks, tools=TOOLS) == cold


@pytest.mark.parametrize("name", CATALOGUE)
def test_forgetting_in_the_middle_changes_nothing(name: str, tiny) -> None:
    output = CATALOGUE[name].output
    for text in texts(output):
        chunks = chunks_of(text, 3)
        wanted = output.parser(tools=TOOLS).parse(text)
        for _ in range(2):
            assert read_chunks(output, chunks) == wanted
            assert size() <= 10


def test_parsers_in_several_threads_share_the_memory(tiny) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        text = texts(HERMES)[0] * 20
        wanted = read_chunks(HERMES, [text])
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda size: read_chunks(HERMES, chunks_of(text, size)), [1, 2, 3, 4] * 3))
    finally:
        sys.setswitchinterval(interval)
    assert found == [wanted] * 12


def test_a_text_that_never_says_a_thing_twice_is_forgotten(monkeypatch) -> None:
    memory.forget()
    monkeypatch.setattr(known, "_MOST", 1000)
    memory.forget()
    source = random.Random(1)
    parser = HERMES.parser()
    for _ in range(5000):
        parser.feed("".join(source.choices("abcdefghijklmnop \n", k=5)))
        assert size() <= 1002
    monkeypatch.undo()
    memory.forget()


def test_states_are_forgotten_too(monkeypatch) -> None:
    """Chunks too long to be noted, each leaving another beginning of a word to wait."""
    memory.forget()
    monkeypatch.setattr(known, "_MOST", 500)
    memory.forget()
    source = random.Random(2)
    parser = HERMES.parser(tools=TOOLS)
    parser.feed(CALL + '{"a": [1')
    for _ in range(2000):
        parser.feed(f', "{"x" * 30}", {"".join(source.choices("abcdefgh", k=9))}')
        assert size() <= 510
    monkeypatch.undo()
    memory.forget()


def test_a_known_chunk_is_looked_up_and_no_more() -> None:
    text = "Some words that come again, and a <b>mark</b> that is none. " * 10
    work(HERMES, text, 4)
    assert work(HERMES, text, 4) <= 2.5 * len(chunks_of(text, 4)) + 100


def test_long_chunks_are_not_kept() -> None:
    memory.forget()
    parser = HERMES.parser()
    for _ in range(2):
        assert parser.feed("x" * 1000) == [ContentDelta("x" * 1000)]
    assert size() <= 2


def test_the_events_are_the_callers_own() -> None:
    parser = HERMES.parser()
    parser.feed("a")
    for _ in range(3):
        events = parser.feed(" word")
        assert events == [ContentDelta(" word")]
        events.clear()


@pytest.mark.parametrize("wrong", [b"abc", None, 3, ["abc"]])
def test_what_is_no_text_is_refused_where_chunks_are_known(wrong) -> None:
    parser = HERMES.parser()
    parser.feed("a")
    parser.feed("abc")
    with pytest.raises(UsageError):
        parser.feed(wrong)
    assert parser.feed("abc") == [ContentDelta("abc")]


def test_after_the_end_no_chunk_is_known() -> None:
    parser = HERMES.parser()
    for _ in range(3):
        parser.feed(" word")
    parser.finish()
    with pytest.raises(UsageError):
        parser.feed(" word")


@pytest.mark.parametrize(("before", "calls"), [("it", 1), ("say ", 0)])
def test_a_quote_alone_is_what_it_is_behind(before: str, calls: int) -> None:
    """A quotation opens after a space; after a letter the same chunk is an apostrophe."""
    chunks = ["Well, ", before, "'", CALL + '{"city": "Rome"}}\n</tool_call>']
    for _ in range(3):
        assert by_chunk(HERMES, chunks, tools=TOOLS) == by_chunk(HERMES, chunks, awake=True, tools=TOOLS)
        parser = HERMES.parser(tools=TOOLS, generation_prompt="<think>\n")
        events = [event for chunk in chunks for event in parser.feed(chunk)]
        assert sum(isinstance(event, ToolCallStart) for event in events) == calls


NUMBERS = ["0", "7", "-7", "10", "1234567", "-120", "0.5", "-0.25", "12.0625", "1e5", "2.5E-3", "1" * 150]
WORDS = ["007", "1.", "12abc", "-", "3-4", "1_000", "0x1F", "1.2.3"]


@pytest.mark.parametrize("output", [HERMES, PYTHONIC], ids=["object", "python"])
def test_numbers_are_read_by_their_kind(output) -> None:
    source = random.Random(5)
    for _ in range(60):
        values = [source.choice(NUMBERS) for _ in range(source.randrange(1, 6))]
        if output is HERMES:
            text = CALL + "[" + ", ".join(values) + "]}\n</tool_call>"
        else:
            text = f"<|tool_call_start|>[get_weather(city=[{', '.join(values)}])]<|tool_call_end|>"
        wanted = [json.loads(value) for value in values]
        for chunks in (list(text), chunks_of(text, source.choice([2, 3, 4])), random_chunks(text, 4)):
            ((_, found),) = calls_of(read_chunks(output, chunks))
            assert (found if output is HERMES else found["city"]) == wanted


def test_words_that_begin_as_numbers_are_words() -> None:
    source = random.Random(6)
    for _ in range(60):
        values = [source.choice(NUMBERS[:-1] + WORDS) for _ in range(4)]
        text = CALL + '{"a": [' + ",".join(values) + "]}}\n</tool_call>"
        wanted = [json.loads(value) if value in NUMBERS else value for value in values]
        for size in (1, 2, 3, 4):
            ((_, found),) = calls_of(read_chunks(HERMES, chunks_of(text, size)))
            assert found == {"a": wanted}


def test_a_key_may_come_twice_in_a_row() -> None:
    member = "<parameter=city>\n{}\n</parameter>\n"
    text = (
        "<tool_call>\n<function=get_weather>\n"
        + member.format("Rome")
        + member.format("Oslo")
        + "</function>\n</tool_call>"
    )
    for size in (1, 2, 4, 7):
        events = stream(QWEN, chunks_of(text, size), tools=TOOLS)
        said = "".join(event.text for event in events if isinstance(event, ArgumentsDelta))
        assert said == '{"city": "Rome", "city": "Oslo"}'


def test_arguments_behind_the_usual_text_may_be_anything() -> None:
    for arguments in [
        '{"city": "Rome"}',
        "{}",
        '{"a": {"b": []}}',
        "[1]",
        "null",
        '"{\\"city\\": \\"Rome\\"}"',
    ]:
        read(HERMES, CALL + arguments + "}\n</tool_call>", cuts=True, tools=TOOLS)
