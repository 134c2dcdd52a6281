"""Content as text or as a list of text parts is lost, breaks or prints Python.

## What it does
Sends the text of user, system and assistant messages as a string, as one text part and as two, and compares
what reaches the prompt.

## Why is this bad
OpenAI's API has both shapes, and clients mix them. A part that is lost is silent; a printed list shows the
model Python. Engines that know can flatten parts for a template that takes only strings, those that do not
fail.

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

from typing import TYPE_CHECKING, NamedTuple

from chatlint.probe.reading import Notation, notation
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, at_end, content_shown, faulted, said
from chatlint.rules.turns import chats

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


@rule("CT303", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    lost: dict[str, list[tuple[str, Sight]]] = {}
    broken: dict[str, list[tuple[str, Observation]]] = {}
    written: dict[Notation, list[Sight]] = {Notation.PYTHON: [], Notation.JSON: []}
    for role in _ROLES:
        string, one, two = _shapes(subject, role)
        if not content_shown(string, role.content):
            if content_shown(one, role.content) and faulted(string):
                broken.setdefault("a list of parts", []).append((role.name, string))
            elif content_shown(one, role.content):
                sight = at_end(string, "the text is nowhere up to here")
                lost.setdefault("a string", []).append((role.name, sight))
            continue
        for parts in (one, two):
            how = notation(parts, role.content)
            if faulted(parts):
                broken.setdefault("a string", []).append((role.name, parts))
            elif how in written:
                written[how].append(at(parts, role.content, "the list's own notation"))
            elif parts.prompt and not content_shown(parts, role.content):
                sight = at_end(parts, "not all parts are in here")
                lost.setdefault("a list of parts", []).append((role.name, sight))
    yield from _lost(lost)
    yield from _broken(broken)
    yield from _written(written)


def _shapes(subject: Subject, role: _Role) -> tuple[Observation, Observation, Observation]:
    """Asked as they are, not in the manner in which the template answers: the shape is the question."""
    look = subject.trace.look
    return look(role.string), look(role.string, {"parts": role.name}), look(role.parts)


def _lost(lost: dict[str, list[tuple[str, Sight]]]) -> Iterator[Cause]:
    for shape, seen in lost.items():
        roles = ", ".join(dict.fromkeys(name for name, _ in seen))
        yield Cause(
            key=f"lost: {shape}",
            message=f"content that is {shape} is lost ({roles})",
            consequence="The request succeeds, and the model never sees the text.",
            sights=tuple(sight for _, sight in seen),
            fix=_FIX,
        )


def _broken(broken: dict[str, list[tuple[str, Observation]]]) -> Iterator[Cause]:
    """Every role breaks for the same reason: content is taken to have one shape."""
    for wanted, seen in broken.items():
        roles = ", ".join(dict.fromkeys(name for name, _ in seen))
        other = "text parts break" if wanted == "a string" else "a text breaks"
        yield Cause(
            key=f"only {wanted}",
            message=f"content must be {wanted} ({roles}): {other} the template ({said(seen[0][1])})",
            consequence="Requests in the other shape fail in engines that do not change it first.",
            sights=tuple(Sight(one) for _, one in seen),
            severity=Severity.WARNING if wanted == "a string" else Severity.ERROR,
            fix=_FIX,
        )


def _written(written: dict[Notation, list[Sight]]) -> Iterator[Cause]:
    for how, sights in written.items():
        if sights:
            name = "Python" if how is Notation.PYTHON else "JSON"
            yield Cause(
                key=f"printed as {name}",
                message=f"text parts are printed as a {name} list, brackets and all",
                consequence="The model reads the list's notation in place of the message.",
                sights=tuple(sights),
                severity=Severity.WARNING,
                fix=_FIX,
            )
