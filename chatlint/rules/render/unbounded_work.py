"""Rendering takes unbounded time, memory or output.

## What it does
Bounds every render (loop iterations and macro calls, length of the prompt and of texts on the way to it,
nesting) and looks for constants that ask for absurd work: a `range` over millions, `'x' * 10**10`,
`9**(9**9)`.

## Why is this bad
One request can hang or exhaust the server. The size of a constant power is paid when the template is
compiled, even in a branch that never runs.

## Example
```jinja bad
{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause, Gathering, Sight, failure_key
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_CONSEQUENCE = "One request can hang the server or exhaust its memory."


@rule("CT201", severity=Severity.ERROR, needs=Stage.OBSERVATIONS)
def check(subject: Subject) -> Iterator[Cause]:
    from chatlint.render.rendered import FailureKind

    subject.see("roles/user")
    hit = Gathering()
    for observation in subject.trace.failed:
        failure = observation.failure
        if failure and failure.kind is FailureKind.BOUND and failure.exception:
            hit.add(failure_key(failure), Sight(observation))
    for key, sights in hit:
        failure = sights[0].observation.failure
        message = failure.message if failure else key
        lasting = key.rpartition(" @")[0]  # a line moves
        yield Cause(lasting, f"hits a bound: {message}", _CONSEQUENCE, sights)
    for work in () if hit else subject.syntax.work:
        yield Cause(
            key=work.kind,
            message=f"a constant {work.kind} of {work.size:,}",
            consequence=_CONSEQUENCE,
            line=work.line,
            severity=Severity.WARNING,
        )
