"""A tool call in the history, or its result, does not reach the prompt.

## What it does
Sends a call with its result as the running tool loop and as history, in every form that clients use, and
looks for the function's name, each argument and the result.

## Why is this bad
From the second turn on the model has no memory of its call: it repeats it, or answers without the result.
The first turn, which most tests send, is fine.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
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

from typing import TYPE_CHECKING

from chatlint.rules.calls import RESULT, advertises, in_history, lost_parts, reads_calls
from chatlint.rules.cause import Cause, Gathering
from chatlint.rules.edits import Mending, results_in_own_turns
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at_end, crashes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_RESULT = "the result"


def _shows(seen: Observation) -> bool:
    answered = any(message.get("role") == "tool" for message in seen.case.conversation.messages)
    return answered and seen.prompt is not None


_RESULTS = Mending(
    results_in_own_turns, _shows, place="has a branch for one role in which the role is printed"
)


@rule("CT402", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    offered = advertises(subject)
    if not offered and not reads_calls(subject):
        return
    form = subject.call_form
    observations = [
        subject.see("calls/one-result", form.variant),
        subject.see("calls/one-answered", form.variant, generation="off"),
        in_history(subject, form.variant),
    ]
    losses = Gathering()
    for seen in observations:
        lost = " and ".join(lost_parts(seen))
        if lost:
            gone = RESULT if lost == _RESULT else "/messages/1/tool_calls"
            losses.add(lost, at_end(seen, f"{lost} nowhere up to here", lost=gone))
    for parts, sights in losses:
        yield Cause(
            key=parts,
            message=f"of a tool call in the history, {parts} {'is' if ' and ' not in parts else 'are'} lost",
            consequence="After its first call the model does not see what it called or what came back.",
            sights=sights,
            severity=None if offered else Severity.WARNING,
            fix="Write every call of `message.tool_calls`, and messages of role `tool`.",
            mending=_RESULTS if parts == _RESULT else None,
        )
    if form.whole:
        plain = {**form.variant, "result_name": "given"}
        observations.append(subject.see("calls/one-result", plain))
        call = (subject.see(probe, form.variant) for probe in ("calls/one",))
        yield from crashes(
            subject, observations, "a tool result", "No tool loop can be finished.", without=call
        )
