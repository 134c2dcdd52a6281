"""The padding token is the mark that ends a turn.

## What it does
Compares the tokenizer's padding token with the mark that the template writes at the end of an assistant
turn.

## Why is this bad
Training code masks padding out of the loss by its id. Where that is the mark that ends a turn, the mark is
masked too, and the model never learns to stop.

## Example
```json tokenizer.json
{"eos": "<|over|>", "pad": "<|over|>", "adds_bos": false, "added_tokens": ["<|over|>"]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|done|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Give the tokenizer a padding token of its own, or let the mask come from positions, not from ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.ends import ends
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject


@rule("CT606", severity=Severity.INFO, profiles={"training": Severity.WARNING})
def check(subject: Subject) -> Iterator[Cause]:
    pad = subject.package.tokenizer.pad
    if not pad or not chats(subject):
        return
    for end in ends(subject):
        if end.marks[0] == pad:
            yield Cause(
                key=pad,
                message=f"{pad!r} ends {end.after} and is the padding token",
                consequence="Training that masks padding by its id masks the end of every turn.",
                sights=(end.sight,),
                fix="Set another `pad_token` before training.",
            )
            return
