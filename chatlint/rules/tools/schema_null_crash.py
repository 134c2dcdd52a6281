"""A null in a tool's schema breaks the template.

## What it does
Declares tools with `"default": null`, an enum that holds null, a null description and null parameters.

## Why is this bad
Typed languages write optional parameters so, and serializers keep unset fields as null. One such tool makes
every request fail.

## Example
```jinja bad
{% if tools %}<|tools|>{% for t in tools %}{{ t | tojson }}
{% for name, p in ((t.function.parameters or {}).properties or {}).items() if 'default' in p %}
{{ name + ' = ' + p.default }}
{% endfor %}{% endfor %}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{% for t in tools %}{{ t | tojson }}
{% endfor %}<|end|>
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

from chatlint.rules.calls import advertises
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import crashes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_STANDARD = ("schema/null-default", "schema/enum-null")
_BEYOND = ("schema/null-description", "schema/null-parameters")
"""OpenAI's schema has no null there; serializers send it."""
_CONSEQUENCE = "Every request fails as soon as one such tool is declared."


@rule("CT408", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    if not advertises(subject):
        return
    standard = [subject.see(probe) for probe in _STANDARD]
    yield from crashes(standard, "null in a tool's schema", _CONSEQUENCE)
    known = {one.failure for one in standard}
    beyond = [one for one in map(subject.see, _BEYOND) if one.failure not in known]
    yield from crashes(beyond, "a null description or null parameters", _CONSEQUENCE, Severity.WARNING)
