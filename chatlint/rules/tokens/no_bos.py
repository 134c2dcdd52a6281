"""The prompt does not begin with a BOS token, though the tokenizer has one that belongs there.

## What it does
Looks where the BOS token stands in rendered prompts, and in the tokenizer's files whether encoding adds one.

## Why is this bad
Whoever encodes plain text gets a BOS, so the model was trained with one. Chat servers encode prompts without
adding tokens: what the template does not write is not there.

## Example
With a tokenizer that adds one:
```json tokenizer.json
{"bos": "<s>", "eos": "<|over|>", "adds_bos": true, "added_tokens": ["<s>", "<|over|>"]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Write `{{ bos_token }}` as the very first thing, outside every loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.bos import bos_of, opening_prompts
from chatlint.rules.cause import Cause, NotEvaluated, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


@rule("CT601", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    bos = bos_of(subject)
    if not bos or not chats(subject):
        return
    seen = opening_prompts(subject)
    if seen and not any(bos in one.text for one in seen):
        yield from _missing(subject, seen, bos)


def _missing(subject: Subject, seen: list[Observation], bos: str) -> Iterator[Cause]:
    tokenizer = subject.package.tokenizer
    if subject.template.special_tokens_assumed or (tokenizer.adds_bos is tokenizer.adds_bos_before_5 is None):
        raise NotEvaluated("no tokenizer file says whether encoding adds a BOS")
    if not (tokenizer.adds_bos or tokenizer.adds_bos_before_5):
        return
    where = "" if tokenizer.adds_bos else " in transformers 4"
    gguf = subject.package.tokenizer_is_gguf
    yield Cause(
        key="missing",
        message=f"no prompt has {bos!r}, which encoding a text adds{where}",
        consequence="llama.cpp adds it; servers that take the prompt as it is send none."
        if gguf
        else "vLLM, SGLang and apply_chat_template send no BOS; llama.cpp, and tokenizer(prompt), send one.",
        sights=tuple(Sight(one, 0, min(1, len(one.text)), "the prompt's beginning") for one in seen),
        severity=Severity.INFO if where or gguf else None,
        fix="If the model was trained with it, begin the template with `{{ bos_token }}`.",
    )
