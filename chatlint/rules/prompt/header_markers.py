"""The exact texts that stand before questions and answers, for training on answers alone.

## What it does
Finds the text that stands before every user message and before every answer, up to where its content
begins, and counts each in a conversation.

## Why is this bad
It is not, as long as they are told apart. Trainers that mask by text (`train_on_responses_only` and its
kin) need these strings to the last newline; with a wrong one nothing is masked, or everything is.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}{{ m.content }}
{% endfor %}
```
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.sights import at, bounds
from chatlint.rules.turns import agree, chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_USERS, _ANSWERS = (0, 2), (1, 3)
_REST_OF_A_TAG = regex(r"[^<\[\n]*[>\]](?=.)", re.S)


@rule("CT316", severity=Severity.INFO, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    seen = subject.see("sequences/uaua", generation="off")
    places = [bounds(seen, f"/messages/{number}/content") for number in range(4)]
    found = [place for place in places if place is not None]
    if not chats(subject) or len(found) < 4:
        return
    starts = [0, *(end for _, end in found)]
    before = [seen.text[end:start] for end, (start, _) in zip(starts, found, strict=False)]
    ends = _ends(subject, before[0], seen.text[starts[-1] :])
    user = _opened(_user(before, seen.text[starts[-1] :], ends), ends)
    answer = _opened(_answer(before, subject, ends), ends)
    if not user or not answer:
        return
    odd = [
        repr(header)
        for header, places in ((user, _USERS), (answer, _ANSWERS))
        if seen.text.count(header) > len(places)
    ]
    yield _found(user, answer, odd, at(seen, "/messages/1/content", "an answer"))


def _found(user: str, answer: str, odd: list[str], sight: Sight) -> Cause:
    elsewhere = f"; {' and '.join(odd)} {'stands' if len(odd) == 1 else 'stand'} elsewhere, too"
    return Cause(
        key="headers",
        message=f"before a question stands {user!r}, before an answer {answer!r}{elsewhere if odd else ''}",
        consequence="A trainer that masks by text cannot tell answers by it."
        if odd
        else "Trainers that mask by text need exactly these.",
        sights=(sight,),
        profiles={"training": Severity.WARNING} if odd else {},
        only=("training",),
    )


def _ends(subject: Subject, first: str, tail: str) -> tuple[str, ...]:
    """Marks that end turns: those that were learned, but for one that begins the first header, too, and tags
    behind a last answer that do not stand before a first question."""
    from chatlint.infer.markers import marks

    learned = subject.format.end_of_turn if subject.format else ()
    begins = marks(first)[-1:]
    found = [mark for mark in learned if mark and mark not in begins]
    return (*found, *(tag for tag in marks(tail) if tag not in first))


def _opened(header: str, ends: tuple[str, ...]) -> str:
    """A header without marks before it that end the turn before."""
    bare = header.lstrip()
    while mark := next((mark for mark in ends if bare.startswith(mark)), ""):
        bare = bare[len(mark) :].lstrip()
    return bare if bare and bare != header.lstrip() else header


def _user(before: list[str], answer_tail: str, ends: tuple[str, ...]) -> str:
    """What stands before every question, without what closes the answer before it: the mark that ends it, or
    what a last answer is followed by as well."""
    ended = _without_end(before[2], answer_tail, ends)
    if before[0].endswith(ended):
        return ended.lstrip() or ended
    header = _common_end(before[0], ended)
    if not header.startswith(("<", "[")):
        rest = _REST_OF_A_TAG.match(header)
        header = header[rest.end() :] if rest else header
    return header.lstrip() or header


def _answer(before: list[str], subject: Subject, ends: tuple[str, ...]) -> str:
    """What stands before every answer, without what closes the question: the part of the generation prompt
    that the history repeats, as the prompt may open a thought as well."""
    off, on = subject.see("sequences/uau", generation="off"), subject.see("sequences/uau")
    question = bounds(off, "/messages/2/content")
    tail = off.text[question[1] :] if question else ""
    first, last = (_without_end(before[place], tail, ends) for place in _ANSWERS)
    prompted = on.text.removeprefix(off.text) if off.prompt and on.text.startswith(off.text) else ""
    for length in range(len(prompted), len(prompted) - len(prompted.lstrip()), -1):
        if first.endswith(prompted[:length]) and prompted[:length] in last:
            return prompted[:length]
    return _common_end(first, last)


def _without_end(text: str, tail: str, ends: tuple[str, ...]) -> str:
    """A text without the marks at its beginning that end the turn before; where there are none, without what
    it has in common with a last turn's end."""
    opened = _opened(text, ends)
    return opened if opened != text else _behind(text, tail)


def _behind(text: str, tail: str) -> str:
    """A text without what it has in common with a turn's end, cut at a tag or a word; all of it where no
    more is left than blanks."""
    place = agree(text, tail)
    opened = max(text.rfind("<", 0, place), text.rfind("[", 0, place))
    if opened >= 0 and not any(sign in text[opened:place] for sign in ">]"):
        place = opened
    while 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum():
        place -= 1
    return text[place:] if text[place:].strip() else text


def _common_end(one: str, other: str) -> str:
    return one[len(one) - agree(one[::-1], other[::-1]) :]
