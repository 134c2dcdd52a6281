"""Files declare different ends of sequence.

## What it does
Looks whether `generation_config.json` (`config.json` where there is none) has the ends that the tokenizer and
`config.json` declare.

## Why is this bad
Each engine reads other files: `generate` one, SGLang all, TGI a list only, llama.cpp's converter the
tokenizer. Where all of them stop at the end of a turn it is no fault yet, but an edit of one file is soon
one.

## Example
```json tokenizer.json
{"eos": "<|end|>", "adds_bos": false, "added_tokens": ["<|end|>", "<|over|>", "<|user|>", "<|assistant|>"],
 "generation_config": [1], "config": [1, 0]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|><|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
It is the files that disagree; where a turn does not end, `turn-end-not-a-stop` says so:
```jinja good
{% for m in messages %}{{ m.content }}
{% endfor %}
```

## Fix
Let `eos_token_id` of `generation_config.json` be a list of all ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.ends import ends, stopping
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject
    from chatlint.source.package import Package

_FIRST = "generation_config.json"


@rule("CT611", severity=Severity.INFO)
def check(subject: Subject) -> Iterator[Cause]:
    package = subject.package
    if subject.template.name != package.templates[0].name or package.tokenizer_is_gguf or not chats(subject):
        return
    declared = _declared(package)
    most = declared.get(_FIRST) or next(iter(declared.values()), ())
    missing = {place: ids for place, ids in declared.items() if not set(ids) <= set(most)}
    if not missing or any(one.stops is False for end in ends(subject) for one in stopping(subject, end)):
        return
    said = "; ".join(f"{place} {_named(package, ids)}" for place, ids in declared.items())
    yield Cause(
        key=" ".join(sorted(missing)),
        message=f"files declare different ends of sequence: {said}",
        consequence="Engines that read different files end generation at different tokens.",
        file=_FIRST if _FIRST in declared else "config.json",
        fix=f"Let eos_token_id of {_FIRST} be a list of all of them.",
    )


def _declared(package: Package) -> dict[str, tuple[int, ...]]:
    """The ids by file, generation_config.json first; the tokenizer's as far as its id is known."""
    ids = package.generation.eos_ids
    found = {
        place: ids[place] for place in sorted(ids, key=lambda place: place != _FIRST) if ".gguf" not in place
    }
    number = package.token_id(package.tokenizer.eos or "")
    return found if number is None else {**found, "tokenizer_config.json": (number,)}


def _named(package: Package, ids: tuple[int, ...]) -> str:
    texts = {token.id: token.text for token in package.tokenizer.added_tokens or ()}
    return ", ".join(repr(texts[number]) if number in texts else str(number) for number in ids)
