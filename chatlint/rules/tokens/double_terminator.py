"""A turn is ended twice.

## What it does
Counts the marks that hand over between an assistant's turn and the next message, for answers, tool calls and
both together.

## Why is this bad
The model stops at the first mark, so in no conversation it lives through is there a second. In the history it
sees an empty turn, and in training it learns to write one.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{{- '<|over|>' if m.role == 'assistant' }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, Gathering, Sight
from chatlint.rules.ends import tail
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.subject import Subject

_ANSWERS = ("roles/user-assistant", "roles/user-assistant-user")
_CALLS: tuple[tuple[str, Variant], ...] = (
    ("calls/one", {}),
    ("calls/one-result", {}),
    ("calls/one", {"content": "text"}),
    ("calls/two", {}),
)


@rule("CT603", severity=Severity.WARNING, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject) or subject.format is None:
        return
    twice = Gathering()
    for seen, pointer in _turns(subject):
        found = tail(seen, pointer)
        for mark in subject.format.end_of_turn if found else ():
            second = _second(found[1], mark) if found else -1
            if found and second >= 0:
                start = found[0] + second
                twice.add(mark, Sight(seen, start, start + len(mark), "the second one"))
    for mark, sights in twice:
        yield Cause(
            key=mark,
            message=f"{mark!r} is written twice at the end of a turn",
            consequence="The history shows an empty turn that never was, and training teaches it.",
            sights=sights,
            fix="Write the mark once, in one place.",
        )


def _turns(subject: Subject) -> Iterator[tuple[Observation, str]]:
    for probe in _ANSWERS:
        yield subject.see(probe, generation="off"), "/messages/1/content"
    way = supported(subject)
    for probe, axes in _CALLS if way is not None else ():
        yield subject.see(probe, {**(way or {}), **axes}, generation="off"), "/messages/1/tool_calls"


def _second(text: str, mark: str) -> int:
    """Where a second mark stands with nothing but blanks between it and the first; -1 if nowhere."""
    first = text.find(mark)
    second = text.find(mark, first + len(mark)) if first >= 0 else -1
    return second if second >= 0 and not text[first + len(mark) : second].strip() else -1
