"""The template writes a special token that the tokenizer does not have.

## What it does
Looks where rendered prompts print `bos_token`, `eos_token` and their like, and whether the tokenizer's files
name that token. What is tested first (`is defined`, `default`) is fine.

## Why is this bad
transformers passes no variable for a token that is null or missing, and Jinja prints nothing there: the BOS
or the end of every turn is absent, and no error says so. Engines that pass a null print the word `None`.

## Example
With a tokenizer that has no BOS:
```json tokenizer.json
{"eos": "<|over|>", "adds_bos": false, "added_tokens": ["<|over|>"]}
```
```jinja bad
{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{{ bos_token if bos_token is defined }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Name the token in `tokenizer_config.json`, or take it out of the template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause, Gathering, NotEvaluated, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_TOKEN = regex(r"[a-z]+_token")
_LOST = {
    "bos_token": "No prompt begins with a BOS, and nothing fails.",
    "eos_token": "Nothing ends the turns in the history, and nothing fails.",
}


@rule("CT608", severity=Severity.WARNING, needs=Stage.OBSERVATIONS)
def check(subject: Subject) -> Iterator[Cause]:
    found = Gathering()
    lines: dict[str, int] = {}
    for observation in subject.trace.observations:
        for line, name in observation.unset:
            if _TOKEN.fullmatch(name):
                found.add(name, Sight(observation, note=f"nothing stands where `{name}` is written"))
                lines.setdefault(name, line)
    if found and subject.template.special_tokens_assumed:
        raise NotEvaluated("the special tokens are assumed: no tokenizer file says which there are")
    for name, sights in found:
        yield Cause(
            key=name,
            message=f"`{name}` is printed, and the tokenizer has none",
            consequence=_LOST.get(name, "Nothing stands there, and nothing fails."),
            sights=sights,
            line=lines[name],
            fix=f"Name `{name}` in tokenizer_config.json, or leave it out here.",
        )
