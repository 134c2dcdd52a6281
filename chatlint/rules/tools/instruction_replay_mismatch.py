"""The prompt asks for tool calls between other marks than those in which it repeats them.

## What it does
Looks in the template's own instructions for an example of a call (`<call>{"name": …, "arguments": …}`), and
compares the tag before it with the tag before a call in the history.

## Why is this bad
A model that is told one form and shown another in its own history writes either. Parsers are made for one.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}
For each call write <function_call>{"name": <name>, "arguments": <object>}</function_call><|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{"name": "{{ c.function.name }}", "arguments": {{ a if a is string else a | tojson }}}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}
For each call write <call>{"name": <name>, "arguments": <object>}</call><|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{"name": "{{ c.function.name }}", "arguments": {{ a if a is string else a | tojson }}}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.calls import FUNCTION, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.ends import written
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.sights import bounds
from chatlint.rules.thoughts import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.parse.formats import ToolCalls
    from chatlint.rules.subject import Subject

_EXAMPLE = regex(
    r"(?P<tag><[^<>\s/][^<>\n\0]{0,60}>|\[[A-Z_]{2,30}\])\s*\[?\s*"
    r"\{[^{}\0]{0,60}[\"'](?:name|tool_name)[\"']\s*:[^\0]{1,200}?[\"'](?:arguments|parameters)[\"']"
)
"""A tag, and behind it the skeleton of a call with nothing in it that somebody said."""


@rule("CT414", severity=Severity.WARNING, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    calls = subject.format.tool_calls if subject.format else None
    way = supported(subject)
    if calls is None or way is None:
        return
    seen = subject.see("calls/one", way, generation="off")
    call = bounds(seen, FUNCTION)
    told = written(seen)[: call[0]] if call else ""
    example = _EXAMPLE.search(told)
    if example is None:
        return
    repeated = _tags(calls)
    # the rest of the example, and what is told around it, may name the marks as well
    told = told[: told.rfind(repeated[0])] if repeated else told
    if example["tag"] in repeated or any(tag in told for tag in repeated):
        return
    form = f"between {repeated[0]!r} and its end" if repeated else "without a tag"
    yield Cause(
        key=f"{example['tag']} {' '.join(repeated)}",
        message=f"the prompt asks for calls behind {example['tag']!r}, and repeats them {form}",
        consequence="The model is shown two forms of a call; a parser reads one of them.",
        sights=(Sight(seen, *example.span("tag"), "what is asked for"),),
        confidence=Confidence.LOW,
        fix="Let the instructions show a call as the history does.",
    )


def _tags(calls: ToolCalls) -> tuple[str, ...]:
    """The tags in front of a call."""
    from chatlint.infer.markers import marks

    return marks(plain(calls.section_start) + plain(calls.call_start))
