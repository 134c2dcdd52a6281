"""Where the generation prompt leaves the model: inside its reasoning, behind it, or before it.

## What it does
Looks at what follows the last message, after a question and after a tool result, with every value of the
switches that change it: is reasoning opened, opened and closed again, or neither?

## Why is this bad
It is a fact that parsers need, not a fault. A model that starts inside its reasoning never writes the opening
mark: a parser that waits for one files all of it as the answer. Where it depends on what the last message is,
no fixed setting of a server is right.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ '<think>' ~ m.reasoning_content ~ '</think>' if m.reasoning_content }}
{{- text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{{- '<think>' if messages[-1].role == 'user' }}{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ '<think>' ~ m.reasoning_content ~ '</think>' if m.reasoning_content }}
{{- text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.sights import at_end
from chatlint.rules.thoughts import start_state
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from chatlint.conversation import JSON
    from chatlint.parse.formats import OutputFormat
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_QUESTIONS = (("a question", "roles/user"), ("a second question", "roles/user-assistant-user"))
_RESULT = ("a tool result", "calls/one-result")
_SAID = {"open": "inside its reasoning", "closed": "behind its reasoning", "none": "before any reasoning"}


class _Start(NamedTuple):
    """Where the model starts after one kind of message."""

    kind: str
    state: str
    seen: Observation


@rule("CT502", severity=Severity.INFO, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    output = subject.format
    if output is None or output.reasoning is None or not chats(subject):
        return
    varying = [
        cause
        for switches in ({}, *_switches(output))
        if (cause := _varying(_starts(subject, output, switches), switches))
    ]
    yield from varying[:1]
    if not varying:
        yield from _stated(subject, output)


def _switches(output: OutputFormat) -> list[Mapping[str, JSON]]:
    """Settings of one switch that change where the model starts, one for each place."""
    prompt = output.generation_prompt
    other = [one for one in prompt.by_switch if one.reasoning is not prompt.reasoning]
    return list({one.reasoning: one.switches for one in reversed(other)}.values())


def _starts(subject: Subject, output: OutputFormat, switches: Mapping[str, JSON]) -> list[_Start]:
    way = supported(subject)
    asked = [*_QUESTIONS[: 1 if switches else 2], *([_RESULT] if way is not None else [])]
    seen = [
        (kind, subject.see(probe, (way or {}) if (kind, probe) == _RESULT else {}, switches=switches))
        for kind, probe in asked
    ]
    return [_Start(kind, start_state(output, one), one) for kind, one in seen if one.prompt]


def _varying(starts: list[_Start], switches: Mapping[str, JSON]) -> Cause | None:
    """Starts inside the reasoning after some messages and outside after others."""
    inside = [start for start in starts if start.state == "open"]
    outside = [start for start in starts if start.state != "open"]
    if not inside or not outside:
        return None
    when = f" with {_spelled(switches)}" if switches else ""
    return Cause(
        key="varies",
        message=f"the model starts inside its reasoning after {_kinds(inside)}, and "
        f"{_SAID[outside[0].state]} after {_kinds(outside)}{when}",
        consequence="A parser that is told once where the model starts files answers as reasoning, or the "
        "reverse.",
        sights=tuple(at_end(start.seen, f"after {start.kind}") for start in (*outside, *inside)),
        severity=Severity.WARNING,
        fix="Open the reasoning whatever the last message is, or never.",
    )


def _stated(subject: Subject, output: OutputFormat) -> Iterator[Cause]:
    prompt = output.generation_prompt
    ways = {_spelled(one.switches): one.reasoning for one in prompt.by_switch}
    others = [f"{_SAID[state]} with {name}" for name, state in ways.items() if state is not prompt.reasoning]
    if prompt.reasoning == "none" and not others:
        return
    yield Cause(
        key="state",
        message=f"the model starts {'; '.join((_SAID[prompt.reasoning], *others))}",
        consequence="A parser has to know: inside, the model writes no opening mark.",
        sights=(at_end(subject.see("roles/user"), "the generation prompt"),),
    )


def _kinds(starts: list[_Start]) -> str:
    return " and ".join(start.kind for start in starts)


def _spelled(switches: Mapping[str, JSON]) -> str:
    return ", ".join(f"{name}={json.dumps(value)}" for name, value in switches.items())
