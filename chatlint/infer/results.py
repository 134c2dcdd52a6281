"""How the result of a tool call is shown to the model: in whose turn, and between which marks.

Theory of operation. What stands between a call and its result is the end of the call and of its turn, which
the output format knows, and then what announces the result. If that holds the header of a user's turn, as it
stands before a user's message, the result is in a user's turn; likewise for the assistant's; else it has a
turn (or a place) of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from chatlint.detect.capability import ResultTurn, ToolResult
from chatlint.infer.markers import common_prefix
from chatlint.infer.samples import OFF, find_samples
from chatlint.lazy import regex
from chatlint.parse import patterns
from chatlint.parse.formats import OutputFormat
from chatlint.probe.case import Observation
from chatlint.probe.trace import Trace
from chatlint.render.syntax import Syntax
from chatlint.text import Input, Prompt, Span

_RESULT = "/messages/2/content"
_ID = "/messages/1/tool_calls/0/id"
_ARGUMENTS = "/messages/1/tool_calls/0/function/arguments"
_BRACKETS = regex(r"""^["'}\])]+""")
_STRUCTURE = ("role", "type")
_SLOTS = {"name": "⟨name⟩", "tool_call_id": "⟨id⟩", "content": "⟨content⟩"}


def learn_result(trace: Trace, output: OutputFormat | None, syntax: Syntax) -> ToolResult | None:
    """Around the result of one call; None where the template shows none."""
    samples = find_samples(trace, syntax)
    seen = samples.look("calls/one-result", OFF)
    calls = output.tool_calls if output else None
    around = _around(
        seen, id_last=calls is not None and patterns.ARGUMENTS in calls.body.partition(patterns.ID)[0]
    )
    if around is None:
        return None
    gap, after = around
    closers = tuple(_closers(output))
    turns = samples.look("roles/two-turns", OFF)
    headers = {turn: _without(text, closers) for turn, text in _leads(turns).items()}
    opener = common_prefix(headers.values()) if len(headers) > 1 else ""
    # A turn before this one may be empty: what counts is what follows the last header, or the last end.
    starts = [opener] if opener.strip() else []
    announced = _from_last(_without(gap, closers), starts, output.end_of_turn if output else ())
    for turn, header in (*headers.items(), *_bare(headers)):
        _, found, within = announced.partition(header) if header.strip() else ("", "", "")
        if found:
            return ToolResult(turn, within, after, (seen.case.id, turns.case.id))
    return ToolResult(ResultTurn.OWN, announced, after, (seen.case.id,))


def _bare(headers: Mapping[ResultTurn, str]) -> Iterator[tuple[ResultTurn, str]]:
    """Headers without the blanks that a template writes between them and a text: before a result there may be
    others."""
    return ((turn, header.rstrip()) for turn, header in headers.items())


def _from_last(text: str, starts: Sequence[str], ends: Sequence[str]) -> str:
    """`text` from the last of the marks that start a turn, or behind the last of those that end one."""
    places = [text.rfind(mark) for mark in starts]
    places += [text.rfind(mark) + len(mark) for mark in ends if mark in text]
    return text[max(0, *places) :] if places else text


def _around(seen: Observation, *, id_last: bool) -> tuple[str, str] | None:
    """What stands before the result since the last argument of the call (or its id, where that follows), and
    what follows it."""
    prompt = seen.prompt
    if prompt is None:
        return None
    shown = list(prompt.inputs(_RESULT, key=False))
    if not shown:
        return None
    start, end = shown[0].start, shown[-1].end
    called = [span.end for span in prompt.inputs() if span.end <= start and not _is_frame(span)]
    given = max((span.end for span in prompt.inputs(_ARGUMENTS) if span.end <= start), default=0)
    if id_last:
        given = next((span.end for span in prompt.inputs(_ID) if given <= span.start), given)
    return _text(prompt, given or max(called, default=0), start), _text(prompt, end, len(prompt.text))


def _is_frame(span: Span) -> bool:
    """Whether a span belongs to what is around the result: of its own message, or structure."""
    pointer = span.origin.pointer if isinstance(span.origin, Input) else ""
    return pointer.startswith("/messages/2/") or pointer.rpartition("/")[2] in _STRUCTURE


def _text(prompt: Prompt, start: int, end: int) -> str:
    """A stretch of the prompt with placeholders for what the result's message says beside its text."""
    return "".join(
        _piece(prompt, span, start, end) for span in prompt.spans if span.start < end and span.end > start
    )


def _piece(prompt: Prompt, span: Span, start: int, end: int) -> str:
    name = span.origin.pointer.rpartition("/")[2] if isinstance(span.origin, Input) else ""
    text = prompt.text[max(span.start, start) : min(span.end, end)]
    return _SLOTS.get(name, text)


def _closers(output: OutputFormat | None) -> Iterator[str]:
    """The marks that close values, calls and turns."""
    if output is None:
        return
    calls = output.tool_calls
    if calls is not None:
        yield from (calls.body, calls.call_end, calls.section_end)
        if calls.members is not None:
            yield from (calls.members.member, calls.members.end)
        yield from (way.end for way in calls.values.by_type.values())
    yield from (*output.end_of_message, *output.end_of_turn)


def _without(text: str, closers: Iterable[str]) -> str:
    """`text` without the marks that it begins with, in any order, and without brackets before them."""
    ends = {_end_of(closer) for closer in closers}
    marks = {mark for end in ends for mark in (end, _BRACKETS.sub("", end).strip())} - {""}
    brackets = True
    while True:
        bare = text.lstrip()
        mark = max((mark for mark in marks if bare.startswith(mark)), key=len, default="")
        if mark:
            text = bare.removeprefix(mark)
        elif brackets:
            text, brackets = _BRACKETS.sub("", text), False
        else:
            return text.lstrip("\n")


def _end_of(pattern: str) -> str:
    """The literal text that a pattern ends with."""
    parts = patterns.pieces(pattern)
    return parts[-1].strip() if parts and not isinstance(parts[-1], patterns.Slot) else ""


def _leads(turns: Observation) -> dict[ResultTurn, str]:
    """What stands between texts, before a user's and before an assistant's."""
    prompt = turns.prompt
    places = (
        [list(prompt.inputs(f"/messages/{one}/content", key=False)) for one in range(3)] if prompt else []
    )
    if not prompt or not all(places):
        return {}
    first, answer, second = places
    return {
        ResultTurn.USER: prompt.text[answer[-1].end : second[0].start],
        ResultTurn.ASSISTANT: prompt.text[first[-1].end : answer[0].start],
    }
