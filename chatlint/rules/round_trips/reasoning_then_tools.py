"""chatlint's own parser tells a call in reasoning from one that is only talked about.

## What it does
Writes texts in the learned format and reads them: reasoning that names the mark of a call in prose, that
quotes a call of a tool that is not declared, that is never closed, and that is cut off by a call; and a call
without any reasoning. The policy is stated: a call of a declared tool, whose opener and name are whole, ends
open reasoning; anything less is reasoning. A phantom call, or one that is lost, is a fault of chatlint: a
failure, never a finding on the template.

## Why is this bad
Models think about calls before they make them, and forget to close their thoughts. A parser that takes every
mark for a call runs tools that nobody called; one that waits for the closing mark loses those that were.

## Example
There is none: no template can cause it. What is read is decided by the policy alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.thoughts import plain

if TYPE_CHECKING:
    from chatlint.conversation import JSON
    from chatlint.parse.formats import OutputFormat, ToolCalls
    from chatlint.rules.subject import Subject

_THOUGHT = "Hm. Well."
_ANSWER = "It is late."
_ASIDE = ("I could write", "here, but I will not.")


class _Text(NamedTuple):
    """What a model may write: behind which prompt, how many calls it holds by the policy, and the words that
    must come back."""

    what: str
    text: str
    calls: int
    words: tuple[str, ...]


@rule("CT705", severity=Severity.ERROR, needs=Stage.FORMAT, own=True)
def check(subject: Subject) -> Iterator[Cause]:
    from chatlint.export.samples import TOOLS

    output = subject.format
    if output is None or output.reasoning is None or output.tool_calls is None:
        return
    if output.reasoning.guess or output.tool_calls.guess or not plain(output.reasoning.start):
        return  # what is guessed or never opened has no policy to keep
    for one in _texts(output, output.tool_calls):
        received = output.parser(tools=TOOLS).parse(one.text)
        wrong = _wrong(one, received)
        if wrong:
            yield Cause(key=one.what, message=f"{one.what}: {wrong} ({one.text!r})", consequence="", own=True)
            return


def _texts(output: OutputFormat, calls: ToolCalls) -> Iterator[_Text]:
    from chatlint.export.samples import LOOK
    from chatlint.export.writing import Call, write_calls, write_turn
    from chatlint.parse.markers import is_strong

    look = [LOOK]
    before, after = _ASIDE
    mark = plain(calls.section_start) + plain(calls.call_start)
    if is_strong(mark):
        mentioned = f"{before} {mark} {after}"
        turn = write_turn(output, reasoning=mentioned, content=_ANSWER)
        yield _Text("reasoning that names the mark of a call", turn, 0, (before, after, _ANSWER))
        undeclared = write_calls(calls, [Call("drift", {"city": "Oslo"})])
        turn = write_turn(output, reasoning=f"{before} {undeclared} {after}", content=_ANSWER)
        yield _Text("reasoning that quotes a call of a tool that is not declared", turn, 0, (after, _ANSWER))
        open_turn = write_turn(output, reasoning=_THOUGHT)
        cut = open_turn[: open_turn.rfind(_THOUGHT) + len(_THOUGHT)]
        yield _Text("a call before reasoning is closed", f"{cut}\n{write_calls(calls, look)}", 1, (_THOUGHT,))
        yield _Text("reasoning that is never closed", cut, 0, (_THOUGHT,))
    yield _Text("a call after reasoning", write_turn(output, reasoning=_THOUGHT, calls=look), 1, (_THOUGHT,))
    yield _Text("a call without reasoning", write_turn(output, calls=look), 1, ())


def _wrong(one: _Text, received: Mapping[str, JSON]) -> str:
    calls = received.get("tool_calls")
    found = calls if isinstance(calls, list) else []
    if len(found) != one.calls:
        return f"{len(found)} calls are read, {one.calls} were made"
    back = json.dumps(received, ensure_ascii=False)
    lost = [word for word in one.words if word not in back]
    return f"{lost[0]!r} comes back nowhere" if lost else ""
