"""Parts of a tool's schema do not reach the prompt, or break the template.

## What it does
Declares tools with every usual kind of parameter (nested objects, arrays, enums, defaults, constants,
`anyOf`, references) and with parts left out, and looks for each word of the schema in the prompt.

## Why is this bad
The model cannot fill a parameter that it cannot see: it guesses names and values of nested objects and
enums. A schema that breaks the template makes every request fail as soon as one such tool is declared.

## Example
```jinja bad
{% if tools %}<|tools|>{% for t in tools %}{{ t.function.name }}: {{ t.function.description }}
{% for name, p in t.function.parameters.properties.items() %}- {{ name }} ({{ p.type }}): {{ p.description }}
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

import re
from typing import TYPE_CHECKING

from chatlint.probe.reading import shown
from chatlint.rules.calls import advertises
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.schemas import SHAPES, looks_inside, together
from chatlint.rules.sights import at, crashes, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_EVERY = "schema/every-kind"
_PARTS = {
    "schema/array-items": "the items of arrays",
    "schema/nested-object": "the members of nested objects",
    "schema/enum": "enumerated values",
    "schema/default": "default values",
    "schema/const": "constants",
    "schema/any-of": "the choices of anyOf",
    "schema/one-of": "the choices of oneOf",
    "schema/reference": "what a $ref names",
    "schema/constraints": "constraints",
}
_NOT_IN_EVERY = ("schema/one-of", "schema/constraints")
_WHERE = (
    (r"/items/", _PARTS["schema/array-items"]),
    (r"/properties/\w+/properties/", _PARTS["schema/nested-object"]),
    (r"/enum/", _PARTS["schema/enum"]),
    (r"/default$", _PARTS["schema/default"]),
    (r"/anyOf/", _PARTS["schema/any-of"]),
    (r"/const$", _PARTS["schema/const"]),
    (r"/\$defs/", _PARTS["schema/reference"]),
    (r"", "descriptions"),
)
"""Which part of the schema of `_EVERY` a pointer is in."""
_RARE = ("schema/boolean-schema",)
"""Forms that JSON Schema allows and hardly any tool has."""
_LOST_CONSEQUENCE = "The model cannot see what it has to fill in, and guesses."
_FAILS = "Every request fails as soon as one such tool is declared."


@rule("CT407", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    if not advertises(subject):
        return
    seen = list(_seen(subject))
    yield from crashes(subject, seen, "a tool's schema", _FAILS, Severity.ERROR)
    rare = [subject.see(probe) for probe in (_RARE if looks_inside(subject) else ())]
    yield from crashes(subject, rare, "a boolean as a schema", _FAILS, without=seen)
    lost = [(one, pointer) for one in seen for pointer in _lost(one)]
    if lost:
        yield _cause(lost)


def _seen(subject: Subject) -> Iterator[Observation]:
    """All kinds of parameter in one tool, and all shapes in one conversation; single ones where that breaks
    or loses something."""
    every = subject.see(_EVERY)
    yield every
    if every.prompt is None:
        yield from (subject.see(probe) for probe in _PARTS)
    elif _lost(every):
        yield from (subject.see(probe) for probe in _NOT_IN_EVERY)
    if looks_inside(subject):
        shapes = together(subject, "schema/every-shape", SHAPES)
        whole = shapes.prompt is not None and not _lost(shapes)
        yield from () if whole else (subject.see(probe) for probe in SHAPES)


def _lost(observation: Observation) -> list[str]:
    """Texts of the schema that are not in the prompt, structure words (`type`, `$ref`) aside."""
    if observation.prompt is None:
        return []
    tools = range(len(observation.case.conversation.tools or ()))
    found = [place for tool in tools for place in texts(observation.case.conversation, f"/tools/{tool}")]
    return [place for place in found if not _structural(place) and not shown(observation, place)]


def _structural(pointer: str) -> bool:
    return pointer.rpartition("/")[2] in ("type", "$ref", "format", "pattern") or "/required/" in pointer


def _part(observation: Observation, pointer: str) -> str:
    """What a lost text is."""
    probe = observation.case.probe
    if probe != _EVERY:
        return _PARTS.get(probe, "descriptions")
    return next(part for pattern, part in _WHERE if re.search(pattern, pointer))


def _cause(lost: list[tuple[Observation, str]]) -> Cause:
    parts = dict.fromkeys(_part(one, pointer) for one, pointer in lost)
    kinds = [part for part in _PARTS.values() if part in parts]
    names = ", ".join(kinds) or "descriptions"
    return Cause(
        key=f"lost {names}",
        message=f"parts of a tool's schema are lost: {names}",
        consequence=_LOST_CONSEQUENCE,
        sights=tuple(_sight(one, pointer) for one, pointer in lost),
        fix="Write the whole schema: `{{ tool | tojson }}`.",
    )


def _sight(observation: Observation, pointer: str) -> Sight:
    return at(observation, "/tools/0/function", f"{pointer} is not in here")
