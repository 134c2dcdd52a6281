"""Encoding the prompt puts an end-of-sequence token behind it.

## What it does
Looks in the tokenizer's files whether encoding a text with special tokens ends it with a token, and whether
prompts end where the model is to answer.

## Why is this bad
The model is asked to go on after the end: it has never seen an answer there. Chat servers encode without
adding tokens, but `tokenizer(prompt)` and completion endpoints do not, and llama.cpp adds the token to every
prompt of a GGUF whose `add_eos_token` is set.

## Example
With a tokenizer that adds one:
```json tokenizer.json
{"eos": "</s>", "adds_bos": false, "adds_eos": true, "added_tokens": ["</s>", "<|user|>", "<|assistant|>"]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}</s>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
With one that adds none any template is good, and so is this, which is not for chats:
```jinja good
{% for m in messages %}{{ m.content }}
{% endfor %}
```

## Fix
Encode rendered prompts with `add_special_tokens=False`; set `add_eos_token` to false, or take the token out
of the post-processor of `tokenizer.json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.bos import opening_prompts
from chatlint.rules.cause import Cause, NotEvaluated
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at_end
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject


@rule("CT609", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    tokenizer = subject.package.tokenizer
    added = tokenizer.added_after or ()
    if not chats(subject):
        return
    if tokenizer.adds_eos is tokenizer.adds_eos_before_5 is None and not added:
        raise NotEvaluated("no tokenizer file says whether encoding adds an EOS")
    if not (tokenizer.adds_eos or tokenizer.adds_eos_before_5 or added):
        return
    now = bool(tokenizer.adds_eos or added)
    token = " ".join(added) or tokenizer.eos or "an end of sequence"
    in_gguf = subject.package.tokenizer_is_gguf
    yield Cause(
        key="added behind",
        message=f"encoding the prompt puts {token!r} behind it{'' if now else ' in transformers 4'}",
        consequence="llama.cpp does so with every prompt: the model is asked to answer after the end."
        if in_gguf
        else "Chat servers are safe; `tokenizer(prompt)` and completion endpoints ask what follows the end.",
        sights=tuple(at_end(one, "the prompt ends here") for one in opening_prompts(subject)),
        severity=Severity.ERROR if in_gguf else None if now else Severity.INFO,
        fix="Set `tokenizer.ggml.add_eos_token` to false."
        if in_gguf
        else "Encode rendered prompts with add_special_tokens=False.",
    )
