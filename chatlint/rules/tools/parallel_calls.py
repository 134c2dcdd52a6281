"""Several tool calls in one message are lost, refused or not closed.

## What it does
Sends one, two and three calls in one message and compares what the template writes after the last call: it
must be the same for every number of calls. Each name and all arguments must be there, and each result,
whatever order they come in.

## Why is this bad
Most models call tools in parallel. A call that is lost leaves a result without its call; a block that is
closed only from the second call on teaches the model to go on after the first.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in (m.tool_calls or [])[:1] %}{% set a = c.function.arguments %}
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

from typing import TYPE_CHECKING

from chatlint.rules.calls import OLDER, RESULT, call_shown, lost_parts, named, reads_calls, supported
from chatlint.rules.cause import Cause, Gathering, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import after, at_end, bounds, content_shown, crashes, declined, faulted, said
from chatlint.text import Input

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.probe.trace import Trace
    from chatlint.rules.subject import Subject

_SEVERAL = ("calls/two", "calls/two-result", "calls/two-followed", "calls/three")
_SWAPPED = "calls/two-swapped"
_BOTH = ("/messages/2/content", "/messages/3/content")
_LOST = "A result stands in the prompt without its call; the model repeats the call or misreads the result."


@rule("CT404", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    if way is None:
        yield from _in_older_host(subject)
        return
    seen = [
        subject.see(probe, way, generation="on" if probe.endswith("result") else "off") for probe in _SEVERAL
    ]
    one = (subject.see(probe, way) for probe in ("calls/one", "calls/one-result", "calls/one-followed"))
    refused = [one for one in seen if declined(one)]
    if refused:
        yield _refused(refused)
    what = "several tool calls in one message"
    yield from crashes(subject, seen, what, "Parallel calls fail.", without=one)
    losses = list(_losses(seen))
    yield from losses or _unclosed(subject.trace, {**subject.footing.variant, **way})
    yield from _results(subject, way)


def _refused(seen: list[Observation]) -> Cause:
    return Cause(
        key="refused",
        message=f"several tool calls in one message are refused: {said(seen[0])}",
        consequence="When the model calls two tools at once, the next request fails.",
        sights=tuple(Sight(one) for one in seen),
        severity=Severity.WARNING,
    )


def _losses(seen: list[Observation]) -> Iterator[Cause]:
    lost = Gathering()
    for one in seen:
        for index in _missing(one):
            note = f"call {index + 1} is nowhere up to here"
            lost.add("calls", at_end(one, note, lost=f"/messages/1/tool_calls/{index}/function"))
    for key, sights in lost:
        yield Cause(
            key=key,
            message="of several tool calls in one message, not all reach the prompt",
            consequence=_LOST,
            sights=sights,
            fix="Loop over `message.tool_calls`.",
        )


def _results(subject: Subject, way: Variant) -> Iterator[Cause]:
    """Results in the order of their calls, and in another: tools answer when they are done."""
    one, ordered = subject.see("calls/one-result", way), subject.see("calls/two-result", way)
    if not ordered.prompt or not content_shown(one, RESULT):
        return
    swapped = subject.see(_SWAPPED, way)
    if faulted(swapped) or declined(swapped):
        verb = "breaks the template" if faulted(swapped) else "is refused"
        yield Cause(
            key="swapped",
            message=f"a result that comes before that of an earlier call {verb}: {said(swapped)}",
            consequence="Requests fail whenever the second tool is done first.",
            sights=(Sight(swapped),),
            severity=Severity.WARNING,
        )
    lost = [seen for seen in (ordered, swapped) if seen.prompt and not content_shown(seen, *_BOTH)]
    if lost:
        gone = next(pointer for pointer in _BOTH if not content_shown(lost[0], pointer))
        yield Cause(
            key="results",
            message="of the results of several tool calls, not all reach the prompt",
            consequence="The model does not see what one of its tools answered.",
            sights=tuple(at_end(seen, "a result is nowhere up to here", lost=gone) for seen in lost),
            fix="Write every message of the tool role.",
        )


def _missing(observation: Observation) -> list[int]:
    """Positions of calls that are not in the prompt, where the first is."""
    if observation.prompt is None or lost_parts(observation):
        return []
    calls = observation.case.conversation.messages[1].get("tool_calls")
    count = len(calls) if isinstance(calls, list) else 0
    places = [f"/messages/1/tool_calls/{index}/function" for index in range(count)]
    return [
        index
        for index, place in enumerate(places)
        if not (call_shown(observation, place) and named(observation, place))
    ]


def _in_older_host(subject: Subject) -> Iterator[Cause]:
    """Some templates write calls only where content is null, which newer hosts never pass on."""
    if reads_calls(subject) and subject.trace.settings.host != OLDER:
        older = subject.elsewhere(OLDER)
        for arguments in ("object", "string"):
            way = {**subject.footing.variant, "content": "null", "arguments": arguments}
            found = list(_unclosed(older, way))
            if found:
                yield from found
                return


def _unclosed(trace: Trace, way: Variant) -> Iterator[Cause]:
    """What follows the last call must not depend on how many there are."""
    seen = [trace.look(f"calls/{count}", way, {"generation": "off"}) for count in ("one", "two", "three")]
    if not all(one.prompt and call_shown(one) for one in seen):
        return
    tails = [_tail(one) for one in seen]
    if len(set(tails)) == 1:
        return
    odd = 0 if tails[1] == tails[2] else 1
    compared = ", ".join(f"{tail!r} after {count}" for count, tail in enumerate(tails, 1))
    yield Cause(
        key="unclosed",
        message=f"what closes the calls depends on their number: {compared}",
        consequence="The model learns an unbalanced block and goes on writing after its call.",
        sights=(after(seen[odd], "/messages/1/tool_calls", "compare what follows the last call"),),
        hosts=(trace.settings.host,),
    )


def _tail(observation: Observation) -> str:
    """The template's own text after the last character of the calls."""
    found = bounds(observation, "/messages/1/tool_calls")
    prompt = observation.prompt
    if prompt is None or found is None:
        return ""
    own = [span for span in prompt.spans if span.start >= found[1] and not isinstance(span.origin, Input)]
    return "".join(prompt.piece(span) for span in own)
