"""After a tool call stands another mark than after an answer, and engines do not stop at it.

## What it does
Where a call is not followed by the mark that ends an answer, looks for its own mark among the tokens at which
each engine stops. Also looks for marks that end a message while the turn goes on: these must be no stops.

## Why is this bad
At a call's end the model hands over to the tool. An engine that does not stop there lets the model write the
tool's result itself. An engine that stops where the turn goes on cuts answers off after their first part.

## Example
With a tokenizer whose list of stops has the end of answers alone:
```json tokenizer.json
{"eos": "<|over|>", "adds_bos": false, "generation_config": [0],
 "added_tokens": ["<|over|>", "<|wait|>", "<|user|>", "<|assistant|>", "<|tool|>"]}
```
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}{{ '<|wait|>' if m.tool_calls else '<|over|>' }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
List the ids of both marks in `eos_token_id` of `generation_config.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.ends import CALL, ends, stop_causes, stops_too_early
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject


@rule("CT604", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    found = {end.after: end for end in ends(subject)}
    yield from stops_too_early(subject)
    call = found.pop(CALL, None)
    if call and not any(call.marks[0] in other.marks for other in found.values()):
        yield from stop_causes(subject, call)
