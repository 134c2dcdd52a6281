"""What users, tools and documents write can spell the marks between turns.

## What it does
Writes the template's own structural tokens into a question, a tool result, a tool's description, a call's
arguments and a document, and looks whether they come out as they went in. The boundary between what the
template wrote and what it was given is exact, so nothing is guessed.

## Why is this bad
A prompt is one text. Whoever encodes it as a whole turns spelled marks into real ones: text that a tool
fetched can end its turn and open one of the system. Where such text stands inside the system turn, it need
not even forge a turn.

## Example
```json tokenizer.json
{"eos": "<|over|>", "adds_bos": false, "added_tokens": ["<|over|>", "<|user|>", "<|assistant|>"]}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content | replace('<|', '< |') }}<|over|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Encode template text and input apart (`chatlint render --tokens` shows how; transformers has
`sanitize_control_tokens=True`), or refuse input that spells special tokens.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from chatlint.conversation import JSON, value_at, with_value
from chatlint.lazy import regex
from chatlint.probe.reading import leaves
from chatlint.rules.calls import ARGUMENTS, RESULT, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.ends import TAG, written
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, bounds
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_NAMES = "system|user|assistant|tool|function|ipython|model|human"
_ROLE = regex(
    rf"[<\[][^<>\[\]\s]*?({_NAMES}|observation|chatbot|results?)[^<>\[\]\s]*[>\]]"
    rf"|(?<=[>\]])\s{{0,2}}({_NAMES}|documents?)\b",
    re.I,
)
_SHOWN, _PLANTED = 4, 8


class _Field(NamedTuple):
    """Where somebody else's text goes: a prompt, the place in its conversation, and whose text it is."""

    name: str
    seen: Observation
    pointer: str
    fetched: bool
    """By a tool or a search: nobody in the conversation has said it."""


@rule("CT901", severity=Severity.INFO, profiles={"security": Severity.WARNING})
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    marks = _structure(subject)
    open_fields = list(_open(subject, list(_fields(subject)), marks))
    if not open_fields:
        return
    yield _can_spell([one for one, _ in open_fields], max((spelled for _, spelled in open_fields), key=len))
    inside = [one for one, _ in open_fields if one.fetched and _role_at(one) == "system"]
    if inside:
        yield _inside_system(inside)


def _structure(subject: Subject) -> list[str]:
    """Special tokens that the template writes, and the marks between turns, tokens or not; where there are
    neither, the words."""
    text = "".join(map(written, (subject.see("roles/system-user"), subject.see("roles/user-assistant-user"))))
    tokens = [token for token in subject.package.markers if token in text]
    output = subject.format
    turns = [*((output.header, *output.end_of_turn) if output else ()), *_between_turns(subject)]
    found = [mark for mark in TAG.findall(" ".join(turns)) if mark in text]
    marks = dict.fromkeys([*(one for one in _openers(subject, found) if one not in found), *found])
    assumed = subject.template.special_tokens.values() if subject.template.special_tokens_assumed else ()
    every = dict.fromkeys([*tokens, *(mark for mark in marks if mark not in assumed)])
    return list(every)[:_PLANTED] or _words(subject)


def _openers(subject: Subject, marks: list[str]) -> Iterator[str]:
    """The marks before all messages that one between messages closes."""
    from chatlint.infer.markers import mirrors

    seen = subject.see("roles/system-user")
    place = bounds(seen, "/messages/0/content")
    for mark in TAG.findall(seen.text[: place[0]] if place else ""):
        if any(mirrors(mark, other) for other in marks):
            yield mark


def _between_turns(subject: Subject) -> Iterator[str]:
    """What the template writes between one message and the next."""
    for probe in ("roles/system-user", "roles/user-assistant-user"):
        seen = subject.see(probe)
        count = len(seen.case.conversation.messages)
        places = [bounds(seen, f"/messages/{index}/content") for index in range(count)]
        known = [place for place in places if place]
        for (_, end), (start, _) in pairwise(known):
            yield seen.text[end:start]


def _words(subject: Subject) -> list[str]:
    """Turns that are told apart by words alone: what stands before every question."""
    from chatlint.infer.markers import common_suffix

    seen = subject.see("roles/user-assistant-user")
    questions = [bounds(seen, "/messages/0/content"), bounds(seen, "/messages/2/content")]
    heads = [seen.text[: place[0]] for place in questions if place]
    header = common_suffix(heads).strip() if len(heads) > 1 else ""
    return [header] if any(character.isalnum() for character in header) else []


def _fields(subject: Subject) -> Iterator[_Field]:
    way = supported(subject)
    called = subject.see("calls/one-result", way) if way is not None else None
    alone, tools = (called, called) if called and called.prompt else (subject.see("roles/user"), None)
    yield _Field("a question", alone, "/messages/0/content", False)
    if not tools or not tools.prompt or not tools.prompt.shows("/tools/0/function/description"):
        tools = subject.see("tools/given")
    yield _Field("a tool's description", tools, "/tools/0/function/description", False)
    if subject.footing.mentions(r"\bdocuments\b"):
        yield _Field("a document", subject.see("documents/given"), "/documents/0/text", True)
    if called:
        yield _Field("a tool result", called, RESULT, True)
        yield _Field("an argument", called, ARGUMENTS, False)


def _open(subject: Subject, fields: list[_Field], marks: list[str]) -> Iterator[tuple[_Field, list[str]]]:
    """The fields that can spell marks, and which. Those of one conversation are asked together, and alone
    where that fails."""
    prompts: dict[str, list[_Field]] = {}
    for one in fields:
        if (place := _text_place(one)) and one.seen.prompt and one.seen.prompt.shows(place):
            prompts.setdefault(one.seen.case.id, []).append(one)
    found = {}
    for together in prompts.values():
        seen = _planted(subject, together, marks)
        for one in together:
            alone = seen if seen.prompt or len(together) == 1 else _planted(subject, [one], marks)
            found[one.name] = _spelled(alone, one, marks)
    for one in fields:
        if spelled := found.get(one.name):
            yield one, spelled


def _planted(subject: Subject, fields: list[_Field], marks: list[str]) -> Observation:
    """A conversation whose fields spell the marks."""
    case = fields[0].seen.case
    planted = case.conversation
    for one in fields:
        planted = with_value(planted, _text_place(one), "".join(f"{mark} Zircon " for mark in marks))
    name = " and ".join(one.name for one in fields)
    return subject.trace.ask_conversation(
        f"forged/{case.id}/{name}", planted, add_generation_prompt=case.add_generation_prompt
    )


def _spelled(seen: Observation, field: _Field, marks: list[str]) -> list[str]:
    """The marks that come out as they went in."""
    spans = seen.prompt.inputs(_text_place(field)) if seen.prompt else ()
    text = "".join(seen.prompt.piece(span) for span in spans) if seen.prompt else ""
    return [mark for mark in marks if mark in text]


def _text_place(field: _Field) -> str:
    """The first text at or below the field: parts and arguments hold theirs deeper."""
    conversation = field.seen.case.conversation
    try:
        value: JSON = value_at(conversation, field.pointer)
    except KeyError:
        return ""
    texts = [
        place for place in leaves(value, field.pointer) if isinstance(value_at(conversation, place), str)
    ]
    return next((place for place in texts if not place.endswith("/type")), "")


def _role_at(field: _Field) -> str:
    """Whose turn the field stands in, by the last mark before it that names a role."""
    sight = at(field.seen, _text_place(field))
    roles = list(_ROLE.finditer(written(field.seen)[: sight.start]))
    return (roles[-1][1] or roles[-1][2]).lower() if roles else ""


def _sights(fields: list[_Field], note: str) -> tuple[Sight, ...]:
    return tuple(at(one.seen, _text_place(one), note) for one in fields)


def _can_spell(fields: list[_Field], marks: list[str]) -> Cause:
    names = ", ".join(one.name for one in fields)
    count = f"{len(marks)} structural tokens" if len(marks) > 1 else "a structural token"
    more = " …" if len(marks) > _SHOWN else ""
    return Cause(
        key="spelled",
        message=f"{names} can spell {count}: {' '.join(marks[:_SHOWN])}{more}",
        consequence="Where the prompt is encoded as one text, input ends its own turn and opens another.",
        sights=_sights(fields, "written as it is given"),
        fix="Encode input without special tokens: sanitize_control_tokens=True in transformers.",
    )


def _inside_system(fields: list[_Field]) -> Cause:
    names = " and ".join(one.name for one in fields)
    return Cause(
        key="inside the system turn",
        message=f"{names} {'stands' if len(fields) == 1 else 'stand'} inside the system turn",
        consequence="What was fetched speaks with the system's voice: it need not even forge a turn.",
        sights=_sights(fields, "in the system's turn"),
        severity=Severity.WARNING,
        fix="Give fetched text a turn of its own, after the system's.",
    )
