"""A comment asks to ignore a rule that finds nothing there.

## What it does
Looks for `{# chatlint: ignore[rule] why #}` comments that nothing was ignored for: the fault is mended, it is
elsewhere, or there is no such rule.

## Why is this bad
The comment says that something is wrong which is not, and it would hide the next finding of that rule there.

## Example
```jinja bad
{# chatlint: ignore[tool-calls-lost] this model has no tools #}
{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{# chatlint: ignore[forged-turns] requests come from our own code #}
{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Take the comment away, or move it: it holds for the tag that comes next, or, before anything else, for the
whole template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.names import heading, is_rule, near_rule
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.ignores import Ignore
    from chatlint.rules.subject import Subject


_PREFIX = regex(r"CT\d{0,2}")


@rule("CT125", severity=Severity.WARNING, needs=Stage.REPORT)
def check(subject: Subject) -> Iterator[Cause]:
    for ignore, rules in subject.unused_ignores:
        if not ignore.rules:
            yield _cause(ignore, "?", "a comment for chatlint is not understood, or is one too many")
        for name in rules:
            yield _cause(ignore, name, _said(name, ignore))


def _said(name: str, ignore: Ignore) -> str:
    if _PREFIX.fullmatch(name) or heading(name):
        return f"a comment ignores single rules, not all of {name}"
    if not is_rule(name):
        return f"there is no rule {name!r} to ignore: {near_rule(name)}"
    where = "in this template" if ignore.lines is None else f"in line {ignore.lines[0]}"
    return f"{name} finds nothing {where} that could be ignored"


def _cause(ignore: Ignore, name: str, message: str) -> Cause:
    return Cause(
        key=f"ignores {name}",
        message=message,
        consequence="Nothing is hidden by it now; what comes later would be.",
        line=ignore.line,
        fix="Take it away, or move it before what it is for."
        if ignore.rules
        else "Write `{# chatlint: ignore[rule] why #}`.",
    )
