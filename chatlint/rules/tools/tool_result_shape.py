"""Tool results that are a list of text parts are lost, break or print Python.

## What it does
Sends the result of a call as text, as a list of text parts and, where that is fine, as an object, and
compares what reaches the prompt.

## Why is this bad
OpenAI's API and tool servers (MCP) give results as parts. A lost result makes the model call again or
invent the answer; a printed list shows it Python.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
{% if m.role == 'tool' and text is not string %}{% set text = '' %}{% endif %}
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
{% if text is mapping %}{% set text = text | tojson %}{% endif %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.probe.reading import Notation, notation
from chatlint.records import replace
from chatlint.rules.calls import RESULT, parts_in, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.edits import Mending, joined_parts
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, at_end, content_shown, crashes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_FIX = "`{% if content is string %}{{ content }}{% else %}{% for part in content %}{{ part.text }}…`"


def _shows(seen: Observation) -> bool:
    """Whether the parts of any result are not written as text."""
    listed = parts_in(seen.case.conversation)
    return any(notation(seen, pointer) in (Notation.PYTHON, Notation.JSON) for pointer in listed)


_MENDING = Mending(
    joined_parts("content"), _shows, ("parts", ("given", "all")), "uses the value of `content`"
)


@rule("CT406", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    if way is None or not content_shown(subject.see("calls/one-result", way), RESULT):
        return
    two = subject.see("content/two-parts-result", way)
    if content_shown(two, RESULT) and notation(two, RESULT) not in (Notation.PYTHON, Notation.JSON):
        yield from _object(subject.see("results/object", way))
        return  # what takes two parts takes one
    seen = [subject.see("calls/one-result", way, parts="tool"), two]
    consequence = "Requests whose tools answer in parts (MCP servers) fail."
    for cause in crashes(subject, seen, "a tool result in parts", consequence, Severity.WARNING):
        yield replace(cause, mending=_MENDING)
    lost = [one for one in seen if one.prompt and not content_shown(one, RESULT)]
    if lost:
        yield Cause(
            key="lost",
            message="a tool result in parts is lost",
            consequence="The model does not see what its tool answered.",
            sights=tuple(at_end(one, "the result is nowhere up to here", lost=RESULT) for one in lost),
            fix=_FIX,
        )
    yield from _written(seen, Notation.PYTHON, "Python", Severity.WARNING)
    yield from _written(seen, Notation.JSON, "JSON", Severity.INFO)


def _object(seen: Observation) -> Iterator[Cause]:
    """Where parts are taken for what they are, a result that is an object may still be printed as Python. (A
    template that takes only text and parts has no place for it: OpenAI's API has none either.)"""
    if notation(seen, RESULT) is Notation.PYTHON:
        yield Cause(
            key="object",
            message="a tool result that is an object is printed as Python (`{'size': 3}`)",
            consequence="The model reads Python where every other tool answers in JSON.",
            sights=(at(seen, RESULT, "the object as Python"),),
            severity=Severity.INFO,
            fix="`{{ content if content is string else content | tojson }}`",
        )


def _written(seen: list[Observation], how: Notation, name: str, severity: Severity) -> Iterator[Cause]:
    sights: list[Sight] = [
        at(one, RESULT, f"the list as {name}") for one in seen if notation(one, RESULT) is how
    ]
    if sights:
        yield Cause(
            key=name,
            message=f"a tool result in parts is printed as {name}, brackets and all",
            consequence="The model reads the list's notation as part of the tool's answer.",
            sights=tuple(sights),
            severity=severity,
            fix=_FIX,
            mending=_MENDING,
        )
