"""A message does not come back from its own text.

## What it does
Renders each kind of message, cuts out the text that a model would have had to write for it, reads that text
with the format learned from the same template, and compares. What differs is said by field, where the
template is what loses or changes it and no other rule says so.

## Why is this bad
History and generation must be the same language. Where the template writes an answer otherwise than the
model does, the model sees a past that is not its own, training on such conversations teaches what no parser
gives back, and the cached prompt is lost.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content | e if m.role == 'assistant' else m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.trips import Loss, losses, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject


class _Kind(NamedTuple):
    """One way to lose something: `severity` None is left to other rules."""

    key: str
    message: str
    consequence: str = ""
    severity: Severity | None = None


_ELSEWHERE = _Kind("", "")
_BLANKS = _Kind(
    "blanks",
    "what the template writes between an answer and its end reads as part of the answer",
    "The model is shown, and learns, answers that end in blanks; they reach the client.",
    Severity.INFO,
)
_CHANGED = _Kind(
    "content altered",
    "an answer is written otherwise than it was said",
    "The model sees, and learns, text that it never wrote.",
    Severity.ERROR,
)
_OPEN = _Kind(
    "content as reasoning",
    "an answer stands where reasoning does, and reads as reasoning",
    "The history shows thoughts that never end, and the model learns not to answer.",
    Severity.ERROR,
)
_BESIDE_CALL = _Kind(
    "text beside a call as reasoning",
    "text beside a tool call is written where reasoning stands, and reads as reasoning",
    "What the model said to the user before its call comes back as a thought.",
    Severity.INFO,
)
_THOUGHT = _Kind(
    "reasoning lost",
    "the reasoning of a last answer is not written",
    "Training on whole conversations never shows how the last answer was reached.",
    Severity.INFO,
)
_NULL = _Kind(
    "null argument lost",
    "an argument that is null is left out of the call",
    "The model does not see that it gave the argument.",
    Severity.INFO,
)
_ARGUMENT = _Kind(
    "argument",
    "an argument of a call is lost or changed",
    "The model sees, and learns, calls that say something else.",
    Severity.WARNING,
)


@rule("CT701", severity=Severity.WARNING, needs=Stage.ROUND_TRIPS)
def check(subject: Subject) -> Iterator[Cause]:
    found: dict[_Kind, list[Loss]] = {}
    misread: list[Loss] = []
    for loss in losses(subject):
        if loss.difference.cause == "parser":
            misread.append(loss)
        elif loss.difference.cause != "format-ambiguous":
            found.setdefault(_kind(loss), []).append(loss)
    for kind, lost in found.items():
        if kind.severity:
            yield _cause(kind, lost)
    if misread:
        yield _own(misread)


def _kind(loss: Loss) -> _Kind:
    cause, part = loss.difference.cause, loss.part
    if part == "content" and cause != "template-lost":
        return _of_content(loss)
    if part == "reasoning_content" and cause == "template-lost":
        return _ELSEWHERE if loss.has_calls else _THOUGHT
    if part == "argument":
        return _NULL if loss.difference.sent is None else _ARGUMENT
    if part == "arguments":
        return _ARGUMENT if loss.difference.sent else _ELSEWHERE
    return _ELSEWHERE


def _of_content(loss: Loss) -> _Kind:
    difference = loss.difference
    if difference.cause == "template-merged":
        return _BESIDE_CALL if loss.has_calls else _OPEN
    same = isinstance(difference.sent, str) and isinstance(difference.received, str)
    if same and str(difference.sent).strip() == str(difference.received).strip():
        return _BLANKS
    return _ELSEWHERE if loss.has_calls else _CHANGED


def _cause(kind: _Kind, lost: list[Loss]) -> Cause:
    first = lost[0].difference
    example = f": {spelled(first.sent)} comes back as {spelled(first.received)}"
    return Cause(
        key=kind.key,
        message=kind.message + ("" if kind in (_THOUGHT, _NULL) else example),
        consequence=kind.consequence,
        sights=tuple(loss.sight() for loss in lost),
        severity=kind.severity,
    )


def _own(misread: list[Loss]) -> Cause:
    first = misread[0].difference
    return Cause(
        key="misread",
        message=f"chatlint reads {first.field} of its own round trip wrong: {spelled(first.sent)} comes back "
        f"as {spelled(first.received)}",
        consequence="",
        sights=tuple(loss.sight() for loss in misread),
        own=True,
    )
