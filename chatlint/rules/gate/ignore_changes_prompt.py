"""A comment that asks to ignore a rule changes the prompt.

## What it does
Compares what Jinja reads with and without each `{# chatlint: ignore[rule] why #}`.

## Why is this bad
A comment ends the text before it. A tag behind it that strips white space (`{%-`) then strips nothing, and
the line break before the comment is printed. A comment of this kind is not obeyed.

## Example
```jinja bad
{%- for m in messages %}
{{- '<|' ~ m.role ~ '|>' ~ m.content ~ '<|end|>' }}
{# chatlint: ignore[prefix-break] measured, and accepted #}
{%- endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{%- for m in messages %}
{# chatlint: ignore[forged-turns] requests come from our own code #}
{{- '<|' ~ m.role ~ '|>' ~ m.content ~ '<|end|>' }}
{%- endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Where the tags around it strip white space, let the comment do so too: `{#- chatlint: ignore[rule] why -#}`.
Else put it on a line of its own behind a line that ends with a statement (`%}`), or use a baseline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject


@rule("CT124", severity=Severity.WARNING, needs=Stage.TEXT)
def check(subject: Subject) -> Iterator[Cause]:
    from chatlint.rules.ignores import ignores_in

    for ignore in ignores_in(subject.template.text):
        if not ignore.harmless:
            named = ", ".join(ignore.rules)
            yield Cause(
                key=f"ignores {named}",
                message=f"the comment that ignores {named or 'a rule'} changes the prompt, and is not obeyed",
                consequence="White space that a tag would strip without the comment reaches the model.",
                line=ignore.line,
                fix="`{#- … -#}` where the tags around it strip, too; else a line of its own behind a `%}`.",
            )
