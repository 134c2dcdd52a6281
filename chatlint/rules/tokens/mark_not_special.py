"""A mark of the template is in the vocabulary, but not as a special token.

## What it does
Looks up the tokens that end an assistant's turn, and in a GGUF every mark that the template writes, among the
tokens that are flagged special (in a GGUF: of type control).

## Why is this bad
A token that ends turns and is not special stays in decoded text (`skip_special_tokens` keeps it; vLLM cuts it
off only if it is the EOS token), and user text that spells it becomes it even where special tokens are not
read. In a GGUF a mark of type normal is not read as a token at all: llama.cpp cuts it into pieces.

## Example
```json tokenizer.json
{"eos": "</s>", "adds_bos": false, "added_tokens": ["</s>", "<|over|>", "<|user|>", "<|assistant|>"],
 "plain": ["<|over|>"], "generation_config": [0, 1]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}</s>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Set `"special": true` in the tokenizer's files; convert the GGUF again after that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause, Sight
from chatlint.rules.ends import PIPED, ends, written
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_PROBES = ("roles/system-user", "roles/user-assistant-user", "roles/user")


@rule("CT612", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    yield from _ends(subject)
    if subject.package.tokenizer_is_gguf:
        yield from _normal(subject)


def _ends(subject: Subject) -> Iterator[Cause]:
    """Ends of turns that are added tokens, and not special."""
    plain = {token.text for token in subject.package.tokenizer.added_tokens or () if not token.special}
    for mark in dict.fromkeys(end.marks[0] for end in ends(subject) if end.marks[0] in plain):
        yield Cause(
            key=f"end {mark}",
            message=f"{mark!r} ends turns, and the tokenizer does not flag it special",
            consequence="It stays in decoded answers, and user text that spells it ends turns.",
            sights=tuple(end.sight for end in ends(subject) if end.marks[0] == mark),
            severity=Severity.INFO if mark == subject.package.tokenizer.eos else None,
            fix="Flag it special in tokenizer.json and added_tokens_decoder.",
        )


def _normal(subject: Subject) -> Iterator[Cause]:
    """Marks in the vocabulary of a GGUF that are of type normal."""
    package = subject.package
    added = {token.text for token in package.tokenizer.added_tokens or ()}
    found: dict[str, Sight] = {}
    for seen in map(subject.see, _PROBES):
        for match in PIPED.finditer(written(seen)):
            mark = match.group()
            if package.tokenizer.added_tokens is not None and mark not in added and package.is_token(mark):
                found.setdefault(mark, Sight(seen, match.start(), match.end(), "a normal token"))
    if found:
        yield Cause(
            key="normal " + " ".join(sorted(found)),
            message=f"{', '.join(map(repr, found))}: in the vocabulary as normal text, not as control tokens",
            consequence="llama.cpp cuts them into pieces in prompts, except those it knows by their text.",
            sights=tuple(found.values()),
            fix="Convert again, with the marks flagged special in the tokenizer's files.",
        )
