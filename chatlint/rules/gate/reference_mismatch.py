"""A conversation of your own gives another prompt than the one that is kept beside it, or none.

## What it does
Renders every conversation in the folder that the configuration names (`probes = "conversations"`), and
compares it with the prompt in the `.txt` file of the same name, where there is one.

## Why is this bad
The prompt that was kept is what the model was trained on, or what another engine sends.

## Example
```json reference
{"messages": [{"role": "user", "content": "Hello"}], "prompt": "<|user|>Hello<|end|>\\n<|assistant|>"}
```
```jinja bad
{%- for m in messages %}<|{{ m.role }}|> {{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Mend the template; or, if the new prompt is right, keep it: `chatlint render TARGET --messages refund.json >
refund.txt`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.sights import written_at
from chatlint.rules.turns import agree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.probe.own import OwnConversation
    from chatlint.rules.subject import Subject

_SHOWN = 24
"""Characters of the prompt that is kept that are quoted."""


@rule("CT123", severity=Severity.WARNING, needs=Stage.OBSERVATIONS)
def check(subject: Subject) -> Iterator[Cause]:
    own = subject.settings.conversations if subject.settings else ()
    differing: dict[tuple[int, int], list[_Difference]] = {}
    for conversation, seen in zip(own, subject.trace.ask_all(one.case for one in own), strict=True):
        if seen.failure is not None:
            yield _failed(conversation, seen)
        elif conversation.prompt is not None and seen.text != conversation.prompt:
            difference = _difference(conversation, conversation.prompt, seen)
            differing.setdefault(difference.written_at, []).append(difference)
    for found in differing.values():
        yield _differs(found)


def _failed(own: OwnConversation, seen: Observation) -> Cause:
    from chatlint.render.rendered import FailureKind

    failure = seen.failure
    assert failure is not None
    refused = failure.kind is FailureKind.DECLINED
    said = failure.message if refused else f"{failure.exception}: {failure.message}"
    return Cause(
        key=f"fails {own.name}",
        message=f"{own.file} {'is refused' if refused else 'breaks the template'}: {said}",
        consequence="This conversation cannot be sent to the model.",
        sights=(Sight(seen),),
        severity=Severity.ERROR,
    )


class _Difference(NamedTuple):
    """Where a prompt parts from the one that was kept, in the prompt and in the template."""

    own: OwnConversation
    sight: Sight
    said: str
    written_at: tuple[int, int]


def _difference(own: OwnConversation, kept: str, seen: Observation) -> _Difference:
    assert seen.prompt is not None
    place = agree(kept, seen.text)
    end = min(place + 1, len(seen.text))
    stood = repr(kept[place : place + _SHOWN]) if place < len(kept) else "its end"
    sight = Sight(seen, place, end, f"{stood} is kept for this place")
    said = f"from line {kept.count(chr(10), 0, place) + 1} on{_only(kept, seen.text)}"
    return _Difference(own, sight, said, written_at(seen.prompt, max(place - (end == place), 0)))


def _differs(found: list[_Difference]) -> Cause:
    """One place of the template is one cause, however many conversations show it."""
    first = found[0]
    kept = f"{first.own.file.removesuffix('.json')}.txt"
    more = len(found) - 1
    others = f", and so do{'es' * (more == 1)} {more} more" if more else ""
    return Cause(
        key=f"differs {first.own.name}",
        message=f"{first.own.file} gives another prompt than {kept}, {first.said}{others}",
        consequence="The model sees another prompt than the one that was kept as right.",
        sights=tuple(one.sight for one in found),
    )


def _only(kept: str, prompt: str) -> str:
    """What is behind a difference that editors and checkouts make."""
    if kept.replace("\r\n", "\n") == prompt:
        return " (only its line ends differ: the file has CRLF)"
    if kept.rstrip("\n") == prompt.rstrip("\n"):
        return " (only line ends at its very end differ)"
    return ""
