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
from chatlint.rules.cause import failure_key
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.schemas import SHAPES, looks_inside, together
from chatlint.rules.sights import crashes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.cause import Cause
    from chatlint.rules.subject import Subject

_STANDARD = ("schema/null-default", "schema/enum-null")
_BEYOND = ("schema/null-description", "schema/null-parameters")
"""OpenAI's schema has no null there; serializers send it."""
_ALL = "schema/every-null"
_CONSEQUENCE = "Every request fails as soon as one such tool is declared."


_MILD = Severity.WARNING


@rule("CT408", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    every = (*_STANDARD, *_BEYOND)
    if not advertises(subject) or not looks_inside(subject) or together(subject, _ALL, every).prompt:
        return
    known = {failure_key(one.failure) for one in map(subject.see, SHAPES) if one.failure}
    standard = _new(subject, _STANDARD, known)
    yield from crashes(subject, standard, "null in a tool's schema", _CONSEQUENCE)
    known |= {failure_key(one.failure) for one in standard if one.failure}
    yield from crashes(
        subject, _new(subject, _BEYOND, known), "a null description or null parameters", _CONSEQUENCE, _MILD
    )


def _new(subject: Subject, probes: tuple[str, ...], known: set[str]) -> list[Observation]:
    """What breaks in another way than shapes without null do (see `schema-text-lost`), or not at all."""
    seen = [subject.see(probe) for probe in probes]
    return [one for one in seen if one.failure is None or failure_key(one.failure) not in known]
