"""Rendering takes unbounded time, memory or output.

## What it does
Bounds every render (loop iterations and macro calls, length of the prompt and of texts on the way to it,
nesting) and looks for constants that ask for absurd work: a `range` over millions, `'x' * 10**10`,
`9**(9**9)`, a macro that calls itself on every path.

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
from chatlint.rules.sights import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_CONSEQUENCE = "One request can hang the server or exhaust its memory."


@rule("CT201", severity=Severity.ERROR, needs=Stage.OBSERVATIONS, profiles={"security": Severity.ERROR})
def check(subject: Subject) -> Iterator[Cause]:
    from chatlint.render.rendered import FailureKind

    subject.see("roles/user")
    hit, endless = Gathering(), Gathering()
    for observation in subject.trace.failed:
        failure = observation.failure
        if failure and failure.kind is FailureKind.BOUND and failure.exception:
            hit.add(failure_key(failure), Sight(observation))
        elif failure and failure.exception == ENDLESS:
            endless.add(ENDLESS, Sight(observation))
    for key, sights in hit:
        failure = sights[0].observation.failure
        message = failure.message if failure else key
        lasting = key.rpartition(" @")[0]  # a line moves
        yield Cause(lasting, f"hits a bound: {message}", _CONSEQUENCE, sights)
    yield from _recursion(subject, tuple(endless))
    for work in () if hit else subject.syntax.work:
        yield Cause(
            key=work.kind,
            message=f"a constant {work.kind} of {work.size:,}",
            consequence=_CONSEQUENCE,
            line=work.line,
            severity=Severity.WARNING,
        )


def _recursion(subject: Subject, seen: tuple[tuple[str, tuple[Sight, ...]], ...]) -> Iterator[Cause]:
    """Macros without end: those that a case ran into, and those that are so on every path."""
    macros = subject.syntax.endless or subject.syntax.recursive
    names = " or ".join(f"`{macro.name}`" for macro in macros[:2])
    for _, sights in seen:
        yield Cause(
            key="recursion",
            message=f"a macro calls itself without end{f': {names}' if names else ''} (RecursionError)",
            consequence="The request fails when Python's stack is used up, and other engines may crash.",
            sights=sights,
            line=macros[0].line if macros else 0,
            fix="Let the recursion end: take what is one level down, and test what it is.",
        )
    for macro in () if seen else subject.syntax.endless:
        yield Cause(
            key=f"recursion of {macro.name}",
            message=f"the macro `{macro.name}` calls itself on every path",
            consequence="The request fails where it is called.",
            line=macro.line,
            severity=Severity.WARNING,
        )
