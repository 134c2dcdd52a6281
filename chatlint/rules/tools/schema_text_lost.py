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

from typing import TYPE_CHECKING

from chatlint.probe.reading import shown
from chatlint.rules.calls import advertises
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, crashes, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

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
SHAPES = (
    "schema/type-list",
    "schema/no-type",
    "schema/no-properties",
    "schema/no-description",
    "schema/no-parameters",
    "schema/no-parameter-description",
    "schema/no-required",
    "schema/empty-properties",
    "schema/empty-schema",
    "schema/integer-enum",
    "schema/array-of-objects",
)
"""Forms of a schema that only some templates take."""
_RARE = ("schema/boolean-schema",)
"""Forms that JSON Schema allows and hardly any tool has."""
_TOOL = "/tools/0"


@rule("CT407", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    if not advertises(subject):
        return
    seen = [subject.see(probe) for probe in (*_parts(subject), *shapes(subject))]
    consequence = "Every request fails as soon as one such tool is declared."
    yield from crashes(subject, seen, "a tool's schema", consequence, Severity.ERROR)
    rare = [subject.see(probe) for probe in (_RARE if len(seen) > 1 else ())]
    yield from crashes(subject, rare, "a boolean as a schema", consequence, without=seen)
    lost = [(one, pointer) for one in seen for pointer in _lost(one)[:1]]
    if lost:
        yield _cause(lost)


def _parts(subject: Subject) -> tuple[str, ...]:
    """The single kinds of parameter; one probe with all of them where it is written whole."""
    every = subject.see("schema/every-kind")
    return tuple(_PARTS) if every.prompt is None or _lost(every) else ("schema/every-kind",)


def shapes(subject: Subject) -> tuple[str, ...]:
    """`SHAPES`, where the template looks into a tool; none where it only writes it out."""
    reads = [read.pattern for read in subject.syntax.reads if read.pattern.startswith("/tools/*/")]
    looks = any(pattern.rpartition("/")[2] not in ("function", "type", "name") for pattern in reads)
    return SHAPES if looks else ()


def _lost(observation: Observation) -> list[str]:
    """Texts of the schema that are not in the prompt, structure words (`type`, `$ref`) aside."""
    if observation.prompt is None:
        return []
    found = texts(observation.case.conversation, _TOOL)
    return [place for place in found if not _structural(place) and not shown(observation, place)]


def _structural(pointer: str) -> bool:
    return pointer.rpartition("/")[2] in ("type", "$ref", "format", "pattern") or "/required/" in pointer


def _cause(lost: list[tuple[Observation, str]]) -> Cause:
    parts = [_PARTS[one.case.probe] for one, _ in lost if one.case.probe in _PARTS]
    names = ", ".join(parts) or "descriptions"
    return Cause(
        key=f"lost {names}",
        message=f"parts of a tool's schema are lost: {names}",
        consequence="The model cannot see what it has to fill in, and guesses.",
        sights=tuple(_sight(one, pointer) for one, pointer in lost),
        fix="Write the whole schema: `{{ tool | tojson }}`.",
    )


def _sight(observation: Observation, pointer: str) -> Sight:
    return at(observation, f"{_TOOL}/function", f"{pointer} is not in here")
