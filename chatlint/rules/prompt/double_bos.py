"""The prompt begins with two BOS tokens, or will when it is encoded.

## What it does
Counts the BOS tokens at the start of the prompt and looks in the tokenizer's files whether encoding adds one.

## Why is this bad
Models are trained with one BOS; a second costs quality, silently. Chat servers encode without adding
tokens, but
`tokenizer(prompt)`, completion endpoints and training scripts add one to what the template wrote.

## Example
With a tokenizer that adds none:
```json tokenizer.json
{"bos": "<s>", "eos": "<|end|>", "adds_bos": false, "added_tokens": ["<s>", "<|end|>"]}
```
```jinja bad
{{ bos_token }}{% for m in messages %}{{ bos_token if loop.first }}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Encode rendered prompts with `add_special_tokens=False`, or write no BOS in the template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.bos import bos_of, opening_prompts
from chatlint.rules.cause import Cause, NotEvaluated, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


@rule("CT305", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    bos = bos_of(subject)
    if not bos:
        return
    seen = opening_prompts(subject)
    twice = [one for one in seen if _count(one, bos) > 1]
    if twice:
        yield _written_twice(twice, bos)
        return
    once = [one for one in seen if _count(one, bos) == 1]
    if not once:
        return
    if subject.template.special_tokens_assumed:
        raise NotEvaluated(
            "the special tokens are assumed: no tokenizer file says whether encoding adds a BOS"
        )
    tokenizer = subject.package.tokenizer
    if tokenizer.adds_bos is None and tokenizer.adds_bos_before_5 is None:
        raise NotEvaluated("no tokenizer file says whether encoding adds a BOS")
    if tokenizer.adds_bos or tokenizer.adds_bos_before_5:
        if subject.package.tokenizer_is_gguf:
            yield _added_by_llama_cpp(once, bos)
        else:
            yield _added_again(once, bos, "" if tokenizer.adds_bos else " in transformers 4")


def _count(observation: Observation, bos: str) -> int:
    count, text = 0, observation.text
    while text.startswith(bos, count * len(bos)):
        count += 1
    return count


def _written_twice(seen: list[Observation], bos: str) -> Cause:
    return Cause(
        key="written twice",
        message=f"the template writes {bos!r} {_count(seen[0], bos)} times at the start",
        consequence="Every prompt begins with more than one BOS, which costs quality.",
        sights=tuple(Sight(one, len(bos), 2 * len(bos), "a second BOS") for one in seen),
        severity=Severity.ERROR,
        fix="Write `{{ bos_token }}` once, before the loop.",
    )


def _added_by_llama_cpp(seen: list[Observation], bos: str) -> Cause:
    """llama.cpp of 2026-10, `common/chat.cpp`: where a BOS is asked for, the template's is taken away."""
    return Cause(
        key="added again",
        message=f"the template writes {bos!r}, and the file has llama.cpp add another",
        consequence="Chat in llama.cpp takes one away; a prompt that is rendered elsewhere gets two.",
        sights=tuple(Sight(one, 0, len(bos), "the template's own BOS") for one in seen),
        severity=Severity.INFO,
        fix="Send such prompts without the BOS.",
    )


def _added_again(seen: list[Observation], bos: str, where: str) -> Cause:
    return Cause(
        key="added again",
        message=f"the template writes {bos!r}, and encoding the prompt adds another{where}",
        consequence="Chat servers are safe; `tokenizer(prompt)`, completion endpoints and training get two.",
        sights=tuple(Sight(one, 0, len(bos), "the template's own BOS") for one in seen),
        severity=Severity.INFO if where else None,
        fix="Encode rendered prompts with add_special_tokens=False.",
    )
