"""White space in what was said is changed.

## What it does
Sends texts that begin with an indentation, hold blank lines and end with a line break, in every role, and
compares what is written with what was said.

## Why is this bad
Code, diffs and tables live by their white space. A template that trims an answer shows the model another
one than it wrote: the cached prompt ends there, an indented answer loses its indentation, and training never
shows one.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.probe.reading import Fate
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at
from chatlint.rules.spaces import fates_by_role, spaced
from chatlint.rules.turns import chats
from chatlint.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_INSIDE = frozenset({Fate.ALTERED, Fate.TRUNCATED})
_NAMES = {"user": "questions", "system": "system text", "assistant": "answers", "tool": "tool results"}
_ANSWER = "The model sees other answers than it wrote, and learns none that begins or ends with a blank."
_OTHER = "Indentations and line breaks of what was said do not reach the model."


@rule("CT314", severity=Severity.INFO)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    seen = spaced(subject)
    fates = fates_by_role(seen)
    trimmed = {role: pointer for role, (pointer, found) in fates.items() if found is Fate.TRIMMED}
    inside = {role: pointer for role, (pointer, found) in fates.items() if found in _INSIDE}
    if trimmed:
        yield _cause(seen, trimmed, "trimmed", "white space at the ends of {} is taken away")
    if inside:
        yield _cause(seen, inside, "altered", "white space inside {} is lost or changed")


def _cause(seen: Observation, roles: dict[str, str], key: str, message: str) -> Cause:
    names = [_NAMES.get(role, f"{role} messages") for role in roles]
    return Cause(
        key=f"{key}: {' '.join(roles)}",
        message=message.format(listed(names)),
        consequence=_ANSWER if "assistant" in roles else _OTHER,
        sights=tuple(at(seen, pointer, f"{role} text") for role, pointer in roles.items()),
        severity=Severity.WARNING if key == "altered" and "assistant" in roles else None,
        profiles={"training": Severity.WARNING} if "assistant" in roles else {},
    )
