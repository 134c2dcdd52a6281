"""Turns are not opened and closed in alternation.

## What it does
Learns from plain conversations which mark opens a turn and which closes it, and follows both through every
conversation that was rendered, tool calls and results up to five messages: what is open must be closed
before the next turn opens, the system's before the first question, and a prompt that asks for an answer must
end in an open turn. The marks around a second call and its result must be those of the first: what is
remembered from one round to the next has to be set back.

## Why is this bad
Generation starts outside any turn, or inside the wrong one: the model opens a turn of its own, writes the
marks into its answer, or goes on with somebody else's message. In the history it sees turns that never end.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% if m.role != 'tool' %}
{% set text = m.content or '' %}
<|turn|>{{ m.role }}: {{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}{% if not m.tool_calls %}<|end|>{% endif %}

{% else %}<result>
{{- m.content if m.content is string else m.content | map(attribute='text') | join }}</result>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|turn|>assistant: {% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|turn|>{{ m.role }}: {{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|turn|>assistant: {% endif %}
```
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from chatlint.rules.balance import Fault, Misplaced, TurnMarks, fault_in, turn_marks, unclosed_head, usual
from chatlint.rules.calls import in_history, supported
from chatlint.rules.cause import Cause, Gathering, Sight, smallest_first
from chatlint.rules.finding import Severity
from chatlint.rules.rounds import lacks
from chatlint.rules.rule import Stage, rule
from chatlint.rules.turns import chats
from chatlint.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.rounds import Lack
    from chatlint.rules.subject import Subject

_WHAT = {
    Fault.UNCLOSED: "a turn is opened inside one that was not closed",
    Fault.UNOPENED: "a turn is closed that is not open",
    Fault.OUTSIDE: "the prompt that asks for an answer ends outside any turn",
    Fault.HEAD: "the turn before the first question is not closed",
}
_CONSEQUENCE = {
    Fault.UNCLOSED: "The model sees a turn of its own that never ends, and learns not to end it.",
    Fault.UNOPENED: "Text stands outside any turn, behind a mark that says that the turn is over.",
    Fault.OUTSIDE: "The model opens its own turn, so that marks reach the client, or goes on as the user.",
    Fault.HEAD: "The model sees the question inside the system's turn: it may weigh it as an order.",
}
_PLACES = ("before the call", "before the result", "after the result")
_FIX = "Write the opening and the closing mark under the same conditions."


@rule("CT309", severity=Severity.ERROR, needs=Stage.OBSERVATIONS)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    marks, way = turn_marks(subject), supported(subject)
    if way is not None:
        in_history(subject, way)
        yield from _later_rounds(subject, way)
    if marks is not None:
        yield from _misplaced(subject, marks, with_calls=way is not None)


def _misplaced(subject: Subject, marks: TurnMarks, *, with_calls: bool) -> Iterator[Cause]:
    found = Gathering()
    outside: list[Observation] = []
    usually = [one for one in subject.trace.observations if usual(subject, one, with_calls=with_calls)]
    for seen in sorted(usually, key=_length):
        for fault in _faults(seen, marks):
            if fault.kind is Fault.UNOPENED and _goes_on(seen, outside):
                continue
            if fault.kind is Fault.OUTSIDE:
                outside.append(seen)
            found.add(fault.kind, Sight(seen, fault.start, fault.end, _WHAT[fault.kind]))
    for kind, sights in found:
        yield Cause(
            key=kind,
            message=f"{_WHAT[Fault(kind)]} ({marks.opener!r} opens, {_either(marks.closers)} closes)",
            consequence=_CONSEQUENCE[Fault(kind)],
            sights=sights,
            # every prompt has it, those that the model was trained on as well
            severity=Severity.WARNING if kind == Fault.HEAD else None,
            fix=_FIX,
        )


def _later_rounds(subject: Subject, way: Variant) -> Iterator[Cause]:
    found = list(lacks(subject, way))
    places = {where: _marks_of(one for one in found if one.where == where) for where in _PLACES}
    said = [f"{' '.join(marks)} {where}" for where, marks in places.items() if marks]
    if said:
        yield Cause(
            key="later round",
            message=f"the second round of calls lacks marks that the first has: {listed(said)}",
            consequence="From the second step on, nothing opens or closes calls and results.",
            sights=smallest_first(one.sight for one in found),
            fix="Set what is remembered of a call or a result back for each message: "
            "`{% set ns.is_first = true %}` before its loop.",
        )


def _marks_of(found: Iterable[Lack]) -> list[str]:
    return list(dict.fromkeys(chain(*(one.marks for one in found))))


def _faults(seen: Observation, marks: TurnMarks) -> Iterator[Misplaced]:
    yield from filter(None, (unclosed_head(seen, marks), fault_in(seen, marks)))


def _length(seen: Observation) -> int:
    return len(seen.case.conversation.messages)


def _goes_on(seen: Observation, outside: list[Observation]) -> bool:
    """Whether this goes on where a prompt ended outside any turn: the same cause again."""
    shape = _shape(seen)
    return any(shape[: len(before)] == before for before in map(_shape, outside))


def _shape(seen: Observation) -> list[tuple[str, bool, bool]]:
    """Who speaks, with or without text and calls."""
    messages = seen.case.conversation.messages
    return [(str(one.get("role")), bool(one.get("content")), bool(one.get("tool_calls"))) for one in messages]


def _either(marks: tuple[str, ...]) -> str:
    return " or ".join(map(repr, marks))
