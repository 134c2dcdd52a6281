"""The generation prompt ends with a space after ordinary text.

## What it does
Looks at the last characters of what the template adds for the model to answer.

## Why is this bad
Tokenizers join a space to the word that follows it. A space at the prompt's end is a token of its own, which
the model has never seen before an answer's first word: answers begin with odd tokens, or with a second space.

## Example
```jinja bad
{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}
```
```jinja good
{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}
```

## Fix
End the generation prompt where the word does: `{% endif -%}` or without the space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PROBES = ("roles/user", "roles/system-user", "roles/user-assistant-user")


@rule("CT607", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    seen = [one for one in map(subject.see, _PROBES) if _ends_in_space(subject, one)]
    if seen:
        prompt = _added(subject, seen[0])
        yield Cause(
            key="space",
            message=f"the generation prompt {prompt[-40:]!r} ends with a space",
            consequence="The answer's first word is cut into tokens as in no text the model was trained on.",
            sights=tuple(Sight(one, len(one.text.rstrip(" ")), len(one.text), "here") for one in seen),
            fix="Leave the space out.",
        )


def _ends_in_space(subject: Subject, seen: Observation) -> bool:
    """Only behind text: after a marker a space is no word's beginning."""
    text = seen.text.rstrip(" ")
    return text != seen.text and bool(_added(subject, seen).strip()) and text[-1:] not in (">", "]", "\n", "")


def _added(subject: Subject, seen: Observation) -> str:
    """What the generation prompt adds; "" where it adds nothing."""
    without = subject.see(seen.case.probe, generation="off")
    return seen.text[len(without.text) :] if seen.text.startswith(without.text) else ""
