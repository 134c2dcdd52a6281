"""Parameters named like methods of a dictionary (`items`, `keys`, `get`) are lost or break the template.

## What it does
Declares and calls tools with parameters named `items`, `keys`, `values`, `get`, `name` … and looks for each
of them.

## Why is this bad
In Jinja `x.items` is the method where `x['items']` is the member: the template prints `<built-in method
items …>` into the prompt, or breaks, for ordinary JSON Schemas (every array has `items`) and ordinary
parameter names.

## Example
```jinja bad
{% if tools %}<|tools|>{% for t in tools %}{{ t | tojson }}
{% for name, p in ((t.function.parameters or {}).properties or {}).items() if p.type == 'array' %}
{{ name }} is a list of {{ p.items }}
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
{% for name, p in ((t.function.parameters or {}).properties or {}).items() if p.type == 'array' %}
{{ name }} is a list of {{ p['items'] | tojson }}
{% endfor %}{% endfor %}<|end|>
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

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from chatlint.conversation import value_at
from chatlint.probe.reading import shown
from chatlint.rules.calls import ARGUMENTS, advertises, supported
from chatlint.rules.cause import Cause, Gathering, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, crashes
from chatlint.text import pointer_token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_METHOD = re.compile(r"<(?:built-in|bound) method \w+")
_PROPERTIES = "/tools/0/function/parameters/properties"
_FIX = "Write `x['items']` for members; `x | items` or `x.items()` for the pairs."


@rule("CT409", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    seen = [*_declared(subject), *_called(subject)]
    yield from crashes(
        subject, seen, "parameters named like methods", "One such tool makes every request fail."
    )
    faults = Gathering()
    for one in seen:
        for key, sight in _faults(one):
            faults.add(key, sight)
    for key, sights in faults:
        yield Cause(
            key=key,
            message=f"{key}: a member is read as the method of the same name",
            consequence="The model reads Python's inside, or does not see the parameter at all.",
            sights=sights,
            fix=_FIX,
        )


def _declared(subject: Subject) -> list[Observation]:
    """Schemas with such names, where the same schema with ordinary names is shown whole."""
    usual = subject.see("tools/one")
    if not advertises(subject) or not _members_shown(usual, _PROPERTIES):
        return []
    return [subject.see("schema/method-names"), subject.see("schema/array-items")]


def _called(subject: Subject) -> list[Observation]:
    way = supported(subject)
    if way is None:
        return []
    return [subject.see("arguments/method-names", way)]


def _faults(observation: Observation) -> Iterator[tuple[str, Sight]]:
    match = _METHOD.search(observation.text)
    if match:
        yield "a method is printed", Sight(observation, match.start(), match.end(), "Python's own words")
        return
    place = ARGUMENTS if observation.case.probe.startswith("arguments/") else _PROPERTIES
    if (
        observation.prompt
        and observation.case.probe != "schema/array-items"
        and not _members_shown(observation, place)
    ):
        yield "a parameter is lost", at(observation, place, "not all of them are in here")


def _members_shown(observation: Observation, place: str) -> bool:
    """Whether the name of every member at `place` is printed, or all of it as one text."""
    value = value_at(observation.case.conversation, place)
    if not isinstance(value, Mapping) or observation.prompt is None:
        return observation.prompt is not None and shown(observation, place)
    prompt = observation.prompt
    return all(any(prompt.inputs(f"{place}/{pointer_token(name)}", below=False, key=True)) for name in value)
