"""An empty list of tools is not the same as no tools.

## What it does
Sends a question with `tools: []` and compares the prompt with that without tools.

## Why is this bad
Many clients and servers always send the list, empty where there is nothing in it. A template that asks
whether tools are defined, or not none, then writes the instructions for calling tools with nothing to call:
the model invents tools, and answers worse.

## Example
```jinja bad
{% if tools is not none %}<|tools|>Call one of these: {{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>Call one of these: {{ tools | tojson }}<|end|>
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

from chatlint.rules.cause import Cause, Sight
from chatlint.rules.edits import Mending, by_truth
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import declined, faulted, said
from chatlint.rules.turns import agree
from chatlint.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PROBES = ("roles/system-user", "roles/user")
_FIX = "Ask `{% if tools %}`: an empty list is false."
_SHOWN = 60


def _shows(seen: Observation) -> bool:
    return seen.case.conversation.tools is not None and not seen.case.conversation.tools


_MENDING = Mending(
    by_truth("tools"),
    _shows,
    ("tools", ("given", "ensured")),
    "asks whether `tools` is there, or not none",
)


@rule("CT416", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    if not subject.footing.mentions(r"\btools\b") or "tools" in subject.footing.variant:
        return
    probe = next((probe for probe in _PROBES if subject.see(probe).prompt), _PROBES[0])
    pairs = [(subject.see(probe), subject.see(probe, tools="ensured"))]
    failed = [empty for none, empty in pairs if none.prompt and (faulted(empty) or declined(empty))]
    differ = [
        (none, empty) for none, empty in pairs if none.prompt and empty.prompt and none.text != empty.text
    ]
    if failed:
        verb = "breaks the template" if faulted(failed[0]) else "is refused"
        yield Cause(
            key="fails",
            message=f"an empty list of tools {verb}: {said(failed[0])}",
            consequence="Requests of clients that always send `tools` fail.",
            sights=tuple(Sight(one) for one in failed),
            fix=_FIX,
            mending=_MENDING,
        )
    elif differ:
        yield Cause(
            key="differs",
            message=f"an empty list of tools changes the prompt: {_change(*differ[0])}",
            consequence="The model is told to call tools, and has none: it invents some, or answers worse.",
            sights=tuple(_sight(none, empty) for none, empty in differ),
            fix=_FIX,
            mending=_MENDING,
        )


def _sight(none: Observation, empty: Observation) -> Sight:
    """From the first character that differs: a word may begin before it, with what somebody said."""
    start, end = agree(none.text, empty.text), _changed(none.text, empty.text)[1]
    return Sight(
        empty,
        min(start, max(len(empty.text) - 1, 0)),
        max(end, min(start + 1, len(empty.text))),
        "not there without `tools`",
    )


def _changed(old: str, new: str) -> tuple[int, int]:
    """What is new in the second text: from the word with the first character that differs to the last one."""
    from chatlint.infer.markers import common_suffix

    start = agree(old, new)
    end = len(new) - len(common_suffix([old[start:], new[start:]]))
    while 0 < start < end and not new[start - 1].isspace() and new[start - 1] not in "]>)}":
        start -= 1
    return start, end


def _change(none: Observation, empty: Observation) -> str:
    start, end = _changed(none.text, empty.text)
    written = visible(empty.text[start:end].strip())
    if not written:
        return "something is left out"
    return f"{written if len(written) <= _SHOWN else written[:_SHOWN] + '…'!r} is written"
