"""The template writes system text of its own where the conversation has none.

## What it does
Renders a question without system text and shows what the template puts before it, word for word; then looks
whether that is written again in longer conversations, and before an answer that is rendered alone.

## Why is this bad
The model reads instructions that nobody gave: a name, a date, "You are a helpful assistant". Engines that
write prompts by their own code leave them out, and answers differ. A text that comes twice is a mistake, and
so is a place like `{system_message}` that nobody fills; one that comes before every piece of a conversation
spoils trainers that render message by message.

## Example
```jinja bad
{% if not messages or messages[0].role != 'system' %}<|system|>You are a helpful assistant.<|end|>
{% endif %}
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.ends import TAG, written
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import bounds
from chatlint.rules.turns import agree, before, chats
from chatlint.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_WORD = regex(r"[^\W\d_]{2,}|[^\x00-\x7f]{2,}")
_LEAST = 2
"""Words that make a text: one alone is the name of a role."""
_REPEATED = 4
"""Words before every question that are a text, and no header any more."""
_OPENING = regex(r"(?:\s*(?:<[^<>\s]+>|\[[^\[\]\s]+\]|system\b|developer\b))*")
"""Tags and role names in front of a text."""
_EDGES = " \t\r\n<>[]"
_SHOWN = 160
_UNFILLED = regex(r"\{(?:system|user)?_?(?:message|prompt|instruction|text)s?\}")
"""A place as Python's `str.format` fills it."""
_LONGER = ("roles/user-assistant-user", "sequences/uaua")


@rule("CT312", severity=Severity.INFO)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    seen = subject.see("roles/user")
    place = _own_text(subject, seen)
    if place is None:
        return
    text = seen.text[slice(*place)]
    if unfilled := _UNFILLED.search(text):
        yield _unfilled(seen, place[0] + unfilled.start(), unfilled.group())
        return
    again = [one for one in map(subject.see, _LONGER) if written(one).count(text) > 1]
    if again:
        yield _twice(again, text)
        return
    partial = text in written(subject.see("roles/assistant-only"))
    beside = text in written(subject.see("roles/system-user"))
    yield Cause(
        key="beside system text" if beside else "text",
        message=f"the template adds text of its own{', even beside system text' if beside else ''}: "
        f"{_quoted(text)}",
        consequence="The model reads what nobody said; engines that write prompts by themselves leave it out."
        + (" An answer that is rendered alone, as some trainers do, has it too." if partial else ""),
        sights=(Sight(seen, *place, "nobody said this"),),
        profiles={"training": Severity.WARNING} if partial else {},
    )


def _unfilled(seen: Observation, start: int, place: str) -> Cause:
    return Cause(
        key="unfilled",
        message=f"a place for text that nobody fills is printed: {place}",
        consequence="Every conversation without system text begins with a variable's name.",
        sights=(Sight(seen, start, start + len(place), "nobody said this"),),
        severity=Severity.WARNING,
        fix="Write the text itself, or nothing.",
    )


def _twice(seen: list[Observation], text: str) -> Cause:
    sights = []
    for one in seen:
        second = written(one).find(text, written(one).find(text) + 1)
        sights.append(Sight(one, second, second + len(text), "a second time"))
    return Cause(
        key="twice",
        message=f"the template's own text is written more than once: {_quoted(text)}",
        consequence="The model reads its instructions again in the middle of the conversation.",
        sights=tuple(sights),
        severity=Severity.WARNING,
        fix="Write it once, before the loop.",
    )


def _own_text(subject: Subject, seen: Observation) -> tuple[int, int] | None:
    """Where words stand before the question that are no part of a turn's header; None where there are
    none."""
    head = before(seen, "/messages/0/content") or ""
    end = len(head) - len(_header(subject, head))
    start = _system_header(subject, head[:end])
    opening = _OPENING.match(head[start:end])
    start += opening.end() if opening else 0
    text = _without_tags(head[start:end])
    if len(_WORD.findall(text)) < _LEAST:
        return None
    first = start + len(text) - len(text.lstrip(_EDGES))
    return first, start + len(text.rstrip(_EDGES))


def _without_tags(text: str) -> str:
    return TAG.sub(lambda tag: " " * len(tag.group()), text)


def _system_header(subject: Subject, head: str) -> int:
    """How much of it is what stands before given system text as well, and is no text itself."""
    beside = before(subject.see("roles/system-user"), "/messages/0/content")
    start = agree(head, beside) if beside else 0
    while 0 < start < len(head) and head[start - 1].isalnum():
        start -= 1
    return start if len(_WORD.findall(_without_tags(head[:start]))) < _LEAST else 0


def _header(subject: Subject, head: str) -> str:
    """What stands before every question, the first one's end with it."""
    from chatlint.infer.markers import common_suffix

    history = subject.see("roles/user-assistant-user")
    answer, second = bounds(history, "/messages/1/content"), bounds(history, "/messages/2/content")
    if answer is None or second is None:
        return ""
    header = common_suffix([head, history.text[answer[1] : second[0]]])
    return header if len(_WORD.findall(_without_tags(header))) < _REPEATED else ""


def _quoted(text: str) -> str:
    return repr(visible(text if len(text) <= _SHOWN else text[:_SHOWN] + "…"))
