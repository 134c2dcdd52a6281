"""The `response_template` of transformers 5: how to read the format, as data in `tokenizer_config.json`.

transformers reads with it (`tokenizer.parse_response`), vLLM serves it as parser `hf`, SGLang as
`response_template`. Source: transformers' `docs/source/en/chat_response_parsing.md`; read by transformers
5.24's own code in the tests.

Theory of operation. A template has regions, one open at a time. Content is the region without an opener: what
no other region claims. So whatever is neither content nor inside a region must be taken by an anchor: marks
of sections and separators by the openers and closers of calls, headers and ends of messages by the closer of
content, which may close nothing. White space beside an anchor is the anchor's, or it would count as content
and replace the content before it.

No anchor looks for the end of the text (`\\Z`): it would always match there, and a reader of streams would
take it instead of waiting for a mark that has begun. Only where a call has no end of its own there is no
other way.

What engines refuse, though transformers takes it, is not used: other fields than thinking, content and
tool_calls, and `join`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatlint.conversation import JSON
from chatlint.export.marks import too_long
from chatlint.export.response_calls import calls_field, cannot, loose
from chatlint.parse.formats import OutputFormat, ReasoningState
from chatlint.parse.markers import is_strong
from chatlint.parse.patterns import pieces, slots


def response_template(output: OutputFormat) -> dict[str, JSON]:
    """The format as a response template.

    Raises UsageError that says why where the format cannot be expressed.
    """
    if too_long(output):
        raise cannot("its marks are too long")
    fields: dict[str, JSON] = {}
    if output.reasoning and (thinking := _thinking(output)):
        fields["thinking"] = thinking
    if output.tool_calls:
        fields["tool_calls"] = calls_field(output, output.tool_calls)
    fields["content"] = _content(output)
    return {"version": 1, "defaults": {"role": "assistant"}, **_anchor(output), "fields": fields}


def _anchor(output: OutputFormat) -> dict[str, JSON]:
    """Where the turn begins in the prompt. Without a header nothing of the prompt belongs to the turn."""
    header = output.header.rstrip()
    if not header:
        return {"start_anchor_pattern": r"\Z"}
    if slots(header):
        return {"start_anchor_pattern": loose(header)}
    return {"start_anchor": _plain(header)}


def _plain(pattern: str) -> str:
    return "".join(piece for piece in pieces(pattern) if isinstance(piece, str))


def _anchors(name: str, patterns: Sequence[str]) -> dict[str, JSON]:
    """`open` or `close` for any of these patterns: literal if they all are."""
    every = list(dict.fromkeys(pattern.strip() for pattern in patterns if pattern.strip()))
    if any(slots(pattern) or "\n" in pattern for pattern in every):
        return {f"{name}_pattern": "|".join(map(loose, every))}
    texts = [_plain(pattern) for pattern in every]
    return {name: texts[0] if len(texts) == 1 else list(texts)} if texts else {}


def _thinking(output: OutputFormat) -> dict[str, JSON] | None:
    """The region of reasoning. Where no mark opens it, it begins with the turn."""
    reasoning = output.reasoning
    assert reasoning is not None
    every = [marks for marks in reasoning.every if marks.end.strip()]
    if not every:
        raise cannot("nothing ends its reasoning")
    closed = _anchors("close", [marks.end for marks in every])
    starts = [marks.start for marks in every if marks.start.strip()]
    if starts:
        return {**_anchors("open", starts), **closed}
    opened = output.generation_prompt.reasoning is ReasoningState.OPEN
    return {"open_pattern": r"\A", **closed} if opened else None


def _content(output: OutputFormat) -> dict[str, JSON]:
    """The region of content: what is left. Its closers are all marks that are left."""
    marks = list(dict.fromkeys(mark.strip() for mark in _left_over(output) if mark.strip()))
    if not output.tool_calls and not output.reasoning:
        return _anchors("close", marks)
    return {"close_pattern": rf"\s*(?:{'|'.join(map(loose, marks))})\s*"} if marks else {}


def _left_over(output: OutputFormat) -> Iterator[str]:
    """Marks that no region takes, the longest first where one begins with another."""
    found = [*output.end_of_turn, *output.end_of_message]
    if output.end_of_message or output.header_end:
        found.append(output.header)
    found += [mark for marks in output.content.every for mark in (marks.start, marks.end)]
    found += [
        marks.end for marks in (output.reasoning.every if output.reasoning else ()) if _telling(marks.end)
    ]
    if output.tool_calls:
        found += [mark for mark in (output.tool_calls.section_end,) if _telling(mark)]
    yield from sorted(found, key=len, reverse=True)


def _telling(mark: str) -> bool:
    """Whether prose does not hold the mark by chance."""
    return is_strong(mark.strip())


__all__ = ["response_template"]
