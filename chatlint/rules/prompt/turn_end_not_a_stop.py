"""What ends an assistant turn is declared as a stop token nowhere.

## What it does
Takes the first added token that the template writes after an answer, and after a tool call, and looks for
it among the end-of-sequence ids of `generation_config.json`, `config.json` and the tokenizer's files.

## Why is this bad
Engines stop at declared ids. Where the turn's end is none of them, the model goes on after its answer and
writes the next user turn, up to the token limit.

## Example
With a tokenizer whose end of text is another token:
```json tokenizer.json
{"eos": "<|endoftext|>", "adds_bos": false, "added_tokens": ["<|endoftext|>", "<|end|>", "<|user|>"]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
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

from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, NotEvaluated, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import bounds
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


@rule("CT308", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    tokens, stops = _tokens(subject), _stops(subject)
    ends = _learned_ends(subject)
    yield from _ending(_answers(subject), tokens, stops, ends, "an answer")
    way = supported(subject)
    if way is not None:
        calls = [(subject.see("calls/one", way, generation="off"), "/messages/1/tool_calls")]
        yield from _ending(calls, tokens, stops, ends, "a tool call")


def _tokens(subject: Subject) -> dict[str, int]:
    """Added tokens that can be markers (vocabularies also add plain words) by their text, longest first."""
    added = subject.package.tokenizer.added_tokens
    if added is None:
        raise NotEvaluated("no tokenizer file lists the added tokens")
    marks = [token for token in added if token.text and (token.special or _looks_so(token.text))]
    return {token.text: token.id for token in sorted(marks, key=lambda token: -len(token.text))}


def _learned_ends(subject: Subject) -> tuple[str, ...]:
    return subject.format.end_of_turn if subject.format else ()


def _looks_so(text: str) -> bool:
    return len(text) > 2 and not text.isalnum() and not text.isspace()


def _stops(subject: Subject) -> frozenset[int | str]:
    """Ids and texts that some file declares as an end."""
    tokenizer, generation = subject.package.tokenizer, subject.package.generation
    ids = {token for declared in generation.eos_ids.values() for token in declared}
    texts = {text for text in (tokenizer.eos, tokenizer.end_of_turn, tokenizer.end_of_message) if text}
    names = {file.path.rpartition("/")[2] for file in subject.package.files}
    configured = bool(names & {"config.json", "generation_config.json"})
    if subject.package.ggufs and not configured:
        raise NotEvaluated("engines add stops to a GGUF's own by their text")
    if not generation.complete or not (ids or (texts and configured)):
        raise NotEvaluated("generation_config.json or config.json, which declare stops, are not here")
    return frozenset({*ids, *texts})


def _answers(subject: Subject) -> list[tuple[Observation, str]]:
    """An answer as the last message, and followed by a question: some templates close it only then."""
    probes = ("roles/user-assistant", "roles/user-assistant-user")
    return [(subject.see(probe, generation="off"), "/messages/1/content") for probe in probes]


def _ending(
    seen: list[tuple[Observation, str]],
    tokens: dict[str, int],
    stops: frozenset[int | str],
    ends: tuple[str, ...],
    what: str,
) -> Iterator[Cause]:
    """`ends` are the learned ends of a turn: what is none of them closes a part of the turn, not the turn."""
    for one, pointer in seen:
        found = bounds(one, pointer)
        if found is None:
            continue
        after = _tokens_after(one.text, found[1], tokens)
        ending = [end for end in ends if end in one.text[found[1] :]]
        if any(
            text in stops or tokens.get(text) in stops for text in (*ending, *(text for _, text in after))
        ):
            return
        if after and any(after[0][1] in end for end in ends or (after[0][1],)):
            yield _not_declared(one, *after[0], what)
            return


def _tokens_after(text: str, start: int, tokens: dict[str, int]) -> list[tuple[int, str]]:
    """Added tokens that follow at once, with blanks between them: the turn's end, and what comes with it."""
    found = []
    while start < len(text):
        token = next((token for token in tokens if text.startswith(token, start)), None)
        if token is None and not text[start].isspace():
            break
        if token:
            found.append((start, token))
        start += len(token) if token else 1
    return found


def _not_declared(observation: Observation, start: int, token: str, what: str) -> Cause:
    return Cause(
        key=f"after {what}: {token}",
        message=f"after {what} stands {token!r}, which no file declares as an end-of-sequence token",
        consequence="Generation does not stop there: the model writes on, up to the token limit.",
        sights=(Sight(observation, start, start + len(token), "the turn's end"),),
        fix="List its id in `eos_token_id` of generation_config.json.",
    )
