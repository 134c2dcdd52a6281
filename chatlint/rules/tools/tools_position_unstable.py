"""Where declared tools stand depends on the conversation.

## What it does
Looks where tools are written in conversations of one, three and five turns, with and without system text, and
after a tool result: before the first question, in the turn of the first question, or in that of the last.

## Why is this bad
What moves is read anew: tools in the last question's turn lose the cached prompt with every question, tools
in the first one's turn are lost with it when a client trims the history. Tools that stand elsewhere beside
system text, or vanish after a result, are a conversation that the model was hardly trained on.

## Example
```jinja bad
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{% if tools and loop.last %}{{ tools | tojson }}
{% endif %}
{{- text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from chatlint.probe.reading import shown
from chatlint.rules.calls import advertises, supported
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, at_end, bounds, content_shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_TOOL = "/tools/0/function/name"


class _Place(StrEnum):
    """Where tools are."""

    HEAD = "before the first question's turn"
    FIRST = "in the turn of the first question"
    LAST = "in the turn of the last question"
    BETWEEN = "between the first question and the last"


@rule("CT415", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    if not advertises(subject):
        return
    long = next((one for one in _long(subject) if shown(one, _TOOL)), None)
    if long is None:  # `tools-not-rendered` says so
        return
    place = _place(long, long)
    if place is _Place.HEAD:
        yield from _moved(subject, long)
    elif place is not None:
        yield _in_a_question(long, place)
    yield from _vanished(subject)


def _long(subject: Subject) -> Iterator[Observation]:
    yield subject.see("tools/five-turns")
    yield subject.see("tools/three-turns")


def _contents(seen: Observation, role: str) -> list[tuple[int, int]]:
    """Where what this role said stands, in the order of the conversation."""
    messages = enumerate(seen.case.conversation.messages)
    pointers = [f"/messages/{index}/content" for index, one in messages if one.get("role") == role]
    return [place for place in (bounds(seen, pointer) for pointer in pointers) if place]


def _place(seen: Observation, usual: Observation) -> _Place | None:
    """Where tools are in a prompt; None where that cannot be told. In `usual`, a second question shows what
    stands before a question that has no tools in its turn."""
    tools, questions = bounds(seen, _TOOL), _contents(seen, "user")
    others = _contents(usual, "user")
    if tools is None or not questions or len(others) < 2:
        return None
    before = sum(question[0] < tools[0] for question in questions)
    if before:
        return _Place.LAST if before >= len(questions) - 1 else _Place.BETWEEN
    return _Place.HEAD if _same_header(seen, questions[0][0], usual, others[1][0]) else _Place.FIRST


def _same_header(seen: Observation, first: int, usual: Observation, second: int) -> bool:
    """Whether one mark stands before both questions: then the tools are not in the first one's turn."""
    from chatlint.infer.markers import common_suffix

    header = common_suffix([seen.text[:first], usual.text[:second]]).strip()
    return any(character.isalnum() for character in header)


def _in_a_question(long: Observation, place: _Place) -> Cause:
    first = place is _Place.FIRST
    return Cause(
        key=place,
        message=f"tools are written {place}",
        consequence="A client that trims the history loses the tools with its first question."
        if first
        else "With every question they move: what stood before it in the cached prompt is read anew.",
        sights=(at(long, _TOOL, place),),
        # the model was trained on it: a property worth knowing, no fault
        severity=Severity.INFO,
        fix="Write tools in the system turn." if first else "",
    )


def _moved(subject: Subject, long: Observation) -> Iterator[Cause]:
    """Elsewhere without system text, or beside it."""
    alone = subject.see("tools/given")
    place = _place(alone, long)
    if place in (None, _Place.HEAD):
        return
    beside = subject.see("tools/with-system")
    reason = "with system text" if _place(beside, long) is _Place.HEAD else "in longer conversations"
    yield Cause(
        key=f"moved {reason}",
        message=f"tools are written {_Place.HEAD} {reason}, and in that of the question without",
        consequence="The model sees tools where it was not trained to look for them.",
        sights=(at(alone, _TOOL, "in the turn of the question"), at(long, _TOOL, _Place.HEAD)),
        fix="Write tools in one place, whatever the conversation holds.",
    )


def _vanished(subject: Subject) -> Iterator[Cause]:
    """Tools that are there when a question is last, and not when a tool's result is."""
    way = supported(subject)
    if way is None or "tools" in way:
        return
    seen = subject.see("calls/one-result", way)
    if content_shown(seen, "/messages/2/content") and not shown(seen, _TOOL):
        yield Cause(
            key="vanished",
            message="declared tools are not written when the last message is a tool result",
            consequence="In the middle of its work the model no longer knows the tools, and what follows the "
            "question in the cached prompt is lost.",
            sights=(at_end(seen, "no tool is named up to here", lost="/tools/0"),),
            fix="Write the tools whatever message comes last.",
        )
