"""Content as text or as a list of text parts is lost, breaks, prints Python or is written twice.

## What it does
Sends the text of user, system and assistant messages as a string, as one text part and as two, and compares
what reaches the prompt. Questions, system text and tool results are to stand there once.

## Why is this bad
OpenAI's API has both shapes, and clients mix them. A part that is lost is silent; a printed list shows the
model Python; a text that stands twice costs its tokens twice, and is not what the model was trained on.
Engines that know can flatten parts for a template that takes only strings, those that do not fail.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>
{% for part in m.content if part.type == 'text' %}{{ part.text }}{% endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from chatlint.probe.reading import Notation, notation
from chatlint.records import replace
from chatlint.rules.calls import parts_in
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.edits import Mending, joined_parts
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, bounds, content_shown, faulted, said
from chatlint.rules.turns import chats
from chatlint.rules.twice import written_twice
from chatlint.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


class _Role(NamedTuple):
    """A role, the probe that has its text as a string, the one with two parts, and which message it is."""

    name: str
    string: str
    parts: str
    content: str


_ROLES = (
    _Role("user", "roles/user", "content/two-parts", "/messages/0/content"),
    _Role("system", "roles/system-user", "content/two-parts-system", "/messages/0/content"),
    _Role("assistant", "roles/user-assistant-user", "content/two-parts-assistant", "/messages/1/content"),
)
_FIX = "`{% if content is string %}{{ content }}{% else %}{% for part in content %}{{ part.text }}…`"


class _Outcome(StrEnum):
    """What becomes of content in the wrong shape, the worst first."""

    LOST = "is lost"
    PARTLY = "loses parts"
    BROKEN = "breaks the template"
    PYTHON = "is printed as Python"
    JSON = "is printed as JSON"


_WRITTEN = {Notation.PYTHON: _Outcome.PYTHON, Notation.JSON: _Outcome.JSON}
_Seen: TypeAlias = "tuple[_Outcome, str, Observation]"


@rule("CT303", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    strings: list[_Seen] = []
    parts: list[_Seen] = []
    for role in _ROLES:
        # asked as they are, not in the manner in which the template answers: the shape is the question
        string = subject.trace.look(role.string)
        if content_shown(string, role.content):
            parts += _outcomes(role, [subject.trace.look(role.parts)])
        elif content_shown(subject.trace.look(role.string, {"parts": role.name}), role.content):
            strings += _outcomes(role, [string])
    broken = subject.trace.look("content/empty-parts") if not strings and not parts else None
    if broken and faulted(broken):
        yield _empty(broken)
    if strings:
        yield _cause("a list of parts", "a text", strings, Severity.ERROR)
    yield from _twice(subject)
    if parts:
        silent = any(outcome in (_Outcome.LOST, _Outcome.PARTLY) for outcome, _, _ in parts)
        yield _cause("a text", "a list of parts", parts, Severity.ERROR if silent else Severity.WARNING)


def _twice(subject: Subject) -> Iterator[Cause]:
    found = list(written_twice(subject))
    names = [what for what, _ in found]
    if found:
        yield Cause(
            key=f"twice: {', '.join(names)}",
            message=f"what was said once is written twice: {listed(names)}",
            consequence="The model reads the text twice, and its tokens are paid twice.",
            sights=tuple(sight for _, sight in found),
            severity=Severity.WARNING,
            fix="Print each content in one place.",
        )


def _empty(broken: Observation) -> Cause:
    return Cause(
        key="empty list",
        message=f"content that is an empty list of parts breaks the template: {said(broken)}",
        consequence="Requests fail where a client or a server took the only part out, an image say.",
        sights=(Sight(broken),),
        severity=Severity.WARNING,
        fix="Loop over the parts; take none by its number.",
    )


def _outcomes(role: _Role, observations: list[Observation]) -> Iterator[_Seen]:
    for one in observations:
        outcome = _outcome(one, role.content)
        if outcome:
            yield outcome, role.name, one


def _outcome(observation: Observation, content: str) -> _Outcome | None:
    if faulted(observation):
        return _Outcome.BROKEN
    if observation.prompt is None:
        return None
    written = _WRITTEN.get(notation(observation, content))
    if written or content_shown(observation, content):
        return written
    return _Outcome.PARTLY if bounds(observation, content) else _Outcome.LOST


def _shows(seen: Observation) -> bool:
    """Whether parts of any message are not written as text."""
    return any(_outcome(seen, pointer) for pointer in parts_in(seen.case.conversation))


_MENDING = Mending(
    joined_parts("content"), _shows, ("parts", ("given", "all")), "uses the value of `content`"
)


def _cause(wanted: str, given: str, seen: list[_Seen], severity: Severity) -> Cause:
    """All roles go wrong for one reason: content is taken to have one shape."""
    roles = {outcome: {role: None for what, role, _ in seen if what is outcome} for outcome in _Outcome}
    ways = [f"{outcome} ({', '.join(names)})" for outcome, names in roles.items() if names]
    broken = next((f": {said(one)}" for outcome, _, one in seen if outcome is _Outcome.BROKEN), "")
    lost = bool(roles[_Outcome.LOST] or roles[_Outcome.PARTLY])
    takes = all(outcome is _Outcome.PARTLY for outcome, _, _ in seen)
    taken = _taken(seen) if takes else ""
    return Cause(
        key="not all parts" if takes else f"only {wanted}",
        message=f"of several parts {f'only the {taken} is' if taken else 'not all are'} written "
        f"({', '.join(roles[_Outcome.PARTLY])})"
        if takes
        else f"content must be {wanted}; {given} {', '.join(ways)}{broken}",
        consequence="The request succeeds, and the model never sees the text."
        if lost
        else "Engines that do not change the shape first fail, or show the model Python.",
        sights=tuple(_sight(outcome, role, one) for outcome, role, one in seen),
        severity=severity,
        fix=f"Write all parts{f', not the {taken} alone' if taken else ''}: "
        "`{% for part in content %}{{ part.text }}{% endfor %}`."
        if takes
        else _FIX,
        mending=_MENDING if wanted == "a text" else None,
    )


def _taken(seen: list[_Seen]) -> str:
    """Which of two parts is written for every role, "" where that differs."""
    pointers = {role.name: role.content for role in _ROLES}
    written = {
        (bounds(one, f"{pointers[role]}/0/text") is None, bounds(one, f"{pointers[role]}/1/text") is None)
        for _, role, one in seen
    }
    if written == {(False, True)}:
        return "first"
    return "last" if written == {(True, False)} else ""


def _sight(outcome: _Outcome, role: str, observation: Observation) -> Sight:
    content = next(known.content for known in _ROLES if known.name == role)
    note = "" if outcome is _Outcome.BROKEN else f"{role} content {outcome}"
    place = at(observation, content, note)
    if outcome is _Outcome.PARTLY:
        place = replace(place, lost=content)
    return replace(place, rank=list(_Outcome).index(outcome))
