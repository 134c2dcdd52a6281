"""A null is printed into the prompt as `None`.

## What it does
Sends an assistant message with a call and `content: null`, reasoning that is null and arguments that are
null, and compares the prompt with that of nothing there. transformers drops null members of messages since
5.24; engines and older versions hand them on, so the rule also looks through the eyes of transformers 4.57.

## Why is this bad
Null content is how OpenAI's API sends a plain call. The model reads the word `None` as its own answer
before every call, and learns to say it.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}
<|{{ m.role }}|>
{%- if m.content is string or 'content' not in m or m.content is none %}{{ m.content }}
{%- else %}{{ m.content | map(attribute='text') | join }}{% endif %}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
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

from typing import TYPE_CHECKING, NamedTuple

from chatlint.lazy import regex
from chatlint.rules.calls import BOTH, OLDER, supported
from chatlint.rules.cause import Cause, Sight, smallest_first
from chatlint.rules.edits import Mending, with_default
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import faulted, said
from chatlint.rules.turns import agree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.probe.trace import Trace
    from chatlint.rules.subject import Subject

_NULL = regex(r"(?<!\w)None(?!\w)")
_CALLS = ("calls/one", "calls/one-result", "calls/one-followed")
_FIX = "`{{ message.content or '' }}`"


def _shows(seen: Observation) -> bool:
    null = any(message.get("content", "") is None for message in seen.case.conversation.messages)
    return null and bool(_NULL.search(seen.text))


_MENDING = Mending(
    with_default("content", "''"),
    _shows,
    ("content", ("empty", "null", "absent")),
    "uses the value of `content`",
)


class _Other(NamedTuple):
    """Null in another place than content: the probe that has it, one that has nothing there, what the source
    names where it can matter, and how severe it is."""

    what: str
    null: str
    nothing: str
    named: str
    severity: Severity


_REASONING = _Other(
    "reasoning that is null is", "reasoning/null", "roles/user-assistant", "reason|think", Severity.ERROR
)
_ARGUMENTS = _Other(  # OpenAI's API has no null there: some clients do
    "arguments that are null are", "arguments/null-arguments", "arguments/none", "", Severity.WARNING
)


@rule("CT306", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    found = list(_causes(subject, subject.trace, way)) if way is not None else []
    yield from found
    if subject.trace.settings.host == OLDER:
        yield from _others(subject, subject.trace, way)
        return
    older = subject.elsewhere(OLDER)
    if way is not None and not found:
        yield from _causes(subject, older, way)
    yield from _others(subject, older, way)


def _others(subject: Subject, trace: Trace, way: Variant | None) -> Iterator[Cause]:
    """What becomes of null in other places than content."""
    for other in (_REASONING, *((_ARGUMENTS,) if way is not None else ())):
        if not subject.footing.mentions(other.named):
            continue
        of_calls = (way or {}) if other is _ARGUMENTS else {}
        axes = {**subject.footing.variant, **of_calls, "generation": "off"}
        null, nothing = trace.look(other.null, axes), subject.trace.look(other.nothing, axes)
        sight = _printed(null, nothing)
        breaks = other is _REASONING and faulted(null) and nothing.prompt is not None
        if sight or breaks:
            yield Cause(
                key=f"{other.what} {'printed' if sight else 'breaks'}",
                message=f"{other.what} written as `None`"
                if sight
                else f"null as reasoning breaks the template: {said(null)}",
                consequence="The model reads the word as something that was said."
                if sight
                else "Requests of clients that always write the field fail.",
                sights=(sight or Sight(null),),
                severity=other.severity,
                hosts=(trace.settings.host,),
                fix="Ask `{% if value %}`, not whether it is defined.",
            )


def _causes(subject: Subject, trace: Trace, way: Variant) -> Iterator[Cause]:
    hosts = (trace.settings.host,)
    axes = {**subject.footing.variant, **way}
    pairs = [] if _fine_in_both(subject, trace, axes) else list(_pairs(trace, axes))
    printed = [sight for null, empty in pairs if (sight := _printed(null, empty))]
    broken = [null for null, empty in pairs if faulted(null) and empty.prompt]
    if printed:
        yield Cause(
            key="printed",
            message="null content beside a tool call is printed as `None`",
            consequence="The model reads `None` as what it said before its call, and learns to say it.",
            sights=smallest_first(printed),
            hosts=hosts,
            fix=_FIX,
            mending=_MENDING,
        )
    elif broken and not any(faulted(subject.see(probe, way, content="absent")) for probe in _CALLS):
        yield Cause(
            key="breaks",
            message=f"null content beside a tool call breaks the template: {said(broken[0])}",
            consequence="The second request of every agent whose calls have no text fails.",
            sights=tuple(Sight(one) for one in broken),
            hosts=hosts,
            fix=_FIX,
            mending=_MENDING,
        )


def _fine_in_both(subject: Subject, trace: Trace, way: Variant) -> bool:
    """Whether null is not printed where one conversation has calls in several places. What the subject's own
    host makes of empty text, another makes of it as well."""
    null = trace.look(BOTH, way, {"content": "null"})
    empty = subject.trace.look(BOTH, way, {"content": "empty"})
    return null.prompt is not None and empty.prompt is not None and _printed(null, empty) is None


def _pairs(trace: Trace, way: Variant) -> Iterator[tuple[Observation, Observation]]:
    """The same with null and with an empty text."""
    for probe in _CALLS:
        yield trace.look(probe, way, {"content": "null"}), trace.look(probe, way, {"content": "empty"})


def _printed(null: Observation, empty: Observation) -> Sight | None:
    """The first `None` that the empty text does not have."""
    if null.prompt is None or empty.prompt is None or null.text == empty.text:
        return None
    start = agree(null.text, empty.text)
    match = _NULL.search(null.text, max(start - 4, 0))
    if match is None or len(_NULL.findall(null.text)) <= len(_NULL.findall(empty.text)):
        return None
    return Sight(null, *match.span(), "null, as Python prints it")
