"""Nothing ends an assistant turn, or something does only in some places.

## What it does
Looks between an answer and the next message, and behind an answer that comes last, for the mark that hands
over.

## Why is this bad
A model stops where it has learned to write a mark. Where answers are followed by the next header alone, only
stop strings in every request can end its turn; where the last answer is left open, training on conversations
never shows the end of the answer that counts.

## Example
```jinja bad
{% for m in messages %}{{ m.role | upper }}: {{ m.content }}
{% endfor %}{% if add_generation_prompt %}ASSISTANT: {% endif %}
```
```jinja good
{% for m in messages %}{{ m.role | upper }}: {{ m.content }}{{ eos_token if m.role == 'assistant' }}
{% endfor %}{% if add_generation_prompt %}ASSISTANT: {% endif %}
```

## Fix
Write the end-of-sequence token after every answer, the last one included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chatlint.lazy import regex
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.ends import TAG, tail
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.sights import bounds
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


_QUESTION = "/messages/0/content"
_MARK = regex(r"[^\w\s.,:;!?'\"()#*-]")
"""What a learned mark has that prose between messages has not."""


class _Tail(NamedTuple):
    seen: Observation
    start: int
    text: str
    marked: bool


@rule("CT602", severity=Severity.WARNING, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    history, last = _tail(subject, "roles/user-assistant-user"), _tail(subject, "roles/user-assistant")
    if history is None or last is None:
        return
    if not history.marked and not last.marked:
        yield _nothing(history)
    elif not last.marked and history.text.strip():
        yield _open_last(last, _is_header(subject, history.text))
    elif not history.marked and not _goes_on(subject, last.text):
        yield _open_history(history, last, _ends_anything(subject, last.text))


def _tail(subject: Subject, probe: str) -> _Tail | None:
    seen = subject.see(probe, generation="off")
    found = tail(seen, "/messages/1/content")
    if found is None:
        return None
    start, text = found
    return _Tail(seen, start, text, _is_marked(subject, text))


def _is_marked(subject: Subject, text: str) -> bool:
    """Whether a token stands in the text that ends something: a learned mark, EOS, or a tag."""
    output = subject.format
    learned = (*output.end_of_turn, *output.end_of_message) if output else ()
    given = subject.template.special_tokens.get("eos_token")
    known = [mark for mark in (*learned, given) if isinstance(mark, str) and _MARK.search(mark)]
    return any(mark in text for mark in known) or (_first_tag(text) != "" and not _is_header(subject, text))


def _first_tag(text: str) -> str:
    found = TAG.search(text)
    return found.group() if found else ""


def _is_header(subject: Subject, text: str) -> bool:
    """Whether the first tag after an answer is how the next message begins: no question is followed by it,
    and one that comes first is preceded by it."""
    first = subject.see("roles/user-assistant", generation="off")
    asked, start = tail(first, "/messages/0/content"), bounds(first, "/messages/0/content")
    tag = _first_tag(text)
    return not (asked and tag == _first_tag(asked[1])) and bool(start and tag in first.text[: start[0]])


def _goes_on(subject: Subject, text: str) -> bool:
    """Whether what stands behind a last answer is how the model's turn begins, written whatever comes last
    and whether or not it is asked for. What ends the text then ends that turn, and no answer."""
    asked = tail(subject.see("roles/user"), _QUESTION)
    opened = asked[1].strip() if asked else ""
    return opened != "" and opened in text and opened in _behind_a_question(subject)


def _ends_anything(subject: Subject, text: str) -> bool:
    """Whether a question that comes last is ended by the same."""
    return text.strip() == _behind_a_question(subject).strip()


def _behind_a_question(subject: Subject) -> str:
    found = tail(subject.see("roles/user", generation="off"), _QUESTION)
    return found[1] if found else ""


def _sight(found: _Tail, note: str) -> Sight:
    end = max(found.start + len(found.text), min(found.start + 1, len(found.seen.text)))
    return Sight(found.seen, min(found.start, end - 1), end, note)


def _nothing(history: _Tail) -> Cause:
    return Cause(
        key="nothing",
        message="nothing ends an answer: the next message follows at once",
        consequence="No token ends the model's turn; every request needs stop strings.",
        sights=(_sight(history, "between an answer and the next message"),),
        fix="Write `{{ eos_token }}` after every answer.",
    )


def _open_last(last: _Tail, header: bool) -> Cause:
    if header:
        message = "only the beginning of the next message ends an answer: one that comes last has no end"
    else:
        message = "an answer that comes last is not ended, one in the history is"
    return Cause(
        key="last",
        message=message,
        consequence="Training on whole conversations never shows how the last answer ends.",
        sights=(_sight(last, "the end of the conversation"),),
        severity=Severity.INFO,
        fix="Write the mark after every answer, whatever follows.",
    )


def _open_history(history: _Tail, last: _Tail, anything: bool) -> Cause:
    return Cause(
        key="history",
        message="only the end of the whole text is marked: an answer in the history is not ended"
        if anything
        else "an answer in the history is not ended, one that comes last is",
        consequence="The model sees earlier turns of its own without the mark that it wrote there.",
        sights=(_sight(history, "between an answer and the next message"),),
        fix="Write the mark after every answer, whatever follows.",
    )
