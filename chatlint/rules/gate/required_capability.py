"""The template lacks a capability that is required of it.

## What it does
Looks at each capability that the configuration requires (`require = ["tools", "parallel_tool_calls"]`).

## Why is this bad
Whoever wrote the requirement serves the model for it, or says in its card that it is there.

## Example
```toml chatlint.toml
require = ["system"]
```
```jinja bad
{%- for m in messages %}{% if m.role != 'system' %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.records import replace
from chatlint.rules.cause import Cause, NotEvaluated, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.detect.capability import Capabilities, Capability
    from chatlint.rules.subject import Subject

_SAID = {
    "no": "is not there",
    "partial": "is there only in part",
    "raises": "is refused",
    "unknown": "could not be seen",
}


@rule("CT121", severity=Severity.ERROR, needs=Stage.OBSERVATIONS)
def check(subject: Subject) -> Iterator[Cause]:
    required = subject.settings.require if subject.settings else ()
    if required and subject.capabilities is None:
        raise NotEvaluated("no capability was looked for")
    for name in dict.fromkeys(required):
        assert subject.capabilities is not None
        cause = _missing(subject, subject.capabilities, name)
        if cause:
            yield cause


def _missing(subject: Subject, found: Capabilities, name: str) -> Cause | None:
    if name in found.chat_template_caps:
        return None if found.chat_template_caps[name] else _cause(name, "is not there")
    capability = found.capabilities.get(name)
    if capability is None:
        return _cause(name, _SAID["unknown"])
    if capability.support == "yes":
        return None
    note = f": {capability.note}" if capability.note else ""
    cause = _cause(name, f"{_SAID[capability.support]}{note}", _sights(subject, capability))
    return replace(cause, severity=Severity.WARNING) if capability.support == "partial" else cause


def _sights(subject: Subject, capability: Capability) -> tuple[Sight, ...]:
    """The cases that the answer rests on, of those that were asked."""
    seen = {one.case.id: one for one in subject.trace.observations}
    return tuple(Sight(seen[case]) for case in capability.evidence if case in seen)


def _cause(name: str, said: str, sights: tuple[Sight, ...] = ()) -> Cause:
    return Cause(
        key=name,
        message=f"{name} is required, and {said}",
        consequence="What is served on the strength of this requirement does not work.",
        sights=sights,
        fix=f"Mend the template, or take {name!r} out of `require`.",
    )
