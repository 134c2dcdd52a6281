"""The work of a render grows faster than the conversation.

## What it does
Where the template goes through all messages (or tools) for each of them, or puts a list or a text together
anew in a loop: renders ten and a hundred, and compares what the two cost in loop iterations and characters
moved. No time is measured.

## Why is this bad
A server renders the whole conversation for every request. What grows with its square is not seen in short
chats, and takes seconds in those of agents.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% for other in messages %}{% if other.role == 'user' and other.content == m.content %}{% endif %}{% endfor %}
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Go through the messages once before the loop, and keep what was found in a namespace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.records import replace
from chatlint.rules.cause import Cause, NotEvaluated, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.conversation import Conversation
    from chatlint.probe.case import Observation
    from chatlint.probe.trace import Trace
    from chatlint.rules.subject import Subject

_TEXT = "text of "
_FEW, _MANY = 10, 100
_FIRST = 6, 18
_SUSPECT = 3.2
"""Three times as many cost three times as much, and with the square up to nine times: only where this is
passed are a hundred worth their time."""
_LINEAR = 25
"""Ten times as many cost ten times as much, and with the square a hundred times."""
_LEAST = 1_000
"""Steps for a hundred that are worth a word."""


@rule("CT205", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    lines = {use.name: use.line for use in subject.syntax.growth}
    names = dict.fromkeys(name.removeprefix(_TEXT) for name in lines)
    if not lines:
        return
    with subject.again() as trace:
        for name in names:
            few, more = (_asked(subject, trace, name, count) for count in _FIRST)
            if few.failure:
                raise NotEvaluated(f"for {_FIRST[0]} {name} there is no prompt")
            if more.prompt and more.steps <= _SUSPECT * max(few.steps, 1):
                continue
            few, many = (_asked(subject, trace, name, count) for count in (_FEW, _MANY))
            bound = many.failure is not None and many.failure.kind == "bound"
            if bound or (many.prompt and many.steps > _LINEAR * max(few.steps, 1) and many.steps >= _LEAST):
                yield _grows(name, lines, few, many)


def _asked(subject: Subject, trace: Trace, name: str, count: int) -> Observation:
    seen = subject.see("tools/given" if name == "tools" else "roles/user-assistant-user")
    conversation = _of_size(seen.case.conversation, name, count)
    return trace.ask_conversation(f"scaling/{name}-{count}", conversation)


def _of_size(conversation: Conversation, name: str, count: int) -> Conversation:
    if name == "tools":
        tools = conversation.tools or ()
        return replace(
            conversation, tools=tuple(tools[at % len(tools)] for at in range(count)) if tools else ()
        )
    pair = conversation.messages[:2]
    return replace(conversation, messages=tuple(pair[at % 2] for at in range(count - 1)) + pair[:1])


def _grows(name: str, lines: dict[str, int], few: Observation, many: Observation) -> Cause:
    looped = name in lines
    cost = f"{many.steps:,} steps" if many.prompt else "more than a render may"
    return Cause(
        key=name,
        message=f"the work grows faster than the number of {name}: {_FEW} cost {few.steps:,} steps, "
        f"{_MANY} {cost}",
        consequence="Long conversations of agents take seconds to render, on every request."
        if looped
        else "The text so far is copied for each: engines that keep more than characters take long.",
        sights=(Sight(many),),
        line=lines[name] if looped else lines[_TEXT + name],
        severity=None if looped else Severity.INFO,
        fix="" if looped else "Print each piece where it is made, or gather in a `set` block.",
    )
