"""An empty list of tool calls is not the same as none.

## What it does
Gives an answer in the history `tool_calls: []`, and compares the prompt with that of the same answer without
the member. Where the template asks whether the member is there, `tool_calls: null` is tried as well, through
the eyes of a host that hands null on.

## Why is this bad
Typed clients always write the list. A template that only asks whether it is there takes the branch for calls:
the answer's text is lost, or the request is refused because there is not exactly one call.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>
{%- if 'tool_calls' in m %}
{%- for c in m.tool_calls %}<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>{% endfor %}
{%- else %}{{ text if text is string else text | map(attribute='text') | join }}{% endif %}<|end|>
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
from chatlint.rules.calls import OLDER
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.edits import Mending, by_truth
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at_end, content_shown, declined, faulted, said
from chatlint.rules.turns import agree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.probe.trace import Trace
    from chatlint.rules.subject import Subject

_WITHOUT = "roles/user-assistant-user"
_ANSWER = "/messages/1/content"
_ASKED = (
    r"""tool_calls['"]?\]? +is +(not +)?(defined|none|sequence|iterable)|['"]tool_calls['"] +(not +)?in\b"""
)
"""Questions to which null and nothing can be two answers."""
_CALLS = "/messages/1/tool_calls"
_FIX = "Ask `{% if message.tool_calls %}`: null and an empty list are false."


def _shows(seen: Observation) -> bool:
    messages = seen.case.conversation.messages
    return any("tool_calls" in message and not message["tool_calls"] for message in messages)


_MENDING = Mending(by_truth("tool_calls"), _shows, place="asks whether `tool_calls` is there, or not none")


@rule("CT417", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    if not subject.footing.mentions("tool_calls"):
        return
    found = list(_causes(subject.trace, subject, "content/empty-call-list", "`tool_calls: []`"))
    yield from found
    if not found and subject.trace.settings.host != OLDER and subject.footing.mentions(_ASKED):
        for cause in _causes(
            subject.elsewhere(OLDER), subject, "content/null-call-list", "`tool_calls: null`"
        ):
            yield replace(cause, severity=Severity.WARNING)  # newer hosts never hand it on


def _causes(trace: Trace, subject: Subject, probe: str, given: str) -> Iterator[Cause]:
    without = subject.see(_WITHOUT)
    if without.prompt is None:
        return
    seen = trace.look(probe, subject.footing.variant)
    hosts = (trace.settings.host,)
    if faulted(seen) or declined(seen):
        verb = "breaks the template" if faulted(seen) else "is refused"
        yield Cause(
            key=f"fails on {given}",
            message=f"{given} beside an answer's text {verb}: {said(seen)}",
            consequence="Requests of clients that always write the list fail from the second turn on.",
            sights=(Sight(seen),),
            hosts=hosts,
            fix=_FIX,
            mending=_MENDING,
        )
    elif seen.prompt and content_shown(without, _ANSWER) and not content_shown(seen, _ANSWER):
        yield Cause(
            key=f"lost with {given}",
            message=f"{given} makes the text of an answer vanish",
            consequence="The model does not see what it said before.",
            sights=(at_end(seen, "the answer is nowhere up to here", lost=_ANSWER, asked=_CALLS),),
            hosts=hosts,
            fix=_FIX,
            mending=_MENDING,
        )
    elif seen.prompt and seen.text != without.text:
        yield _written_otherwise(seen, without, given, hosts)


def _written_otherwise(seen: Observation, without: Observation, given: str, hosts: tuple[str, ...]) -> Cause:
    start = min(agree(seen.text, without.text), max(len(seen.text) - 1, 0))
    rest = without.text[start : start + 24]
    return Cause(
        key=f"written otherwise with {given}",
        message=f"an answer beside {given} is written otherwise than one without",
        consequence="The same conversation gives two prompts: the model sees one that it did not learn.",
        sights=(Sight(seen, start, min(start + 1, len(seen.text)), f"without it, {rest!r} stands here"),),
        severity=Severity.WARNING,
        hosts=hosts,
        fix=_FIX,
        mending=_MENDING,
    )
