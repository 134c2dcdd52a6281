"""The name of a called function is written only inside the call's id.

## What it does
Sends a call whose id holds the function's name (`functions.find_tide:0`) and one whose id does not, and looks
for the name in the prompt.

## Why is this bad
Ids are the server's to choose: `call_…` in OpenAI's API, uuids elsewhere. With any id that does not happen to
hold the name, the model sees that something was called and not what, and copies the id's shape into its next
call, which no parser reads.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.id }} {{ a if a is string else a | tojson }}</call>
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

from chatlint.probe.reading import shown
from chatlint.rules.calls import FUNCTION, supported
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_PROBES = ("calls/one", "calls/one-result")


@rule("CT411", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    if way is None or way.get("ids") != "named":
        return
    seen = [subject.see(probe, way, ids="given", generation="off") for probe in _PROBES]
    lost = [one for one in seen if one.prompt and not shown(one, f"{FUNCTION}/name")]
    if lost:
        yield Cause(
            key="name",
            message="the name of a called function is written only where the call's id holds it",
            consequence="With other ids the model does not see what it called, and writes such ids itself.",
            sights=tuple(at(one, "/messages/1/tool_calls/0", "no name here") for one in lost),
            fix="Write `function.name` beside the id.",
        )
