"""Ids of tool calls must have a certain shape, or must be there.

## What it does
Sends a call and its result with ids of several shapes: nine letters and digits, `call_…` as OpenAI's API has
them, a uuid, and none. Reports those that the template refuses or breaks on.

## Why is this bad
Clients do not choose ids, servers do, and a conversation may have begun on another server. Requests whose ids
have the wrong shape fail on the second turn of every tool loop.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
{%- if c.id | length != 9 %}{{ raise_exception('Tool call ids must have nine characters.') }}{% endif %}
<call>{{ c.function.name }} {{ c.id }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ c.id }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, Sight, failure_key
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import declined, faulted, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PROBE = "calls/one-result"
_SHAPES = {"call": "`call_…`", "uuid": "uuids"}


@rule("CT413", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    if way is None or "ids" in way or not _reads_ids(subject):
        return
    usual, absent = (subject.see(_PROBE, way, ids=shape) for shape in ("call", "absent"))
    if _fails(usual):
        others = [usual, subject.see(_PROBE, way, ids="uuid")]
        yield _shape([one for one in others if _fails(one)])
    # that there is no id is then a shape of ids like any other
    if _fails(absent) and not (_fails(usual) and _key(absent) == _key(usual)):
        yield _absent(absent)


def _reads_ids(subject: Subject) -> bool:
    """Whether the source reads the id of a call or of a result."""
    reads = subject.syntax.reads
    return any(read.pattern.endswith(("/id", "/tool_call_id")) for read in reads)


def _fails(seen: Observation) -> bool:
    return faulted(seen) or declined(seen)


def _key(seen: Observation) -> str:
    return failure_key(seen.failure) if seen.failure else ""


def _shape(seen: list[Observation]) -> Cause:
    shapes = [_SHAPES[dict(one.case.variant)["ids"]] for one in seen]
    verb = "are refused" if declined(seen[0]) else "break the template"
    return Cause(
        key=f"shape {' '.join(shapes)}",
        message=f"ids of tool calls like {' and '.join(shapes)} {verb}: {said(seen[0])}",
        consequence="The second request of every tool loop fails on servers that make such ids.",
        sights=tuple(Sight(one) for one in seen),
        fix="Take ids of any shape, or write none.",
    )


def _absent(seen: Observation) -> Cause:
    verb = "is refused" if declined(seen) else "breaks the template"
    return Cause(
        key="absent",
        message=f"a tool call without an id {verb}: {said(seen)}",
        consequence="Data sets and clients that leave ids out fail. OpenAI's API always has them.",
        sights=(Sight(seen),),
        severity=Severity.INFO,
        fix="Write the id under `{% if call.id is defined %}`.",
    )
