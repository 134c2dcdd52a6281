"""The prompt has other white space where the engine does not trim around tags.

## What it does
Looks for line breaks and blanks around tags that only `trim_blocks` and `lstrip_blocks` keep out of the
prompt, and renders without the two.

## Why is this bad
transformers sets both, and engines that do not (TGI, hosts that use a Jinja library as it comes) write empty
lines and indentation into every prompt: text that the model was not trained on.

## Example
```jinja bad
{% for m in messages %}
<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}
{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{%- for m in messages -%}
<|{{ m.role }}|>{{ m.content }}<|end|>{{ '\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import agree
from chatlint.rules.whereabouts import whereabouts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_PROBES = ("roles/user-assistant-user", "tools/given")


@rule("CT203", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    from chatlint.render.trimming import trimmed_lines

    lines = trimmed_lines(subject.template.text)
    if not lines:
        return
    with subject.untrimmed() as trace:
        for probe in _PROBES:
            seen = subject.see(probe)
            other = trace.ask(seen.case)
            if seen.prompt is None or other.prompt is None or other.text == seen.text:
                continue
            place = agree(seen.text, other.text)
            more = len(other.text) - len(seen.text)
            sight = Sight(other, place, min(place + 1, len(other.text)), "here it begins to differ")
            line, _ = whereabouts(subject, sight)
            yield Cause(
                key="white space",
                message=f"without `trim_blocks` and `lstrip_blocks` the prompt has {more} more "
                f"character{'s' if more > 1 else ''} of white space",
                consequence="TGI and other hosts do not set them: no prompt is as in training.",
                sights=(sight,),
                line=line or lines[0],
                fix="Begin and end tags with a minus, `{%- … -%}`, and write line breaks as strings.",
            )
            return
