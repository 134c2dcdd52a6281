"""A file declares a token that the vocabulary does not have.

## What it does
Compares the ids that `config.json`, `generation_config.json` or a GGUF declare (ends of sequence, padding,
BOS) with the size of the vocabulary, and the tokens that `tokenizer_config.json` names with those that the
tokenizer has.

## Why is this bad
A model cannot write an id beyond its vocabulary: as an end of sequence it never comes, as padding it is an
index error in the first batch. A named token that is not there is added when the tokenizer is loaded, with an
id that the model has no embedding for.

## Example
With another model's generation_config.json:
```json tokenizer.json
{"eos": "<|over|>", "adds_bos": false, "added_tokens": ["<|over|>", "<|user|>", "<|assistant|>"],
 "vocabulary": 32000, "generation_config": [0, 151645]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
It is the files that are wrong, whatever the template; without a chat nothing is said:
```jinja good
{% for m in messages %}{{ m.content }}
{% endfor %}
```

## Fix
Write the ids that the model's own tokenizer has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject
    from chatlint.source.package import Package

_END = regex(r"eo[smt]_token")


@rule("CT610", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    package = subject.package
    if subject.template.name != package.templates[0].name or not chats(subject):
        return  # the files are the same for all templates
    yield from _beyond(package)
    yield from _unknown(package)
    if package.tokenizer_is_gguf and package.tokenizer.adds_bos and package.tokenizer.bos is None:
        yield _no_bos(package)


def _beyond(package: Package) -> Iterator[Cause]:
    """Ids that no token of the vocabulary has."""
    size = package.generation.vocabulary
    for file, key, number in _declared(package):
        if size is not None and not 0 <= number < size:
            yield Cause(
                key=f"{file} {key} {number}",
                message=f"{key} {number} in {file} is beyond the vocabulary, which has {size:,} ids",
                consequence="The model can never write it: generation does not end there."
                if _END.search(key)
                else "What uses it fails, or reads another token's embedding.",
                file=file,
                fix="Write the id that the tokenizer gives the token.",
            )


def _declared(package: Package) -> Iterator[tuple[str, str, int]]:
    """File, key and number of every id."""
    for place, numbers in package.generation.eos_ids.items():
        file, _, key = place.partition("#")
        for number in numbers:
            yield file, key if key.startswith("tokenizer.") else "eos_token_id", number
    for place, number in package.generation.other_ids.items():
        yield place.partition("#")[0], place.rpartition("#")[2], number


def _unknown(package: Package) -> Iterator[Cause]:
    """Tokens that are named and that the tokenizer does not list."""
    named = {"bos_token": package.tokenizer.bos, "eos_token": package.tokenizer.eos}
    for name, text in {**named, "pad_token": package.tokenizer.pad}.items():
        if text and package.is_token(text) is False:
            yield Cause(
                key=f"{name} {text}",
                message=f"{name} {text!r} is no token of this tokenizer",
                consequence="Loading adds it with an id of its own, for which the model has no embedding.",
                confidence=Confidence.MEDIUM,
                file="tokenizer_config.json",
                fix="Name a token that the vocabulary has.",
            )


def _no_bos(package: Package) -> Cause:
    file = package.ggufs[0].file
    return Cause(
        key="no bos",
        message="a BOS is to be added, and bos_token_id names none",
        consequence="llama.cpp puts the id before every prompt that its kind of tokenizer has by default.",
        file=file,
        fix="Set `tokenizer.ggml.bos_token_id`, or `add_bos_token` to false.",
    )
