"""Something stands before the BOS token.

## What it does
Renders the plainest conversations and looks for text, a blank or a line break before the first BOS.

## Why is this bad
A model was trained with BOS as the first token. What stands before it is seen by no training example; and a
server that sees no BOS in front adds one, so that there are two.

## Example
```json tokenizer.json
{"bos": "<s>", "eos": "</s>", "adds_bos": false, "added_tokens": ["<s>", "</s>"]}
```
```jinja bad
{{ '\\n' + bos_token }}
{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{{ bos_token }}
{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Write `{{ bos_token }}` before anything else, and `{%- … -%}` around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.bos import bos_of, opening_prompts
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.ends import TAG, written
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_SHOWN = 40


@rule("CT310", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    bos = bos_of(subject)
    if not bos or bos in _ends(subject):  # then it is the mark between turns
        return
    late = [(one, place) for one in opening_prompts(subject) if (place := _late(written(one), bos)) > 0]
    if not late:
        return
    before = late[0][0].text[: late[0][1]]
    text = visible(before if len(before) <= _SHOWN else before[:_SHOWN] + "…")
    yield Cause(
        key="before",
        message=f"{'text' if before.strip() else 'white space'} stands before {bos!r}: {text!r}",
        consequence="No example that the model was trained on begins so; servers that miss BOS in front add "
        "a second one.",
        sights=tuple(Sight(one, 0, place, "before BOS") for one, place in late),
        fix="Write `{{ bos_token }}` once, before the loop over messages, and nowhere in it."
        if _begins_some(subject, bos)
        else "Write `{{ bos_token }}` before anything else.",
    )


def _begins_some(subject: Subject, bos: str) -> bool:
    """Whether other prompts begin with it: one more in front of all would be a second one there."""
    return any(written(one).startswith(bos) for one in subject.trace.observations if one.prompt)


def _late(text: str, bos: str) -> int:
    """Where BOS stands behind something that is not, with it, one longer beginning: `<doc><s>`."""
    place = text.find(bos)
    return 0 if place > 0 and TAG.fullmatch(text[:place]) else place


def _ends(subject: Subject) -> tuple[str, ...]:
    """What ends a turn."""
    eos = subject.template.special_tokens.get("eos_token")
    output = subject.format
    learned = output.end_of_turn if output else ()
    return (*learned, *((eos,) if isinstance(eos, str) else ()))
