"""Of a message with text and tool calls, one is lost.

## What it does
Sends an assistant message that has text and a call, as the last message, in the running tool loop and as
history, and looks for both in the prompt.

## Why is this bad
Models explain themselves before they call. When the text is lost, the model does not see what it promised;
when the call is lost, it calls again.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>
{%- if m.tool_calls %}{% for c in m.tool_calls %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}{% else %}{{ text if text is string else text | map(attribute='text') | join }}
{%- endif %}<|end|>
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

from chatlint.records import replace
from chatlint.rules.calls import FUNCTION, call_shown, in_history, supported
from chatlint.rules.cause import Cause, Gathering, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, at_end, bounds, content_shown, crashes
from chatlint.rules.turns import agree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.subject import Subject

_TEXT_BESIDE = {"content": "text"}
_TEXT = "/messages/1/content"
_CALLS = "/messages/1/tool_calls"
_LOOP = 3
"""Messages of a running loop: a question, a call, a result."""
_LOST = {
    "text": "The model does not see what it wrote before the call.",
    "call": "The model does not see its call, only its text, and calls again.",
}


@rule("CT403", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    if way is None:
        return
    seen = list(_asked(subject, {**way, **_TEXT_BESIDE}))
    losses = Gathering()
    for one in seen:
        for what in _lost(one):
            losses.add(what, _missing(one, what))
    for what, sights in losses:
        yield _loss(what, sights)
    yield from _empty_forms(subject, way)
    yield from _reversed([one for one in seen if not _lost(one)])
    what = "text beside a tool call"
    bare = (one for one in _asked(subject, way))
    yield from crashes(subject, seen, what, "Agents that explain their calls fail.", without=bare)


def _missing(observation: Observation, what: str) -> Sight:
    """What is lost is lost beside the other: the template's question for calls decides."""
    place, lost = (FUNCTION, _TEXT) if what == "text" else (_TEXT, FUNCTION)
    return replace(at(observation, place, f"the {what} is missing here"), lost=lost, asked=_CALLS)


def _asked(subject: Subject, way: Variant) -> Iterator[Observation]:
    """The call last, in the running loop, and in the history."""
    # a call that comes last is what a model is trained on, not what it is asked with
    yield subject.see("calls/one", way, generation="off")
    yield subject.see("calls/one-result", way)
    yield in_history(subject, way)


def _loss(what: str, sights: tuple[Sight, ...]) -> Cause:
    old = all(len(sight.observation.case.conversation.messages) > _LOOP for sight in sights)
    return Cause(
        key=f"{what} lost",
        message=f"of an assistant message with text and a tool call, the {what} is lost"
        + (" once the loop is over" if old else ""),
        consequence=_LOST[what],
        sights=sights,
        # where it is there as long as the loop runs, the template takes it for reasoning
        severity=Severity.WARNING if old and what == "text" else None,
        fix="Write the text first, then the calls; let neither branch exclude the other.",
    )


def _empty_forms(subject: Subject, way: Variant) -> Iterator[Cause]:
    """Content that is empty, null or absent means the same: the call must not depend on it."""
    forms = {form: subject.see("calls/one-result", way, content=form) for form in ("empty", "null", "absent")}
    lost = [form for form, one in forms.items() if one.prompt and not call_shown(one)]
    if lost and len(lost) < len(forms):
        yield Cause(
            key=f"call lost, content {lost[0]}",
            message=f"a tool call is lost where the message's content is {' or '.join(lost)}",
            consequence=_LOST["call"],
            sights=tuple(at_end(forms[form], "the call is nowhere up to here", lost=_CALLS) for form in lost),
            fix="Test `message.tool_calls`, not the content.",
        )
        return
    empty, absent = forms["empty"], forms["absent"]
    if empty.prompt and absent.prompt and empty.text != absent.text:
        start = agree(empty.text, absent.text)
        yield Cause(
            key="empty content is not absent content",
            message="beside a tool call, empty content is written otherwise than content that is absent",
            consequence="The same call gives two prompts, depending on the client: the model learned one.",
            sights=(Sight(empty, start, min(start + 1, len(empty.text)), "where the two part"),),
            severity=Severity.WARNING,
            fix="Test the content itself (`{% if message.content %}`), not whether it is there.",
        )


def _lost(observation: Observation) -> list[str]:
    if observation.prompt is None:
        return []
    text = [] if content_shown(observation, _TEXT) else ["text"]
    return text if call_shown(observation) else [*text, "call"]


def _reversed(seen: list[Observation]) -> Iterator[Cause]:
    sights = [_sight(one) for one in seen if one.prompt and _calls_first(one)]
    if sights:
        yield Cause(
            key="order",
            message="the text of a message is written after its tool call",
            consequence="Models write their text before a call: history and generation differ.",
            sights=tuple(sights),
            severity=Severity.WARNING,
        )


def _calls_first(observation: Observation) -> bool:
    text, call = bounds(observation, _TEXT), bounds(observation, FUNCTION)
    return text is not None and call is not None and call[0] < text[0]


def _sight(observation: Observation) -> Sight:
    return at(observation, _TEXT, "the text follows the call")
