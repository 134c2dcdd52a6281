"""A longer conversation does not begin with the prompt of the shorter one.

## What it does
Compares the prompt of each message sequence with that of the sequence and one message more, with and
without tools, reasoning and system text, and says where they part.

## Why is this bad
Servers keep the state of a prompt and go on from there. When an earlier part changes, all of it is computed
again on every turn; in reinforcement learning the tokens that were trained on are not those that were
sampled. Dropping old reasoning is a choice of many models, but it has this price.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ '<|end|>' if not loop.last else '<|last|>' }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, Gathering, Sight, smallest_first
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.thoughts import reasoning_field
from chatlint.rules.turns import agree, chats
from chatlint.text import Input

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.subject import Subject


class _Step(NamedTuple):
    """One message more: the shorter probe, the longer one, and whose message came."""

    shorter: str
    longer: str
    came: str


_TEXT = (
    _Step("sequences/u", "sequences/ua", "assistant"),
    _Step("sequences/ua", "sequences/uau", "user"),
    _Step("sequences/uau", "sequences/uaua", "assistant"),
    _Step("roles/system-user", "roles/system-user-assistant-user", "user"),
)
"""The last one: system text may be written beside the last question, and moves on with it."""
_TOOLS = (
    _Step("sequences/uc", "sequences/uct", "tool"),
    _Step("sequences/uct", "sequences/ucta", "assistant"),
    _Step("sequences/ucta", "sequences/uctau", "user"),
)
_REASONING = (_Step("reasoning/last", "reasoning/followed", "user"),)
_SHOWN = 24
"""Characters of the shorter prompt that are quoted, and of a tag that is looked back over."""
_END = "what stands behind the last message"
_CAME = {
    "assistant": "the answer is added",
    "user": "the next question comes",
    "tool": "the tool result comes",
}


@rule("CT304", severity=Severity.INFO, profiles={"training": Severity.WARNING})
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    ends, breaks = Gathering(), Gathering()
    for step, shorter, longer in _steps(subject):
        if longer.prompt is None or longer.text.startswith(shorter.text):
            continue
        place = agree(shorter.text, longer.text)
        end = min(place + 1, len(longer.text))
        start = _word_start(longer.text, place)
        note = f"before, {shorter.text[start : start + _SHOWN]!r} stood here"
        found = ends if _is_end(subject, step, shorter, longer) else breaks
        found.add(step.came, Sight(longer, start, end, note))
    yield from _ended(list(ends))
    for came, sights in breaks:
        yield _broken(came, "what was written before", _CAME[came], sights)


def _is_end(subject: Subject, step: _Step, shorter: Observation, longer: Observation) -> bool:
    """Whether no more changes than what the template writes behind the last message. After a question that is
    not the generation prompt alone: without one, too, the prompt changes there."""
    if step.came == "assistant":
        shorter = subject.trace.look(shorter.case.probe, dict(shorter.case.variant), {"generation": "off"})
    said = (
        [span.end for span in shorter.prompt.spans if isinstance(span.origin, Input)]
        if shorter.prompt
        else []
    )
    return bool(said) and max(said) <= agree(shorter.text, longer.text) < len(shorter.text)


def _ended(ends: list[tuple[str, tuple[Sight, ...]]]) -> Iterator[Cause]:
    """One cause, where the end changes whatever comes."""
    if len(ends) < 2:
        yield from (_broken(f"the end: {came}", _END, _CAME[came], sights) for came, sights in ends)
        return
    every = smallest_first(sight for _, sights in ends for sight in sights)
    yield _broken("the end", _END, "the conversation goes on", every)


def _broken(key: str, what: str, came: str, sights: tuple[Sight, ...]) -> Cause:
    return Cause(
        key=key,
        message=f"{what} changes when {came}",
        consequence="The cached prompt is lost from here on, on every such turn.",
        sights=sights,
    )


def _steps(subject: Subject) -> Iterator[tuple[_Step, Observation, Observation]]:
    way = supported(subject)
    plain = (*_TEXT, *(_REASONING if reasoning_field(subject) else ()))
    steps: list[tuple[_Step, Variant]] = [(step, {}) for step in plain]
    if way is not None:
        steps += [(step, {axis: way[axis] for axis in way if axis == "arguments"}) for step in _TOOLS]
    for step, axes in steps:
        shorter, longer = _pair(subject, step, axes)
        if shorter.prompt and longer.prompt:
            yield step, shorter, longer


def _pair(subject: Subject, step: _Step, axes: Variant) -> tuple[Observation, Observation]:
    """The two prompts. An answer after a prompt that opens a thought has a thought, else it has none."""
    prompted = "on" if step.came == "assistant" else "off"
    shorter = subject.see(step.shorter, axes, generation=prompted)
    longer = subject.see(step.longer, axes, generation="off")
    if step.longer not in _THOUGHT or longer.text.startswith(shorter.text):
        return shorter, longer
    before, after = _THOUGHT[step.longer]
    with_thought = subject.see(before, axes), subject.see(after, axes, generation="off")
    holds = with_thought[0].prompt and with_thought[1].text.startswith(with_thought[0].text)
    return with_thought if holds else (shorter, longer)


_THOUGHT = {
    "sequences/ua": ("sequences/u", "reasoning/last"),
    "sequences/uaua": ("reasoning/followed", "reasoning/two-turns"),
    "sequences/ucta": ("reasoning/call-result", "reasoning/call-answered"),
}
"""The same steps with reasoning, by the probe that has the answer."""


def _word_start(text: str, place: int) -> int:
    """Where the tag or word begins that `place` is in."""
    opened = text.rfind("<", max(place - _SHOWN, 0), place)
    if opened >= 0 and ">" not in text[opened:place]:
        return opened
    while place > 0 and text[place - 1].isalnum():
        place -= 1
    return place
