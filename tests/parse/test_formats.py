"""The output format as data: saved and loaded, checked, described."""

from __future__ import annotations

import json

import pytest

from chatlint.errors import UsageError
from chatlint.parse.formats import (
    Confidence,
    Content,
    Encoding,
    GenerationPrompt,
    Ground,
    Items,
    Marks,
    Members,
    OutputFormat,
    Reasoning,
    ReasoningState,
    SwitchedPrompt,
    Syntax,
    ToolCalls,
    Values,
    Written,
)
from chatlint.parse.patterns import Slot, literal, pieces, skeleton

FULL = OutputFormat(
    header="<|im|>assistant\n",
    header_end="<|body|>",
    generation_prompt=GenerationPrompt(
        "<|im|>assistant\n<t>", ReasoningState.OPEN, (SwitchedPrompt({"think": False, "level": 3}, "<|im|>assistant\n"),)
    ),
    reasoning=Reasoning("<t>", "</t>", (Marks("<u>", "</u>"),), guess=True),
    content=Content("<c>", "</c>", (Marks("<d>", ""),)),
    tool_calls=ToolCalls(
        syntax=Syntax.TEXT, body="⟨name⟩(⟨arguments⟩", call_end=")", members=Members(),
        values=Values(string=Written("'", "'"), array=Items(separator=","), object=Members(start="{", end="}")),
    ),
    end_of_turn=("<|end|>",),
    exclusive=(("content", "tool_calls"),),
    grounds={"reasoning": Ground(Confidence.LOW, ("a", "b"), "seen in a switch only"), "header": Ground(evidence=("b",))},
)  # fmt: skip


def test_saved_and_loaded() -> None:
    assert OutputFormat.from_dict(json.loads(json.dumps(FULL.to_dict()))) == FULL


def test_fields_left_out_take_their_defaults() -> None:
    assert OutputFormat.from_dict({"schema": "chatlint.format/1"}) == OutputFormat()


@pytest.mark.parametrize(
    ("change", "place", "expected"),
    [
        ({"schema": "chatlint.format/2"}, "format", "chatlint.format/1"),
        ({"colour": "red"}, "format", "unknown field 'colour'"),
        ({"header": 3}, "format.header", "a string, found a number"),
        ({"reasoning": []}, "format.reasoning", "an object, found an array"),
        ({"reasoning": {"start": None}}, "format.reasoning.start", "a string, found null"),
        ({"reasoning": {"guess": "yes"}}, "format.reasoning.guess", "a boolean, found a string"),
        ({"end_of_turn": "<|end|>"}, "format.end_of_turn", "an array, found a string"),
        ({"exclusive": [["content"]]}, "format.exclusive[0]", "2 items"),
        ({"tool_calls": {"syntax": "xml"}}, "format.tool_calls.syntax", "json, python, text"),
        ({"tool_calls": {"body": "⟨colour⟩"}}, "format.tool_calls", "unknown placeholder ⟨colour⟩"),
        ({"tool_calls": {"body": "⟨name⟩", "syntax": "text"}}, "format.tool_calls", "one ⟨arguments⟩"),
        (
            {"tool_calls": {"body": "⟨arguments⟩", "syntax": "text"}},
            "format.tool_calls",
            "neither ⟨name⟩ nor ⟨id⟩",
        ),
        (
            {"tool_calls": {"body": '{"name": ⟨name⟩, ⟨arguments⟩'}},
            "format.tool_calls",
            "not an object literal",
        ),
        ({"header": "⟨name⟩"}, "format", "⟨name⟩ has no meaning there"),
    ],
)
def test_error_names_the_place(change: dict, place: str, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        OutputFormat.from_dict({**FULL.to_dict(), **change})
    assert caught.value.message.startswith(place)
    assert expected in caught.value.message


def test_confidence_is_the_lowest() -> None:
    assert FULL.confidence is Confidence.LOW
    assert FULL.evidence == ("a", "b")
    assert OutputFormat().confidence is Confidence.HIGH


def test_self_typed() -> None:
    assert not Values().self_typed
    assert Values(string=Written(encoding=Encoding.JSON)).self_typed
    assert Values(string=Written("'", "'")).self_typed


def test_pattern_pieces() -> None:
    assert pieces("<a ⟨key⟩>⟨value⟩</⟨key⟩>") == ("<a ", Slot.KEY, ">", Slot.VALUE, "</", Slot.KEY, ">")
    assert pieces("") == ()


@pytest.mark.parametrize("text", ["⟨name⟩", "a⟨b", "⟨⟨⟩", "⟩⟨", "⟨name⟩⟨"])
def test_literal_text_means_itself(text: str) -> None:
    assert "".join(pieces(literal(text))) == text
    assert OutputFormat(header=literal(text)).header


def test_skeletons() -> None:
    nested = skeleton(
        '{"id": "⟨id⟩", "type": "function", "function": {"name": "⟨name⟩", "arguments": "⟨arguments⟩"}}'
    )
    assert nested.name == ("function", "name")
    assert nested.arguments == ("function", "arguments")
    assert nested.arguments_quoted
    assert nested.id_first
    named = skeleton('{"⟨name⟩": ⟨arguments⟩}')
    assert named.arguments == ("⟨name⟩",)
    assert named.name is None
