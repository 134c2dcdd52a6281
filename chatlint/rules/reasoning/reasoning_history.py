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

from typing import TYPE_CHECKING

from chatlint.probe.reading import shown
from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, bounds, content_shown, crashes
from chatlint.rules.turns import behind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_WITH_CALL = "reasoning beside a tool call"
_FIELDS = ("reasoning_content", "reasoning", "thinking")
_LOOPS = ("reasoning/call-result", "reasoning/text-call-result", "reasoning/two-steps")


@rule("CT501", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    field = _field(subject)
    if not field:
        return
    yield from _answers(subject, field)
    way = supported(subject)
    if way is not None:
        axes = {axis: way[axis] for axis in way if axis == "arguments"}
        seen = [subject.see(probe, axes, reasoning=field) for probe in _LOOPS]
        yield from _dropped(seen, field)
        yield from crashes(subject, seen, _WITH_CALL, "Agents that reason fail.", Severity.ERROR)
    yield from _empty(subject, field)


def _field(subject: Subject) -> str:
    """The first name under which the template takes reasoning; "" if none."""
    for field in _FIELDS:
        for probe in ("reasoning/last", "reasoning/call-result", "reasoning/followed"):
            if _kept(subject.see(probe, reasoning=field), field):
                return field
    return ""


def _kept(observation: Observation, field: str) -> bool:
    return observation.prompt is not None and shown(observation, f"/messages/1/{field}")


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


def _dropped(seen: list[Observation], field: str) -> Iterator[Cause]:
    lost = [one for one in seen if one.prompt and not _kept(one, field)]
    if lost:
        yield Cause(
            key="dropped in the loop",
            message="reasoning before a tool call is dropped while the tool loop runs",
            consequence="After each tool result the model has forgotten its plan and thinks it up again.",
            sights=tuple(at(one, "/messages/1/tool_calls", "the reasoning is not before it") for one in lost),
            fix="Keep the reasoning of all assistant messages after the last user message.",
        )


def _empty(subject: Subject, field: str) -> Iterator[Cause]:
    """The markers of a thought around nothing, in an answer that has none."""
    with_thought = subject.see("reasoning/last", reasoning=field, generation="off")
    markers = _markers(with_thought, field)
    if markers is None:
        return
    opener, closer = markers
    sights = []
    for probe in ("roles/user-assistant", "roles/user-assistant-user"):
        one = subject.see(probe, generation="off")
        found = _empty_thought(one, opener, closer)
        if found:
            sights.append(found)
    if sights and not _prefilled(subject, opener, closer):
        yield Cause(
            key="empty thought",
            message=f"an answer without reasoning gets an empty thought: {_marked(sights[0])!r}",
            consequence="The history shows answers without thinking, which the prompt did not ask for.",
            sights=tuple(sights),
        )


def _markers(observation: Observation, field: str) -> tuple[str, str] | None:
    """The last tag or word before the thought and the first after it; None where nothing marks its end."""
    from chatlint.infer.markers import atoms

    found = bounds(observation, f"/messages/1/{field}")
    answer = bounds(observation, "/messages/1/content")
    if found is None or answer is None or answer[0] < found[1]:
        return None
    before = observation.text[: found[0]].rstrip()
    after = observation.text[found[1] : answer[0]].strip()
    return (atoms(before)[-1], atoms(after)[0]) if before and after else None


def _empty_thought(observation: Observation, opener: str, closer: str) -> Sight | None:
    text = observation.text
    start = text.find(opener)
    while start >= 0:
        rest = text[start + len(opener) :]
        if rest.lstrip().startswith(closer):
            end = len(text) - len(rest.lstrip()) + len(closer)
            return Sight(observation, start, end, "nothing was thought here")
        start = text.find(opener, start + 1)
    return None


def _marked(sight: Sight) -> str:
    return sight.observation.text[sight.start : sight.end]


def _prefilled(subject: Subject, opener: str, closer: str) -> bool:
    """Whether the generation prompt itself writes the empty thought: then the history only repeats it."""
    asked = subject.see("roles/user")
    tail = behind(asked, "/messages/0/content") or ""
    return bool(tail) and _empty_thought(asked, opener, closer) is not None
