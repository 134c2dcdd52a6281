"""The template reaches for Python's inside.

## What it does
Finds attributes and globals that lead out of Jinja's sandbox: names with two underscores, also as `['…']`,
in `attr` filters, in format strings and put together from pieces; frames of functions; `cycler`, `joiner`,
`lipsum`, `self`, `request`.

## Why is this bad
No chat template needs them, and exploits do: where an engine renders without the sandbox, or with a hole in
it, such a template runs any code on the server as soon as it is loaded.

## Example
```jinja bad
{{ cycler.__init__.__globals__.os if false }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Do not use the template, and tell the place that you have it from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_SHOWN = 6


@rule("CT902", severity=Severity.ERROR, needs=Stage.TEXT)
def check(subject: Subject) -> Iterator[Cause]:
    found = subject.syntax.escapes
    if not found:
        return
    names = list(dict.fromkeys(use.name for use in found))
    more = " …" if len(names) > _SHOWN else ""
    yield Cause(
        key="escape",
        message=f"reaches for {', '.join(f'`{name}`' for name in names[:_SHOWN])}{more}",
        consequence="Where the sandbox is missing or has a hole, loading the model runs code on the server.",
        line=found[0].line,
        fix="Remove it: no chat template needs it.",
    )
