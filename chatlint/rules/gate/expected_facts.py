"""The template does something else than the report that it is held to.

## What it does
Compares capabilities, output format, stops, switches and flags with those of a saved report (`expect =
"report.json"`).

## Why is this bad
Servers, parsers and training were set up for what the report says. A template that is edited upstream changes
it without a word.

## Example
```json expected
{"capabilities": {"system": {"support": "yes"}, "tools": {"support": "no"}}}
```
```jinja bad
{%- for m in messages %}{% if m.role != 'system' %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
If the change is right, save the report anew: `chatlint check TARGET --format json > report.json`.
"""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause, NotEvaluated
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chatlint.conversation import JSON
    from chatlint.facts import FactChange
    from chatlint.rules.subject import Subject

_SHOWN = 3
"""Changes of a part that are spelled out."""
_LONGEST = 60
_FROM_FORMAT = frozenset(("serving", "round_trips"))
"""Parts that change when the format does: the same cause."""
_PLURAL = frozenset(("capabilities", "switches", "stops", "limits", "round_trips", "templates"))


@rule("CT122", severity=Severity.ERROR, needs=Stage.REPORT)
def check(subject: Subject) -> Iterator[Cause]:
    drift = subject.drift
    if drift is None:
        return
    if drift.unknown:
        raise NotEvaluated(f"{drift.file} says nothing about this target")
    parts = {change.part for change in drift.changes}
    derived = _FROM_FORMAT if "format" in parts else frozenset()
    for part, changes in groupby(drift.changes, key=lambda change: change.part):
        if part in derived:
            continue
        yield _cause(part, tuple(changes), drift.file, same_text=drift.same_text)


def _cause(part: str, changes: Sequence[FactChange], file: str, *, same_text: bool) -> Cause:
    more = f", and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    whole = "the template itself is the same: chatlint, the host or other files are not"
    return Cause(
        key=part,
        message=f"{part.replace('_', ' ')} differ{'' if part in _PLURAL else 's'} from {file}: "
        + "; ".join(map(_change, changes[:_SHOWN]))
        + more,
        consequence="What was set up for the expected facts may not fit any more"
        + (f" ({whole})." if same_text else "."),
        fix="If it is right, save the report anew; `chatlint diff` shows what prompts changed.",
    )


def _change(change: FactChange) -> str:
    path = change.path.replace("/", " › ")
    return f"{path or 'all'} {_value(change.first)} → {_value(change.second)}"


def _value(value: JSON) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…") or '""'
