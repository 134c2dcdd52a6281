"""The generation prompt is missing, skipped after some messages, or always there.

## What it does
Compares prompts with and without `add_generation_prompt` after a question, a second question and tool
results with the place where an answer stands in the history.

## Why is this bad
Without the assistant's header the model goes on with the user's turn, or writes the header itself and
servers hand it to the client. A header that is always there spoils training data and prefilled answers.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at_end
from chatlint.rules.turns import agree, before, behind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


class _Last(NamedTuple):
    """A kind of last message: the probe that ends with it, the probe that goes on with an answer, and where
    the answer is."""

    kind: str
    probe: str
    answered: str
    answer: str


_TEXT = (
    _Last("a question", "roles/user", "roles/user-assistant", "/messages/1/content"),
    _Last("a second question", "roles/user-assistant-user", "sequences/uaua", "/messages/3/content"),
)
_TOOLS = (
    _Last("a tool result", "calls/one-result", "calls/one-answered", "/messages/3/content"),
    _Last(
        "the result of a call beside text", "calls/text-one-result", "sequences/udta", "/messages/3/content"
    ),
    _Last("two tool results", "calls/two-result", "calls/two-answered", "/messages/4/content"),
)


@rule("CT301", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    lasts: list[tuple[_Last, Mapping[str, str]]] = [(last, {}) for last in _TEXT] + [
        (last, way) for last in _TOOLS if way is not None
    ]
    missing = []
    for last, axes in lasts:
        asked = subject.see(last.probe, axes)
        without = subject.see(last.probe, axes, generation="off")
        header = _missing_header(
            asked, without, subject.see(last.answered, axes, generation="off"), last.answer
        )
        if header:
            missing.append((last.kind, asked, header))
    if missing:
        yield _missing(missing, everywhere=missing[0][0] == _TEXT[0].kind)
    else:
        yield from _always(subject)


def _missing_header(asked: Observation, without: Observation, answered: Observation, answer: str) -> str:
    """What stands between the prompt and an answer in the history, where no flag makes a difference."""
    if asked.prompt is None or asked.text != without.text:
        return ""
    until = before(answered, answer)
    if until is None or not until.startswith(asked.text.rstrip()):
        return ""
    header = until[len(asked.text.rstrip()) :].strip()
    return header if any(character.isalnum() for character in header) else ""


def _missing(missing: list[tuple[str, Observation, str]], *, everywhere: bool) -> Cause:
    kinds = ", ".join(kind for kind, _, _ in missing)
    header = missing[0][2]
    return Cause(
        key="missing" if everywhere else f"skipped after {kinds}",
        message=f"no generation prompt after {kinds}: {header!r} would have to stand there",
        consequence="The model goes on as the user, or opens its own turn and the header reaches the client.",
        sights=tuple(at_end(one, f"{header!r} is missing here") for _, one, header in missing),
        fix="Write the assistant's header under `{% if add_generation_prompt %}`, whatever came last.",
    )


def _always(subject: Subject) -> Iterator[Cause]:
    """A header that also follows a finished answer, whatever the flag says."""
    ended = subject.see("roles/user-assistant", generation="off")
    followed = subject.see("roles/user-assistant-user", generation="off")
    header = before(ended, "/messages/1/content")
    tail, usual = behind(ended, "/messages/1/content"), behind(followed, "/messages/1/content")
    if not header or not tail or usual is None or usual.startswith(tail.rstrip()):
        return
    extra = _common_end(tail.rstrip(), header.rstrip())
    if (
        any(character.isalnum() for character in extra)
        and ended.text == subject.see("roles/user-assistant").text
    ):
        yield Cause(
            key="always",
            message=f"the generation prompt {extra!r} is written even after a finished answer",
            consequence="Training data ends in an empty turn, and answers cannot be prefilled.",
            sights=(at_end(ended, "after a finished answer, with add_generation_prompt off"),),
            severity=Severity.WARNING,
            fix="Write it only under `{% if add_generation_prompt %}`.",
        )


def _common_end(one: str, other: str) -> str:
    count = agree(one[::-1], other[::-1])
    return one[len(one) - count :]
