"""How the model will write, as a person reads it: each part between its marks, the gaps named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatlint.parse.formats import Confidence, OutputFormat, ToolCalls
from chatlint.parse.notation import Encoding
from chatlint.parse.patterns import Slot, pieces
from chatlint.report.canvas import Piece

_MORE: Piece = ("…", "faint")


def grammar_rows(output: OutputFormat) -> Iterator[tuple[str, list[Piece]]]:
    """(part, pieces that stand without space between them), in the order in which the parts are written."""
    if output.reasoning:
        yield (
            "reasoning",
            [
                *_between(output.reasoning.start, "reasoning", output.reasoning.end),
                *_sure(output, "reasoning"),
            ],
        )
    yield (
        "content",
        [*_between(output.content.start, "content", output.content.end), *_sure(output, "content")],
    )
    calls = output.tool_calls
    if calls:
        yield "calls" if calls.parallel else "call", [*_calls(calls), *_sure(output, "tool_calls")]
        if calls.members:
            members = calls.members
            each = [
                *_pattern(members.start + members.member + members.separator),
                _MORE,
                *_pattern(members.end),
            ]
            yield "arguments", [*each, (f"  {_values(calls)}", "faint")]


def _calls(calls: ToolCalls) -> list[Piece]:
    one = _pattern(calls.section_start + calls.call_start + calls.body + calls.call_end)
    more = [*_pattern(calls.separator), _MORE] if calls.parallel else []
    return [*one, *more, *_pattern(calls.section_end)]


def _between(start: str, name: str, end: str) -> list[Piece]:
    return [*_pattern(start), (f"⟨{name}⟩", "input"), *_pattern(end)]


def _pattern(pattern: str) -> list[Piece]:
    """Literal text and placeholders."""
    return [
        (piece.placeholder, "input") if isinstance(piece, Slot) else (piece, "literal")
        for piece in pieces(pattern)
    ]


def _values(calls: ToolCalls) -> str:
    raw = calls.values.string.encoding is Encoding.RAW
    return "strings as they are" if raw else "strings in quotes"


def _sure(output: OutputFormat, part: str) -> Sequence[Piece]:
    """What is to be said of a part that is not sure, or a guess."""
    ground = output.grounds.get(part)
    guess = getattr(getattr(output, part), "guess", False)
    doubt = "a guess" if guess else ""
    if ground and ground.confidence in (Confidence.LOW, Confidence.MEDIUM):
        doubt = ", ".join(filter(None, (doubt, f"{ground.confidence} confidence")))
    return [(f"  ({doubt})", "part")] if doubt else []
