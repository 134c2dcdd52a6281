"""The template changes its input.

## What it does
Compares messages, tools and documents before and after each render, and looks for calls of methods that
change a list or an object (`append`, `pop`, `update` …).

## Why is this bad
The sandbox of transformers refuses such calls, so the request fails when the line runs. Engines that allow
them change the caller's conversation: the next render sees another one.

## Example
```jinja bad
{% if messages[0].role == 'user' and messages.append({'role': 'user', 'content': ''}) %}{% endif %}
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
A new list is made with `+`:
```jinja good
{% set all = messages + [] %}
{% for m in all %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause, Gathering, Sight
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_CHANGING = frozenset(
    {
        "append",
        "clear",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    }
)
"""What jinja2's ImmutableSandboxedEnvironment refuses on lists and dicts (sandbox.py, `_mutable_spec`)."""
_REFUSED = regex(r"access to attribute '(\w+)' of '\w+' object is unsafe")
_REFUSAL = "The request fails here in transformers; engines that allow it change the caller's conversation."
_FIX = "Build a new value: `list + [item]`, a namespace, or a `set` block."


@rule("CT202", severity=Severity.ERROR, needs=Stage.OBSERVATIONS)
def check(subject: Subject) -> Iterator[Cause]:
    refused, lines = Gathering(), {}
    for observation in subject.trace.observations:
        for pointer in observation.mutated[:1]:
            yield _changed(Sight(observation), pointer)
        failure = observation.failure
        match = _REFUSED.search(failure.message) if failure else None
        if failure and match and match.group(1) in _CHANGING:
            lines[failure.line] = match.group(1)
            refused.add(f"{match.group(1)} line {failure.line}", Sight(observation))
    for key, sights in refused:
        name = key.split()[0]
        yield Cause(f"refused {name}", f"`{name}` changes a list or an object", _REFUSAL, sights, fix=_FIX)
    for use in subject.syntax.methods:
        if use.name in _CHANGING and use.line not in lines:
            yield Cause(
                key=f"call of {use.name}",
                message=f"`{use.name}` changes a list or an object (no case reached this line)",
                consequence=_REFUSAL,
                line=use.line,
                severity=None if use.places else Severity.WARNING,
                confidence=Confidence.MEDIUM,
                fix=_FIX,
            )


def _changed(sight: Sight, pointer: str) -> Cause:
    return Cause(
        key="mutated",
        message=f"rendering changes the input at {pointer}",
        consequence="The next render of the same conversation sees another one.",
        sights=(sight,),
        fix=_FIX,
    )
