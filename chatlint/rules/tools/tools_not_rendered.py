"""Tool definitions do not reach the prompt.

## What it does
Sends a question with tools, alone, with system text and with history, and looks for the names of the tools
in each prompt.

## Why is this bad
The server answers with status 200 and the model has never heard of the tools: it invents calls, or never
calls. A template that knows tool calls but has no place for tools is an error; one that knows neither
simply has no tool support, which is only stated.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>
{% if m.tool_calls %}{% for c in m.tool_calls %}<call>{{ c.function | tojson }}</call>{% endfor %}{% endif %}
{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.probe.reading import shown
from chatlint.rules.calls import reads_calls
from chatlint.rules.cause import Cause, smallest_first
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at_end, crashes, declined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PROBES = ("tools/one", "tools/given", "tools/with-system", "tools/three-turns", "tools/five-turns")
_WIDEST = ("tools/one", "tools/given", "tools/five-turns")
"""The last has system text and several turns: where it is whole, so are the others."""
_BLIND = "The request succeeds, but the model does not know the tools: it invents calls or makes none."


@rule("CT401", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    seen = [subject.see(probe) for probe in _probes(subject)]
    yield from crashes(subject, seen, "declared tools", "Every request with tools fails.")
    hidden = [one for one in seen if one.prompt and not _all_named(one)]
    if not hidden:
        return
    if any(_all_named(one) for one in seen):
        yield _sometimes(hidden)
    elif not any(declined(one) for one in seen):
        yield _never(subject, hidden)


def _probes(subject: Subject) -> tuple[str, ...]:
    # a template that never mentions tools needs no further look
    if not subject.footing.mentions("tool|function"):
        return _PROBES[:2]
    widest = [subject.see(probe) for probe in _WIDEST]
    return _WIDEST if all(one.prompt and _all_named(one) for one in widest) else _PROBES


def _all_named(observation: Observation) -> bool:
    tools = observation.case.conversation.tools or ()
    return all(shown(observation, f"/tools/{index}/function/name") for index in range(len(tools)))


def _sometimes(hidden: list[Observation]) -> Cause:
    names = ", ".join(one.case.probe for one in hidden)
    return Cause(
        key="sometimes",
        message=f"declared tools are lost in some conversations ({names})",
        consequence=_BLIND,
        sights=tuple(at_end(one, "no tool is named up to here", lost="/tools") for one in hidden),
    )


def _never(subject: Subject, hidden: list[Observation]) -> Cause:
    other = _other_variable(subject, hidden[0])
    sights = smallest_first(at_end(one, "no tool is named up to here", lost="/tools") for one in hidden)
    if len(hidden) > 2 and shown(subject.see("tools/bare"), "/tools/0/name"):
        return Cause(
            key="bare",
            message="tools are read as bare functions, not in OpenAI's shape",
            consequence=_BLIND,
            sights=sights,
            fix="Read `tool.function` where there is one: `{% set tool = tool.function or tool %}`.",
        )
    if other:
        return Cause(
            key="other variable",
            message=f"tools reach the prompt only as the variable `{other}`; `tools` is not read",
            consequence="Servers pass `tools`: " + _BLIND[0].lower() + _BLIND[1:],
            sights=sights,
            severity=Severity.WARNING,
            fix=f"Read `tools`: `{{% set {other} = {other} or tools %}}`.",
        )
    if reads_calls(subject):
        lines = subject.syntax.reads_of("/messages/*/tool_calls")
        return Cause(
            key="never",
            message="declared tools never reach the prompt, though the template knows tool calls or results",
            consequence=_BLIND,
            sights=sights,
            line=lines[0] if lines else _role_line(subject),
            fix="Write the definitions into the prompt: `{% if tools %}{{ tools | tojson }}{% endif %}`.",
        )
    return Cause(
        key="no tools",
        message="no tool support: declared tools are ignored",
        consequence="Requests with tools are answered as if there were none.",
        sights=sights,
        severity=Severity.INFO,
    )


def _role_line(subject: Subject) -> int:
    return next((literal.line for literal in subject.syntax.roles if literal.role == "tool"), 0)


def _other_variable(subject: Subject, hidden: Observation) -> str:
    """A template kwarg that takes the definitions instead, as a list or as JSON text."""
    import json

    tools = list(hidden.case.conversation.tools or ())
    for name in subject.syntax.switches:
        if "tool" in name or "function" in name:
            for value in (tools, json.dumps(tools)):
                seen = subject.see("roles/system-user", switches={name: value})
                if seen.prompt and seen.prompt.shows(f"/{name}"):
                    return name
    return ""
