"""What ends an assistant turn is no stop token, for every engine or for some.

## What it does
Takes the mark that the template writes after an answer and looks for it among the tokens at which each engine
stops: those of `generation_config.json`, `config.json` and the tokenizer, as the engine reads them.

## Why is this bad
Where the turn's end is no stop, the model goes on after its answer and writes the next user turn, up to the
token limit. Engines read different files, so a model can end its turns in one of them and run on in another.

## Example
With a tokenizer whose end of text is another token:
```json tokenizer.json
{"eos": "<|endoftext|>", "adds_bos": false, "added_tokens": ["<|endoftext|>", "<|done|>", "<|user|>"],
 "generation_config": [0]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|done|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
List the token's id in `eos_token_id` of `generation_config.json`: `[old, new]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.ends import ANSWER, ends, stop_causes
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject


@rule("CT308", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    for end in ends(subject):
        if end.after == ANSWER:
            yield from stop_causes(subject, end)
