"""The variables of its own that a template reads, what leaving them unset means, and what they change.

## What it does
Lists every variable that the template reads and a host does not pass, with the value that equals leaving it
unset, the values that were tried, and what they change in the prompt.

## Why is this bad
It is not. These names are the template's interface (`chat_template_kwargs` of a request), and a client that
misspells one gets no error.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% if not brief %}At length: {% endif %}{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.limits import SWITCHES
from chatlint.rules.cause import Cause, NotEvaluated
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.detect.capability import Switch
    from chatlint.rules.subject import Subject


@rule("CT104", severity=Severity.INFO)
def check(subject: Subject) -> Iterator[Cause]:
    switches = subject.switches
    if not switches:
        return
    lines = {variable.name: variable.lines[0] for variable in subject.syntax.variables}
    first = min(lines.get(switch.name, 0) for switch in switches)
    count = "a variable" if len(switches) == 1 else f"{len(switches)} variables"
    yield Cause(
        key="variables",
        message=f"reads {count} of its own: {'; '.join(map(_described, switches))}",
        consequence="Callers set them by these names; another name is ignored without a word.",
        line=first,
    )
    if len(subject.syntax.switches) > SWITCHES:
        raise NotEvaluated(f"of {len(subject.syntax.switches)} variables the first {SWITCHES} are tried")


def _described(switch: Switch) -> str:
    from chatlint.detect.switches import UNSET

    unset = "" if switch.default == UNSET else f", {switch.default} if unset"
    return f"`{switch.name}` ({_values(switch)}{unset}: {_effect(switch)})"


def _values(switch: Switch) -> str:
    from chatlint.detect.kwargs import NEEDLE

    if switch.values and all(value.isdecimal() for value in switch.values):
        return "a number"
    values = ["any text" if value == f'"{NEEDLE}"' else value for value in switch.values]
    return " or ".join(values) or "any value"


def _effect(switch: Switch) -> str:
    if not switch.values:
        return "not tried"
    if not switch.effect:
        return "no change seen"
    if switch.effect in ("refuses", "accepts"):
        return f"{switch.effect} conversations"
    return f"changes {switch.effect}"
