"""White space in what was said is changed, or its words are.

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

from chatlint.conversation import value_at
from chatlint.lazy import regex
from chatlint.probe.reading import Fate
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, bounds
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
_WORDS = "The model sees something else than was said: names, code and quotations are wrong."
_BLANKS = regex(r"\s+")
_OTHER = "Indentations and line breaks of what was said do not reach the model."


@rule("CT314", severity=Severity.INFO)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    seen = spaced(subject)
    fates = fates_by_role(seen)
    trimmed = {role: pointer for role, (pointer, found) in fates.items() if found is Fate.TRIMMED}
    inside = {role: pointer for role, (pointer, found) in fates.items() if found in _INSIDE}
    words = {role: pointer for role, pointer in inside.items() if _keeps_blanks(seen, pointer)}
    blanks = {role: pointer for role, pointer in inside.items() if role not in words}
    if trimmed:
        yield _cause(seen, trimmed, "trimmed", "white space at the ends of {} is taken away")
    if blanks:
        yield _cause(seen, blanks, "altered", "white space inside {} is lost or changed")
    if words:
        yield _cause(seen, words, "words", "{} are written otherwise, not as they were said")


def _keeps_blanks(seen: Observation, pointer: str) -> bool:
    """Whether a text that was changed has its white space yet: then its words are what changed."""
    said, place = value_at(seen.case.conversation, pointer), bounds(seen, pointer)
    if place is None or not isinstance(said, str):
        return False
    return _BLANKS.findall(seen.text[slice(*place)].strip()) == _BLANKS.findall(said.strip())


def _cause(seen: Observation, roles: dict[str, str], key: str, message: str) -> Cause:
    names = [_NAMES.get(role, f"{role} messages") for role in roles]
    return Cause(
        key=f"{key}: {' '.join(roles)}",
        message=message.format(listed(names)),
        consequence=_WORDS if key == "words" else _ANSWER if "assistant" in roles else _OTHER,
        sights=tuple(at(seen, pointer, f"{role} text") for role, pointer in roles.items()),
        severity=Severity.WARNING if key != "trimmed" and "assistant" in roles else None,
        profiles={"training": Severity.WARNING} if "assistant" in roles else {},
    )
