"""A GGUF declares an end of turn that the template does not write.

## What it does
Compares the tokens that the file declares as end of turn and end of message with the marks that stand behind
an answer and behind a tool call.

## Why is this bad
What runs the file waits for the declared token, and the model has learned to write another. llama.cpp also
stops at marks that it knows by their text; others, and marks that it does not know, run on.

## Example
With a GGUF whose end of turn is another token:
```json tokenizer.json
{"eos": "</s>", "adds_bos": false, "end_of_turn": "<|eot|>",
 "added_tokens": ["</s>", "<|eot|>", "<|over|>", "<|user|>", "<|assistant|>"]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|eot|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Set `tokenizer.ggml.eot_token_id` (`eom_token_id` for what follows a call) to the mark of the template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.ends import ANSWER, End, ends
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject


@rule("CT613", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    tokenizer = subject.package.tokenizer
    declared = {token for token in (tokenizer.end_of_turn, tokenizer.end_of_message) if token}
    if not declared or not chats(subject):
        return
    for end in ends(subject):
        wanted = tokenizer.end_of_turn if end.after == ANSWER else tokenizer.end_of_message
        if wanted and declared.isdisjoint(end.marks):
            yield _another(end, wanted, declares_eos=tokenizer.eos in end.marks)


def _another(end: End, wanted: str, *, declares_eos: bool) -> Cause:
    """Where the mark is the end of sequence it is a stop all the same."""
    key = "eot_token_id" if end.after == ANSWER else "eom_token_id"
    return Cause(
        key=f"{end.after}: {wanted}",
        message=f"after {end.after} stands {end.marks[0]!r}, "
        f"and the file declares {wanted!r} for that ({key})",
        consequence="What waits for the declared token does not see the turn end."
        if not declares_eos
        else "The mark is the end of sequence, so generation ends; the declared token is never seen.",
        sights=(end.sight,),
        severity=Severity.INFO if declares_eos else None,
        fix=f"Set `tokenizer.ggml.{key}` to the id of {end.marks[0]!r}.",
    )
