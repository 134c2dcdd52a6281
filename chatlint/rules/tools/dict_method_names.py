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

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chatlint.conversation import value_at
from chatlint.lazy import regex
from chatlint.records import replace
from chatlint.rules.calls import ARGUMENTS, advertises, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.edits import Mending, members_in_brackets, pairs_by_filter, several
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.schemas import looks_inside, shapes, together
from chatlint.rules.sights import at, crashes
from chatlint.text import pointer_token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_METHOD = regex(r"<(?:built-in|bound) method \w+")
_SCHEMAS = ("schema/method-names", "schema/array-items")
_PROPERTIES = "/tools/0/function/parameters/properties"
_LEFT_OUT = "Leave out no parameter for its name: members of a schema stand beside `properties`, not in it."
_FIX = "Write `x['items']` for members; `x | items` or `x.items()` for the pairs."


def _shows(seen: Observation) -> bool:
    return bool(_METHOD.search(seen.text))


_MENDING = Mending(
    several(pairs_by_filter, members_in_brackets), _shows, place="names a method of a dict with a dot"
)


@rule("CT409", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    seen = [*_declared(subject), *_called(subject)]
    # these tools have parameters without a description: what that breaks is not about their names
    without = (subject.see(probe) for probe in shapes(subject))
    what = "parameters named like methods"
    for cause in crashes(subject, seen, what, "Every request with one fails.", without=without):
        yield replace(cause, mending=_MENDING, fix=_FIX)
    printed = [sight for one in seen for sight in _printed(one)]
    if printed:
        yield Cause(
            key="method printed",
            message="a method is printed where a member of the same name was meant",
            consequence="The model reads Python's inside, and not what the schema says.",
            sights=tuple(printed),
            fix=_FIX,
            mending=_MENDING,
        )
    lost = [(one, names) for one in seen if (names := _lost(one)) and not _METHOD.search(one.text)]
    if lost:
        yield _loss(lost)


def _declared(subject: Subject) -> list[Observation]:
    """Schemas with such names, where the same schema with ordinary names is shown whole."""
    usual = subject.see("tools/one")
    if not advertises(subject) or usual.prompt is None or _names_lost(usual, _PROPERTIES):
        return []
    if not looks_inside(subject):
        return []
    every = together(subject, "schema/every-method-name", _SCHEMAS)
    fine = every.prompt and not _METHOD.search(every.text) and not _names_lost(every, _PROPERTIES)
    return [every] if fine else [subject.see(probe) for probe in _SCHEMAS]


def _called(subject: Subject) -> list[Observation]:
    way = supported(subject)
    calls = subject.format.tool_calls if subject.format else None
    if way is None or (calls is not None and calls.members is None):
        return []  # what is written out as one object has all its names
    return [subject.see("arguments/method-names", way, generation="off")]


def _printed(observation: Observation) -> list[Sight]:
    found = _METHOD.finditer(observation.text)
    return [Sight(observation, match.start(), match.end(), "Python's own words") for match in found][:1]


def _lost(observation: Observation) -> list[str]:
    """Names of parameters that are not in the prompt."""
    if observation.prompt is None or observation.case.probe == "schema/array-items":
        return []
    return _names_lost(observation, _place(observation))


def _place(observation: Observation) -> str:
    return ARGUMENTS if observation.case.probe.startswith("arguments/") else _PROPERTIES


def _loss(lost: list[tuple[Observation, list[str]]]) -> Cause:
    names = dict.fromkeys(name for _, names in lost for name in names)
    return Cause(
        key="parameters lost",
        message=f"parameters named {', '.join(f'`{name}`' for name in names)} are lost",
        consequence="The model does not see them.",
        sights=tuple(at(one, _place(one), "not all of them are in here") for one, _ in lost),
        fix=_FIX if any(hasattr(dict, name) for name in names) else _LEFT_OUT,
    )


def _names_lost(observation: Observation, place: str) -> list[str]:
    """Names of members at `place` that are not printed; none where all of it is one text and shown."""
    value = value_at(observation.case.conversation, place)
    if not isinstance(value, Mapping) or observation.prompt is None:
        return []
    prompt = observation.prompt
    pointers = {name: f"{place}/{pointer_token(name)}" for name in value}
    return [
        name for name, pointer in pointers.items() if not any(prompt.inputs(pointer, below=False, key=True))
    ]
