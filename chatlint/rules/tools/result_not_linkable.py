"""Results of several calls can be told apart only by their order.

## What it does
Sends two calls, and their results in the other order. Looks for what links each result to its call: the
call's id at both, the function's name at the result, or an order that the template restores.

## Why is this bad
Tools that run at the same time finish in any order, and many clients send results as they come. Where nothing
links them, the model takes each result for the other call's. Where only one side has the id, the template
means to link them and does not.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ m.tool_call_id ~ ' ' if m.tool_call_id }}
{{- text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ c.id }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.probe.reading import shown
from chatlint.rules.calls import call_shown, supported
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, bounds, content_shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_CALLS = ("/messages/1/tool_calls/1", "/messages/1/tool_calls/0")
_RESULTS = ("/messages/2", "/messages/3")
"""The results, and above the call of each."""


@rule("CT412", severity=Severity.INFO)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    if way is None or not _whole(subject.see("calls/two-result", way)):
        return
    seen = subject.see("calls/two-swapped", way)
    if not _whole(seen) or all(_linked(seen, *pair) for pair in zip(_CALLS, _RESULTS, strict=True)):
        return
    if not _restored(seen):
        yield _cause(seen)


def _whole(seen: Observation) -> bool:
    """Whether both calls and both results are there."""
    return (
        seen.prompt is not None
        and all(call_shown(seen, f"{call}/function") for call in _CALLS)
        and content_shown(seen, *(f"{result}/content" for result in _RESULTS))
    )


def _linked(seen: Observation, call: str, result: str) -> bool:
    if shown(seen, f"{call}/id", f"{result}/tool_call_id"):
        return True
    return _named(seen, call)


def _named(seen: Observation, call: str) -> bool:
    """Whether the call's name is written again among the results."""
    last = max(place[1] for one in _CALLS if (place := bounds(seen, f"{one}/function/arguments")))
    names = seen.prompt.inputs(f"{call}/function/name") if seen.prompt else ()
    return any(span.start >= last for span in names) or _own_name(seen, call)


def _own_name(seen: Observation, call: str) -> bool:
    """Whether the result's message brings the name itself."""
    result = _RESULTS[_CALLS.index(call)]
    message = seen.case.conversation.messages[int(result.rpartition("/")[2])]
    return "name" in message and shown(seen, f"{result}/name")


def _restored(seen: Observation) -> bool:
    """Whether the results stand in the order of the calls."""
    places = [bounds(seen, f"{result}/content") for result in _RESULTS]
    return bool(places[0] and places[1] and places[1][0] < places[0][0])


def _cause(seen: Observation) -> Cause:
    at_call, at_result = shown(seen, f"{_CALLS[0]}/id"), shown(seen, f"{_RESULTS[0]}/tool_call_id")
    half = at_call != at_result
    side, other = ("call", "result") if at_call else ("result", "call")
    return Cause(
        key="half a link" if half else "order",
        message=f"the id stands at the {side} and not at the {other}: nothing links results to calls"
        if half
        else "nothing but their order links results to calls",
        consequence="When results come in another order, the model takes each for the other call's.",
        sights=(at(seen, f"{_RESULTS[0]}/content", "the result of the second call"),),
        severity=Severity.WARNING if half else None,
        fix="Write `tool_call_id` beside the result and `id` beside the call, or the name at both.",
    )
