"""The template named `default` cannot do what another one of the package can.

## What it does
Where a package has a template `tool_use`, asks `default` to show tools, and calls and results in a history.

## Why is this bad
transformers and llama.cpp use `tool_use` only for requests with tools. A request without any, whose history
has calls, is written by `default`; and processors and SGLang never look for another one.

## Example
Beside a template `tool_use` that writes calls:
```json named
{"tool_use": "{{ tools }}{% for m in messages %}{{ m.content }}{{ m.tool_calls }}{% endfor %}"}
```
```jinja bad
{% for m in messages %}{{ m.role }}: {{ m.content or '' }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}
```
```jinja good
{% if tools %}{{ tools | tojson }}{{ eos_token }}
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
{{ m.role }}: {{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}
```

## Fix
Let one template do both, and drop `tool_use`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.probe.reading import shown
from chatlint.rules.calls import advertises, lost_parts, supported
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at_end
from chatlint.rules.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.source.package import Template

OTHER = "tool_use"


@rule("CT113", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    other = next((one for one in subject.package.templates if one.name == OTHER), None)
    if subject.template.name != "default" or other is None:
        return
    yield from _lost_history(subject, other)
    seen = subject.see("tools/given")
    if not advertises(subject) and shown(seen, "/messages/0/content"):
        yield Cause(
            key="tools",
            message=f"`default` does not show tools, {OTHER!r} does",
            consequence="Engines that know one template (SGLang, processors) leave the tools out.",
            sights=(at_end(seen, "no tool is named up to here", lost="/tools"),),
            severity=Severity.INFO,
        )


def _lost_history(subject: Subject, other: Template) -> Iterator[Cause]:
    """Calls of earlier turns in a request that offers no tools any more."""
    from chatlint.probe.trace import Trace

    with Trace(other, subject.trace.settings, probes=subject.trace.probes) as trace:
        way = supported(Subject(subject.package, other, trace))
        if way is None:
            return
        seen = subject.see("calls/one-result", {**way, "tools": "absent"})
        lost = " and ".join(lost_parts(seen))
        if lost:
            yield Cause(
                key="history",
                message=f"`default` loses {lost} of a call in the history, {OTHER!r} shows them",
                consequence="In a request without tools the model does not see what it called before.",
                sights=(at_end(seen, f"{lost} nowhere up to here"),),
            )
