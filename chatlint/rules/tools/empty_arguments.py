"""A call without arguments breaks the template, or is written as no parser reads it.

## What it does
Sends a call of a tool that takes no arguments, with `{}`, and where that is fine with an empty text and with
null, as clients store them, and compares the prompt with that of a call with arguments.

## Why is this bad
Tools without parameters are common: list, refresh, get the time. After one such call every request of the
conversation fails, or the model is shown a call that is no JSON.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
{% if not a %}{{ raise_exception('a call needs arguments') }}{% endif %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments or {} %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.calls import ARGUMENTS, FUNCTION, named, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.printed import printed_empty
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, at_end, bounds, crashes, declined, faulted, said
from chatlint.rules.trips import losses
from chatlint.rules.turns import behind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.subject import Subject

_NONE = "arguments/none"
_STORED = "Conversations of clients that store no arguments so fail from the next request on."
_FIX = "`{% set arguments = call.function.arguments or {} %}`"


@rule("CT418", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    if way is None:
        return
    usual = subject.see("calls/one", way, generation="off")
    none = subject.see(_NONE, way, generation="off")
    if usual.prompt is None:
        return
    if faulted(none) or declined(none):
        verb = "breaks the template" if faulted(none) else "is refused"
        yield Cause(
            key="fails",
            message=f"a call without arguments {verb}: {said(none)}",
            consequence="Every request fails once a tool without parameters was called.",
            sights=(Sight(none),),
            severity=Severity.ERROR,
            fix=_FIX,
        )
    elif none.prompt and not named(none):
        yield _lost(none)
    else:
        yield from _misread(subject)
        yield from _stored(subject, way, none)


def _lost(none: Observation) -> Cause:
    return Cause(
        key="lost",
        message="a call without arguments is not written at all",
        consequence="A result stands in the prompt without its call; the model calls again.",
        sights=(at_end(none, "the call is nowhere up to here", lost=FUNCTION),),
        severity=Severity.ERROR,
        fix=_FIX,
    )


def _misread(subject: Subject) -> Iterator[Cause]:
    """Written, and read back as something else."""
    lost = [
        loss
        for loss in losses(subject)
        if loss.part == "arguments" and not loss.difference.sent and loss.difference.cause != "parser"
    ]
    if lost:
        yield Cause(
            key="no value",
            message="a call without arguments is written without a value for them",
            consequence="The model learns a call that no parser reads.",
            sights=tuple(loss.sight() for loss in lost),
            fix=_FIX,
        )


def _stored(subject: Subject, way: Variant, none: Observation) -> Iterator[Cause]:
    """Arguments as clients store them where there are none: an empty text, null."""
    null = subject.see("arguments/null-arguments", way, generation="off")
    empty = subject.see("arguments/empty-text", way, generation="off") if _takes_text(subject, way) else none
    what = "arguments that are an empty text"
    yield from crashes(subject, [empty], what, _STORED, without=[none])
    # OpenAI's API has no null there: some clients do
    yield from crashes(
        subject, [null], "arguments that are null", _STORED, Severity.INFO, without=[none, empty]
    )
    if _is_hollow(empty, none):
        line, column = _left_empty(subject, empty)
        yield Cause(
            key="hollow",
            message=f"{what} leave nothing where a value must stand",
            consequence="The model is shown a call that is no JSON, and that no parser reads.",
            sights=(at(empty, f"{FUNCTION}/name", "no arguments follow"),),
            line=line,
            column=column,
            severity=Severity.INFO,
            fix=_FIX,
        )


def _left_empty(subject: Subject, empty: Observation) -> tuple[int, int]:
    """Where the empty text is printed."""
    found = bounds(empty, f"{FUNCTION}/name")
    ran = subject.trace.rendered(empty.case).lines
    if empty.prompt is None or found is None:
        return 0, 0
    return printed_empty(subject.syntax.prints, empty.prompt, ARGUMENTS, found[1], ran)


def _takes_text(subject: Subject, way: Variant) -> bool:
    """Where no text is taken for arguments, `argument-shape` says so."""
    return subject.see("calls/one-result", way, arguments="string").prompt is not None


def _is_hollow(seen: Observation, none: Observation) -> bool:
    """Whether `{}` is only missing."""
    tail, whole = behind(seen, f"{FUNCTION}/name"), behind(none, f"{FUNCTION}/name")
    return tail is not None and whole is not None and "{}" in whole and tail == whole.replace("{}", "", 1)
