"""Where the model starts, by the end of its prompt."""

from __future__ import annotations

import pytest

from chatlint.parse.formats import (
    Content,
    GenerationPrompt,
    OutputFormat,
    Reasoning,
    ReasoningState,
    SwitchedPrompt,
)
from tests.parse.reading import parts, read

HEADER = "<|im|>assistant\n"


def prompt(text: str, state: ReasoningState = ReasoningState.OPEN) -> GenerationPrompt:
    return GenerationPrompt(text, state)


def test_the_header_itself_opens_reasoning() -> None:
    header = HEADER + "<think>\n"
    output = OutputFormat(
        header=header, generation_prompt=prompt(header), reasoning=Reasoning("", "</think>")
    )
    assert parts(read(output, "A</think>Hi", generation_prompt=header)) == ("Hi", "A", [])
    assert parts(read(output, "A</think>Hi", generation_prompt="x<|end|>" + header)) == ("Hi", "A", [])
    assert parts(read(output, "A</think>Hi")) == ("A</think>Hi", "", [])


def test_the_prompt_begins_the_reasoning_in_words() -> None:
    text = HEADER + "My thoughts:\n"
    output = OutputFormat(header=HEADER, generation_prompt=prompt(text), reasoning=Reasoning("", "[END]"))
    assert parts(read(output, "A.[END]Hi", generation_prompt=text)) == ("Hi", "My thoughts:\nA.", [])


def test_a_switch_may_leave_it_open() -> None:
    switched = SwitchedPrompt({"think": True}, HEADER + "(", ReasoningState.OPEN)
    output = OutputFormat(
        header=HEADER,
        reasoning=Reasoning("", ")"),
        generation_prompt=GenerationPrompt(HEADER, by_switch=(switched,)),
    )
    assert parts(read(output, "A)Hi", generation_prompt=HEADER + "(")) == ("Hi", "(A", [])
    assert parts(read(output, "A)Hi", generation_prompt=HEADER)) == ("A)Hi", "", [])


@pytest.mark.parametrize(
    ("given", "content", "reasoning"),
    [
        (HEADER + "<think>\n", "Hi", "A"),
        ("<|im|>user\nQ<|end|>" + HEADER + "<think>\n", "Hi", "A"),
        ("<think>\n", "Hi", "A"),
        (HEADER + "<think>\n</think>\n", "A</think>Hi", ""),
        (HEADER, "A</think>Hi", ""),
        ("", "A</think>Hi", ""),
        ("Some prompt of another format", "A</think>Hi", ""),
        ("Some prompt that ends in <think>", "Hi", "A"),
        (HEADER + "<think>So: ", "Hi", "So: A"),
        (HEADER + "<think>So.</think>Well, ", "Well, A</think>Hi", "So."),
    ],
)
def test_what_the_prompt_opened(given: str, content: str, reasoning: str) -> None:
    output = OutputFormat(header=HEADER, reasoning=Reasoning("<think>\n", "</think>"))
    assert parts(read(output, "A</think>Hi", generation_prompt=given)) == (content, reasoning, [])


def test_the_prompt_opens_the_content() -> None:
    output = OutputFormat(header=HEADER, content=Content("<say>", "</say>"))
    assert parts(read(output, "Hi</say>", generation_prompt=HEADER + "<say>")) == ("Hi", "", [])
    assert parts(read(output, "<say>Hi</say>", generation_prompt=HEADER)) == ("Hi", "", [])
