"""The format has no way to write some values of arguments.

## What it does
Sends arguments with quotes, brackets, markup, line breaks, numbers as texts, and with the very mark that
closes a value, and reads the written calls back. What comes back as something else, though all of it was
written, cannot be said in this format.

## Why is this bad
Code, markup and JSON as arguments are everyday use of tools. Where a text is written without quotes or
escapes, its end is guessed: the call that arrives is not the one that was made, and nothing fails.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}
<call={{ c.function.name }}>{% for k, v in c.function.arguments.items() %}
<with={{ k }}>{{ v if v is string else v | tojson }}</with>
{%- endfor %}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call={{ c.function.name }}>{{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.trips import Loss, losses, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_OWN_MARKS = "verify/"
"""Where the value is made of the format's own marks; the other probes hold values of everyday use."""


@rule("CT702", severity=Severity.INFO, needs=Stage.ROUND_TRIPS)
def check(subject: Subject) -> Iterator[Cause]:
    found = [loss for loss in losses(subject) if loss.difference.cause == "format-ambiguous"]
    found.sort(key=lambda loss: loss.part != "argument")  # what else is read wrong behind one says less
    ordinary = [loss for loss in found if not loss.trip.case.startswith(_OWN_MARKS)]
    if ordinary:
        yield _ordinary(ordinary)
    elif found:
        yield _closed_early(found)


def _example(found: list[Loss]) -> str:
    """The first argument that is read otherwise."""
    first = found[0].difference
    return f"{spelled(first.sent)} comes back as {spelled(first.received)}"


def _ordinary(found: list[Loss]) -> Cause:
    return Cause(
        key="ordinary",
        message=f"arguments cannot be told from what stands around them: {_example(found)}",
        consequence="Calls with such values arrive as other calls, and nothing fails.",
        sights=tuple(loss.sight() for loss in found),
        severity=Severity.WARNING,
        fix="Write arguments as JSON, or every value between marks of its own.",
    )


def _closed_early(found: list[Loss]) -> Cause:
    return Cause(
        key="closing mark",
        message=f"no argument can be a text that holds the format's own marks: {_example(found)}",
        consequence="Arguments that quote the marks, as code about the format does, are cut there.",
        sights=tuple(loss.sight() for loss in found),
        fix="Write arguments as JSON, whose quotes and escapes hold any text.",
    )
