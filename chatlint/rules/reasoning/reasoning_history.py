"""Reasoning is dropped inside a running tool loop, or empty thoughts are written.

## What it does
Sends reasoning under every name that clients use, in the last answer, before a later question and between a
tool call and its result, and looks for it in the prompt. Looks for the same markers around nothing.

## Why is this bad
A model that reasons between tool calls needs those thoughts until it answers; without them it starts over
after each result. An empty thought in the history teaches it not to think, and moves every later token.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{% set thought = m.reasoning_content if not m.tool_calls %}
{{- '<think>' ~ thought ~ '</think>' if thought }}
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
<|{{ m.role }}|>{% set thought = m.reasoning_content %}
{{- '<think>' ~ thought ~ '</think>' if thought }}
{{- text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chatlint.rules.branches import branch_of
from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, content_shown, crashes
from chatlint.rules.thoughts import keeps_thought, reasoning_field, thought_marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_WITH_CALL = "reasoning beside a tool call"
_LOOPS = ("reasoning/call-result", "reasoning/text-call-result", "reasoning/two-steps")


@rule("CT501", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    field = reasoning_field(subject)
    if not field:
        return
    yield from _answers(subject, field)
    way = supported(subject)
    if way is not None:
        axes = {axis: way[axis] for axis in way if axis == "arguments"}
        seen = [subject.see(probe, axes, reasoning=field) for probe in _LOOPS]
        yield from _dropped(subject, seen, field)
        yield from crashes(subject, seen, _WITH_CALL, "Agents that reason fail.", Severity.ERROR)
    yield from _empty(subject)


def _answers(subject: Subject, field: str) -> Iterator[Cause]:
    """The answer beside a thought, which is there without one."""
    seen = [
        subject.see(probe, reasoning=field, generation="off")
        for probe in ("reasoning/last", "reasoning/followed")
    ]
    plain = subject.see("roles/user-assistant-user")
    lost = [one for one in seen if one.prompt and not content_shown(one, "/messages/1/content")]
    if lost and content_shown(plain, "/messages/1/content"):
        yield Cause(
            key="answer lost",
            message="the answer of a message that has reasoning is lost",
            consequence="In the history the model sees what it thought and not what it said.",
            sights=tuple(at(one, f"/messages/1/{field}", "the answer does not follow") for one in lost),
            severity=Severity.ERROR,
        )


def _dropped(subject: Subject, seen: list[Observation], field: str) -> Iterator[Cause]:
    lost = [one for one in seen if one.prompt and not keeps_thought(one, field)]
    if lost:
        line, column = _condition(subject, seen, lost, field)
        yield Cause(
            key="dropped in the loop",
            message="reasoning before a tool call is dropped while the tool loop runs",
            consequence="After each tool result the model has forgotten its plan and thinks it up again.",
            sights=tuple(at(one, "/messages/1/tool_calls", "the reasoning is not before it") for one in lost),
            line=line,
            column=column,
            fix="Keep the reasoning of all assistant messages after the last user message.",
        )


def _condition(
    subject: Subject, seen: list[Observation], lost: list[Observation], field: str
) -> tuple[int, int]:
    """What the template asks before it keeps a thought; (0, 0) where that cannot be told."""
    last = subject.see("reasoning/last", reasoning=field)
    kept = next((one for one in (last, *seen) if keeps_thought(one, field)), None)
    if kept is None:
        return 0, 0
    return branch_of(subject, at(kept, f"/messages/1/{field}"), f"/messages/*/{field}", lost)


def _empty(subject: Subject) -> Iterator[Cause]:
    """The markers of a thought around nothing, in an answer that has none. Where a generation prompt writes
    them itself, the history only repeats it."""
    pairs = thought_marks(subject.format)
    if not pairs or _prefilled(subject, pairs):
        return
    sights = []
    for probe in ("roles/user-assistant", "roles/user-assistant-user"):
        one = subject.see(probe, generation="off")
        found = _empty_thought(one.text, pairs)
        if found:
            sights.append(Sight(one, *found.span(), "nothing was thought here"))
    if sights:
        first = sights[0]
        marked = first.observation.text[first.start : first.end]
        yield Cause(
            key="empty thought",
            message=f"an answer without reasoning gets an empty thought: {marked!r}",
            consequence="The history shows answers without thinking, which no generation prompt asks for.",
            sights=tuple(sights),
        )


def _empty_thought(text: str, pairs: tuple[tuple[str, str], ...]) -> re.Match[str] | None:
    either = "|".join(rf"{re.escape(opener)}\s*{re.escape(closer)}" for opener, closer in pairs)
    return re.search(either, text)


def _prefilled(subject: Subject, pairs: tuple[tuple[str, str], ...]) -> bool:
    """Whether a generation prompt, with some switch or none, writes an empty thought."""
    prompt = subject.format.generation_prompt if subject.format else None
    texts = (prompt.text, *(switched.text for switched in prompt.by_switch)) if prompt else ()
    return any(_empty_thought(text, pairs) for text in texts)
