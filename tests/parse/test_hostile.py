"""Hostile texts: the work grows with the text and no faster, nothing overflows, nothing is lost."""

from __future__ import annotations

import sys

import pytest

from chatlint.parse.formats import OutputFormat
from chatlint.parse.message import assemble
from tests.parse.catalogue import CATALOGUE
from tests.parse.reading import TOOLS, chunks_of, stream

FORMATS = [
    "hermes_json", "qwen_xml", "llama3_json", "pythonic", "kimi_k3_xtml", "gemma4", "minimax_m3", "harmony", "mistral_v11_args",
    "deepseek_v4_dsml", "cohere_command3", "glm45_xml_kv",
]  # fmt: skip


def head(output: OutputFormat, upto: str = "⟨arguments⟩") -> str:
    """A call up to its arguments."""
    calls = output.tool_calls
    text = calls.section_start + calls.call_start + calls.body.partition(upto)[0]
    return (
        text.replace("⟨name⟩", "get_weather").replace("⟨id⟩", "functions.get_weather:0").replace("⟨n⟩", "0")
    )


def floods(output: OutputFormat) -> dict[str, str]:
    """Texts to repeat: single characters, and beginnings that never end."""
    calls = output.tool_calls
    found = {
        "<": "<",
        "blank": " \n",
        "{": "{",
        "[": "[",
        '"': '"',
        "'": "'",
        "\\": "\\",
        "head": head(output),
    }
    found["opener"] = calls.section_start + head(output, "⟨name⟩").removeprefix(calls.section_start) or "{"
    found["reasoning"] = output.reasoning.start if output.reasoning else "<think>"
    if calls.members:
        member = calls.members.member.replace("⟨key⟩", "city")
        found["member"], found["value"] = member.partition("⟨value⟩")[0], member.replace("⟨value⟩", "v")
    return found


def work(output: OutputFormat, text: str, size: int) -> int:
    """How many functions are called to read a text: a measure of work that does not depend on the machine."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    parser = output.parser(tools=TOOLS)
    chunks = chunks_of(text, size)
    sys.setprofile(note)
    try:
        for chunk in chunks:
            parser.feed(chunk)
        parser.finish()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("size", [4, 1_000_000], ids=["by four", "whole"])
@pytest.mark.parametrize("name", FORMATS)
def test_twice_the_text_is_twice_the_work(name: str, size: int) -> None:
    output = CATALOGUE[name].output
    for before in ("", head(output)):
        for kind, unit in floods(output).items():
            repeats = 900 // len(unit)
            once, twice = (work(output, before + unit * (repeats * factor), size) for factor in (1, 2))
            assert twice <= 2.4 * once + 400, (kind, before, once, twice)


@pytest.mark.parametrize("name", FORMATS)
def test_prose_floods_come_back(name: str) -> None:
    output = CATALOGUE[name].output
    for unit in ("<", "{", "[", '"', "\\", "</", "<tool", '{"na'):
        text = "a" + unit * 3000
        message = assemble(stream(output, chunks_of(text, 7), tools=TOOLS))
        assert message["content"] == text
        assert not message["tool_calls"]


@pytest.mark.parametrize("name", FORMATS)
def test_nesting_is_bounded(name: str) -> None:
    output = CATALOGUE[name].output
    deep = 100_000 if name == FORMATS[0] else 10_000
    for nested in ("{" * deep, "[" * deep, '{"a":' * (deep // 5), "[" * deep + "]" * deep):
        message = output.parser(tools=TOOLS).parse(head(output) + nested)
        assert sum(len(call["function"]["arguments"]) for call in message["tool_calls"]) < 700_000


def test_nested_marks_are_bounded() -> None:
    output = CATALOGUE["minimax_m3"].output
    member = output.tool_calls.members.member.replace("⟨key⟩", "o").partition("⟨value⟩")[0]
    message = output.parser(tools=TOOLS).parse(head(output) + member * 5000)
    assert len(message["tool_calls"]) == 1
    braces = (
        CATALOGUE["gemma4"].output.parser(tools=TOOLS).parse(head(CATALOGUE["gemma4"].output) + "o:{" * 5000)
    )
    assert len(braces["tool_calls"]) == 1


def test_a_megabyte_of_openers() -> None:
    output = CATALOGUE["hermes_json"].output
    text = "a" + "<" * 1_000_000
    assert output.parser(tools=TOOLS).parse(text)["content"] == text


def test_whitespace_without_end() -> None:
    output = CATALOGUE["hermes_json"].output
    text = "a" + " " * 200_000 + "b"
    assert assemble(stream(output, chunks_of(text, 1000), tools=TOOLS))["content"] == text


def test_a_name_without_end_is_none() -> None:
    output = CATALOGUE["glm45_xml_kv"].output
    text = "<tool_call>" + "x" * 100_000
    assert output.parser(tools=TOOLS).parse(text)["content"] == text


def test_lone_surrogates() -> None:
    output = CATALOGUE["hermes_json"].output
    message = output.parser(tools=TOOLS).parse(
        'a\ud800<tool_call>{"name": "now", "arguments": {"a": "\ud800"}}</tool_call>'
    )
    assert message["content"] == "a\ud800"
    assert len(message["tool_calls"]) == 1
