"""The template gives other prompts than the one it is a copy of.

## What it does
Renders this template and that of `--base TARGET`, and compares the prompts: for ordinary conversations, and
where these are equal, for everything else that the template was asked.

## Why is this bad
Quantizations, fine-tunes and packaged copies keep the template of the day they were made. What was corrected
since is still wrong in them, and nobody who uses them knows.

## Example
Compared with a base that ends its turns:
```json base
"{% for m in messages %}{{ m.role }}: {{ m.content }}<end>{% endfor %}{{ 'A:' if add_generation_prompt }}"
```
```jinja bad
{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}{{ 'A:' if add_generation_prompt }}
```
```jinja good
{% for m in messages %}{{ m.role }}: {{ m.content }}<end>{% endfor %}{{ 'A:' if add_generation_prompt }}
```

## Fix
Take over the base's template, or say why this one differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause, NotEvaluated
from chatlint.rules.drift import PLAIN, TOOLS, compare
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.drift import Compared
    from chatlint.rules.subject import Subject


@rule("CT112", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    base = subject.package.base
    if base is None:
        return
    name = subject.template.name
    others = {template.name: template for template in base.templates}
    if name not in others:
        raise NotEvaluated(f"the base has no template {name!r}; it has {', '.join(others)}")
    if others[name].text == subject.template.text:
        return
    compared = compare(subject, others[name], (*PLAIN, *TOOLS))
    if compared.found:
        yield Cause(
            key="base",
            message=_message(compared),
            consequence="What was trained or tested with the one meets other prompts in the other.",
            sights=compared.sights,
            fix="Take over the base's template if the difference is not meant.",
        )


def _message(compared: Compared) -> str:
    count = f"{len(compared.found)} of {compared.asked}"
    if compared.ordinary:
        return f"the base gives other prompts for {count} conversations"
    return (
        f"the base gives the same prompts for ordinary conversations, other prompts in {count} special cases"
    )
