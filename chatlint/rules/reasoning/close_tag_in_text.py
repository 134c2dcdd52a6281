"""Text is lost because it holds the closing mark of reasoning.

## What it does
Sends a question and an answer that quote the mark, and looks for the text on both sides of it. What stands
before the mark in an answer may be cut: it is a thought whose opening mark stood in the prompt.

## Why is this bad
Templates that split a message at the mark mean the assistant's own thoughts. Where they split every message,
a user who quotes the mark loses what was said before it; where they keep only one piece, answers about such
marks are cut short.

## Example
```jinja bad
{% for m in messages %}{% set text = m.content or '' %}<|{{ m.role }}|>
{{- '<think>' ~ m.reasoning_content ~ '</think>' if m.reasoning_content }}
{{- (text if text is string else text | map(attribute='text') | join).split('</think>') | last }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}{% set text = m.content or '' %}<|{{ m.role }}|>
{{- '<think>' ~ m.reasoning_content ~ '</think>' if m.reasoning_content }}
{{- text if text is string else text | map(attribute='text') | join }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chatlint.probe.axes import applied
from chatlint.probe.reading import Fate, fate, keeps, texts
from chatlint.records import replace
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.sights import at
from chatlint.rules.thoughts import thought_marks
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.conversation import JSON
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PROBE = "content/close-tag-both"
_TAG = "</think>"
_QUESTION, _ANSWER = "/messages/0/content", "/messages/1/content"
_LOST = (Fate.DROPPED, Fate.TRUNCATED)


@rule("CT504", severity=Severity.WARNING, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    closers = dict.fromkeys(closer for _, closer in thought_marks(subject.format))
    if not closers or not chats(subject):
        return
    for closer in closers:
        seen = _asked(subject, closer)
        question, answer = _loses(seen, _QUESTION, ("Walnut", "Kestrel")), _loses(seen, _ANSWER, ("Mango",))
        if question or answer:
            yield _cause(seen, closer, question=question)
            return


def _asked(subject: Subject, closer: str) -> Observation:
    """The probe, with this template's own mark instead of the usual one."""
    if closer == _TAG:
        return subject.see(_PROBE)
    usual = applied(subject.trace.probes.probe(_PROBE).conversation, subject.footing.variant)
    messages = tuple({name: _spelled(value, closer) for name, value in one.items()} for one in usual.messages)
    return subject.trace.ask_conversation(f"{_PROBE}/{closer}", replace(usual, messages=messages))


def _spelled(value: JSON, closer: str) -> JSON:
    if isinstance(value, str):
        return value.replace(_TAG, closer)
    if isinstance(value, Mapping):
        return {name: _spelled(member, closer) for name, member in value.items()}
    return [_spelled(item, closer) for item in value] if isinstance(value, Sequence) else value


def _loses(seen: Observation, content: str, words: tuple[str, ...]) -> bool:
    """Whether one of the words is cut from a content of which something, or nothing, is left."""
    if seen.prompt is None:
        return False
    return any(
        fate(seen, pointer) in _LOST and not all(keeps(seen, pointer, word) for word in words)
        for pointer in texts(seen, content)
    )


def _cause(seen: Observation, closer: str, *, question: bool) -> Cause:
    whose = "a user message" if question else "an answer"
    return Cause(
        key="question" if question else "answer",
        message=f"text is cut from {whose} that holds {closer!r}",
        consequence="The model does not see all of what the user wrote."
        if question
        else "The history shows less than what the model said.",
        sights=(at(seen, _QUESTION if question else _ANSWER, "all that is left"),),
        fix="Split only assistant messages, and only where a thought was opened.",
    )
