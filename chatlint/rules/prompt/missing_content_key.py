"""A message with tool calls and no content breaks the template.

## What it does
Sends an assistant message with a call and without the key `content`, or with `content: null`, which
transformers drops since 5.24.

## Why is this bad
That is how OpenAI's API and most clients send a plain call. The second request of every agent fails.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}
<|{{ m.role }}|>
{%- if m.content is string or not m.content %}{{ '' + m.content }}
{%- else %}{{ m.content | map(attribute='text') | join }}{% endif %}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
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

from chatlint.rules.calls import BOTH, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.edits import Mending, with_default
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import declined, faulted, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_MENDING = Mending(
    with_default("content", "''"),
    lambda _: False,
    ("content", ("empty", "absent")),
    "uses the value of `content`",
)
_PROBES = ("calls/one", "calls/one-result", "calls/one-followed")


@rule("CT307", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    beside_null = way is None
    if way is None and subject.syntax.reads_field("/messages/*", "tool_calls"):
        way = {}  # it may write calls only beside content that is null, which hosts leave out
    if way is None or subject.see(BOTH, way, content="absent").prompt:
        return
    pairs = [
        (subject.see(probe, way, content="absent"), subject.see(probe, way, content="empty"))
        for probe in _PROBES
    ]
    broken = [absent for absent, empty in pairs if faulted(absent) and empty.prompt]
    refused = [absent for absent, empty in pairs if declined(absent) and empty.prompt]
    if refused:
        yield Cause(
            key="refused",
            message=f"an assistant message with tool calls and no content is refused: {said(refused[0])}",
            consequence="The second request of every agent whose calls have no text fails.",
            sights=tuple(Sight(one) for one in refused),
            severity=Severity.WARNING,
            fix="Let content be missing or null where there are tool calls.",
        )
    if broken:
        yield Cause(
            key="breaks",
            message=f"an assistant message with tool calls and no content breaks: {said(broken[0])}",
            consequence="The second request of every agent whose calls have no text fails.",
            sights=tuple(Sight(one) for one in broken),
            fix="Ask for `message.tool_calls`, not for content that is null."
            if beside_null
            else "`{{ message.content or '' }}`, or test `message.content is defined`.",
            mending=None if beside_null else _MENDING,
        )
