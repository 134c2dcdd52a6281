"""The template writes marks that look like special tokens, and the tokenizer does not know them.

## What it does
Collects what looks like a special token in the template's own text (`<|…|>`, and the marks of turns), and
looks each up among the tokens that the tokenizer's files list.

## Why is this bad
A mark that is no token is cut into pieces of ordinary text. If the model was trained with one token there, it
has never seen the pieces: most often the template belongs to another model. And no engine can stop at it.

## Example
With another model's tokenizer:
```json tokenizer.json
{"bos": "<s>", "eos": "</s>", "adds_bos": false, "added_tokens": ["<s>", "</s>"]}
```
```jinja bad
{% for m in messages %}<|turn_{{ m.role }}|>{{ m.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}<|turn_assistant|>{% endif %}
```
```jinja good
{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}
```

## Fix
Use the template that belongs to the tokenizer, or add the marks to the tokenizer as special tokens.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, NotEvaluated, Sight
from chatlint.rules.ends import PIPED, TAG, written
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PROBES = ("roles/system-user", "roles/user", "roles/user-assistant-user", "tools/given")
_SHOWN = 6


@rule("CT605", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    sure = _unknown(subject, PIPED)
    if sure:
        yield _cause(sure, Confidence.HIGH)
        return
    turns = _of_turns(subject)
    found = {mark: sight for mark, sight in _unknown(subject, TAG).items() if mark in turns}
    if found:
        yield _cause(found, Confidence.MEDIUM)


def _unknown(subject: Subject, pattern: re.Pattern[str]) -> dict[str, Sight]:
    """Marks in the template's own text that are no tokens, and where each was first seen."""
    if not subject.package.lists_tokens:
        raise NotEvaluated("no tokenizer file lists all added tokens")
    found: dict[str, Sight] = {}
    for seen in _observations(subject):
        for match in pattern.finditer(written(seen)):
            mark = match.group()
            if mark not in found and subject.package.is_token(mark) is False:
                found[mark] = Sight(seen, match.start(), match.end(), "no token")
    return found


def _observations(subject: Subject) -> Iterator[Observation]:
    for probe in _PROBES:
        yield subject.see(probe)
    way = supported(subject)
    if way is not None:
        yield subject.see("calls/one-result", way)


def _of_turns(subject: Subject) -> str:
    """The text of the marks between which turns stand: other tags may be words of the format."""
    output = subject.format
    return " ".join((output.header, *output.end_of_turn, *output.end_of_message)) if output else ""


def _cause(found: dict[str, Sight], confidence: Confidence) -> Cause:
    marks = list(found)
    more = f" and {len(marks) - _SHOWN} more" if len(marks) > _SHOWN else ""
    several = len(marks) > 1
    return Cause(
        key=" ".join(sorted(marks)[:_SHOWN]),
        message=f"{', '.join(map(repr, marks[:_SHOWN]))}{more} "
        f"{'are no tokens' if several else 'is no token'} of this tokenizer",
        consequence="They are cut into pieces of text; a model trained with tokens there does not know them."
        if several
        else "It is cut into pieces of text; a model trained with a token there does not know them.",
        sights=tuple(found.values()),
        confidence=confidence,
        fix="Use the template that belongs to this tokenizer.",
    )
