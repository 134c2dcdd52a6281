"""An answer that was begun for the model is changed, or cannot be continued.

## What it does
Asks the model to go on with an answer (`continue_final_message`): plain text, text after a closed thought,
and no text yet, and looks whether the prompt ends with just what was begun.

## Why is this bad
Clients begin answers to steer them: a brace for JSON, the signature of a function, a thought that was cut
off. Where the template rewrites what was begun, the model goes on with something else, or the request fails.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>
{{- m.content if m.role != 'assistant' else m.content.split('</think>')[-1] }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chatlint.conversation import value_at
from chatlint.probe.reading import Fate, texts
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at_end, declined, faulted, said
from chatlint.rules.spaces import fates_by_role, spaced
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


@rule("CT311", severity=Severity.INFO)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    begun = subject.see("prefill/space", {"continue": "content"})
    if not _continued(begun):
        yield _refused(begun) if begun.prompt is None else _altered(begun, "text")
        return
    if not begun.text.endswith(" ") and not _trims_answers(subject):
        yield _trimmed(begun)
    if subject.footing.mentions("think|reason"):
        thought = subject.see("prefill/closed-thought", {"continue": "content"})
        if not _continued(thought):
            yield _altered(thought, "thought")
    if subject.see("content/empty-assistant").failure:
        yield from _empty(subject.see("prefill/empty", generation="off"))


def _continued(seen: Observation) -> bool:
    """Whether the prompt ends with what was begun, but for blanks behind it."""
    place = texts(seen, "/messages/1/content")[0]
    begun = value_at(seen.case.conversation, place)
    return seen.prompt is not None and seen.text.rstrip().endswith(str(begun).rstrip())


def _trims_answers(subject: Subject) -> bool:
    """Whether every answer is trimmed: then `content-altered` says so."""
    return fates_by_role(spaced(subject)).get("assistant", ("", None))[1] is Fate.TRIMMED


def _refused(seen: Observation) -> Cause:
    return Cause(
        key="refused",
        message=f"an answer that was begun cannot be continued: {_reason(seen)}",
        consequence="Requests with `continue_final_message` fail.",
        sights=(Sight(seen),),
    )


def _reason(seen: Observation) -> str:
    """The first sentence. A host that does not find the answer any more quotes the whole prompt."""
    from chatlint.render.rendered import FailureKind

    if seen.failure and seen.failure.kind is FailureKind.HOST:
        return "the prompt does not hold it any more"
    return re.split(r"[!.\n](?:\s|$)", said(seen), maxsplit=1)[0]


def _altered(seen: Observation, what: str) -> Cause:
    thought = what == "thought"
    given = "a begun answer with a closed thought" if thought else "an answer that was begun"
    reason = f": {_reason(seen)}" if seen.prompt is None else ""
    return Cause(
        key=f"{what} altered",
        message=f"{given} is not continued as it was given{reason}",
        consequence="The request fails, or the model thinks again, or goes on as if it had not thought."
        if thought
        else "The model goes on with something else than the client began.",
        sights=(at_end(seen, "" if reason else "the prompt ends otherwise than the answer"),),
    )


def _trimmed(seen: Observation) -> Cause:
    return Cause(
        key="trimmed",
        message="blanks at the end of an answer that was begun are taken away",
        consequence="An indentation or a line break that the client began with is lost.",
        sights=(at_end(seen, "a space was given here"),),
    )


def _empty(seen: Observation) -> Iterator[Cause]:
    """Some clients end every request with an empty answer."""
    if faulted(seen) or declined(seen):
        verb = "breaks the template" if faulted(seen) else "is refused"
        yield Cause(
            key="empty",
            message=f"an empty answer at the end {verb}: {said(seen)}",
            consequence="Requests of clients that begin an answer with nothing fail.",
            sights=(Sight(seen),),
            severity=Severity.WARNING,
        )
