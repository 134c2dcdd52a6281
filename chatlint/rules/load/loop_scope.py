"""What a loop sets is lost when the loop ends.

## What it does
Finds `set` of a name inside `for` where the name is read after the loop, and the loop itself does not read
what it has set. Every iteration of a loop in Jinja has variables of its own.

## Why is this bad
Nothing fails: what is read after the loop is the value from before it, so a text that was gathered is empty
and something that was found was never found.

## Example
```jinja bad
{% set asked = false %}
{% for m in messages %}{% if m.role == 'user' %}{% set asked = true %}{% endif %}{% endfor %}
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% if asked %}{% endif %}{% endif %}
```
A namespace keeps it:
```jinja good
{% set seen = namespace(asked=false) %}
{% for m in messages %}{% if m.role == 'user' %}{% set seen.asked = true %}{% endif %}{% endfor %}
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% if seen.asked %}{% endif %}{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.render.names import LoopSet
    from chatlint.rules.subject import Subject


@rule("CT103", severity=Severity.WARNING, needs=Stage.TEXT)
def check(subject: Subject) -> Iterator[Cause]:
    named: dict[str, LoopSet] = {}
    for lost in subject.syntax.loop_sets:
        if lost.read_line and not lost.used:
            named.setdefault(lost.name, lost)
    yield from map(_lost, named.values())


def _lost(lost: LoopSet) -> Cause:
    before = f"the value of line {lost.outer_line}" if lost.outer_line else "nothing"
    return Cause(
        key=lost.name,
        message=f"`{lost.name}` is set inside a loop and read after it on line {lost.read_line}, "
        f"where it is {before} again",
        consequence="What the loop has found or gathered does not reach the prompt, and nothing fails.",
        line=lost.line,
        fix=f"Keep it in a namespace: `set ns = namespace({lost.name}=…)`, then `set ns.{lost.name} = …`.",
    )
