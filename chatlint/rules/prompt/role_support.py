"""A message is dropped, refused or breaks the template because of its role or its place.

## What it does
Sends system text (first, second, late, alone, in a tool loop), developer messages, messages of the same role
in a row and interrupted tool calls, and looks for each message in the prompt.

## Why is this bad
A dropped message is silent: the request succeeds without the instructions. A refusal fails requests of
common clients: coding agents send `developer` and late system messages, trimmed chats have two user
messages in a row.

## Example
```jinja bad
{% for m in messages %}{% if m.role != 'system' %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chatlint.lazy import regex
from chatlint.records import replace
from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, Sight, failure_key, smallest_first
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.severity import SEVERITIES
from chatlint.rules.sights import at, at_end, bounds, content_shown, declined, faulted, said
from chatlint.rules.turns import chats, same_headers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


class _Order(NamedTuple):
    """A probe, what it has that not every conversation has, the message that may be dropped (by its
    position), and how severe that is; `refusing` is how severe a refusal is, None where it is only a
    limit."""

    probe: str
    what: str
    messages: tuple[int, ...]
    dropped: Severity = Severity.ERROR
    refusing: Severity | None = Severity.WARNING


_UNDEFINED = regex(r"'(\w+)' is undefined")
_SYSTEM, _LATER, _DEVELOPER = "system text", "system text that is not first", "a developer message"
_ALONE, _IN_A_LOOP = "system text alone", "system text in a tool loop"
_REASONS = ((_SYSTEM, _LATER, _DEVELOPER), (_ALONE, _IN_A_LOOP))
"""What is dropped for one reason: a role for which nothing is written, a question that is not the last."""
_AGAIN = (_LATER, _ALONE, _IN_A_LOOP)
"""What is lost anyhow where all system text is."""
_AFTER_SYSTEM = "roles/developer-after-system"
_ORDERS = (
    _Order("roles/user-assistant-user", "an answer in the history", (1,)),
    _Order("roles/system-user", _SYSTEM, (0,), refusing=None),
    _Order("roles/two-users", "one of two user messages in a row", (0, 1)),
    _Order("roles/two-assistants-user", "one of two assistant messages in a row", (1, 2)),
    _Order("roles/two-systems", _LATER, (1,), refusing=None),
    _Order("roles/late-system", _LATER, (2,), refusing=None),
    _Order("roles/late-system-after-first", _LATER, (3,), refusing=None),
    _Order("roles/assistant-first", "an answer that comes first", (0,), Severity.WARNING, None),
    _Order("roles/developer", _DEVELOPER, (0,), Severity.WARNING),
    _Order(_AFTER_SYSTEM, _DEVELOPER, (1,), Severity.WARNING),
    _Order("roles/empty-system", "empty system text", ()),
    _Order("roles/system-only", _ALONE, (0,), Severity.WARNING),
    _Order("roles/assistant-only", "an answer alone", (0,), Severity.WARNING, None),
)
_WITH_SYSTEM = (_AFTER_SYSTEM, "roles/system-only")
_INTERRUPTED = _Order("calls/then-user", "a question instead of a tool result", (2,))
_LOOP = _Order("calls/with-system", _IN_A_LOOP, (0,))
_ORPHAN = _Order("calls/orphan-result", "a tool result without a call", (), refusing=None)


@rule("CT302", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    plain = (("a question alone", "roles/user"), ("an answer in the history", "roles/user-assistant-user"))
    broken = next(((what, one) for what, probe in plain if faulted(one := subject.see(probe))), None)
    if broken and not _is_of_no_name(subject, broken[1]):
        yield _always(*broken)
    if _refuses_all(subject):
        yield _nothing_goes(subject)
        return
    if not chats(subject):
        yield from _ignored(subject)
        return
    way = supported(subject)
    seen = [(order, subject.see(order.probe)) for order in _ORDERS]
    if way is not None:
        seen += [(order, subject.see(order.probe, way)) for order in (_INTERRUPTED, _ORPHAN)]
    loop = [(_LOOP, subject.see(_LOOP.probe, way))] if way is not None else []
    yield from _dropped([*seen, *loop])
    yield from _failed(seen)


def _is_of_no_name(subject: Subject, observation: Observation) -> bool:
    """Whether the template broke on a name that it never sets: an error of `undefined-read`."""
    match = _UNDEFINED.fullmatch(observation.failure.message) if observation.failure else None
    stored = {variable.name for variable in subject.syntax.variables if variable.stored}
    return match is not None and match[1] not in stored and not match[1].endswith("_token")


def _always(what: str, observation: Observation) -> Cause:
    return Cause(
        key=what,
        message=f"{what} breaks the template: {said(observation)}",
        consequence="Every request that has it fails.",
        sights=(Sight(observation),),
    )


def _refuses_all(subject: Subject) -> bool:
    """Whether the template refuses a question in words, and nothing that was asked gave a prompt."""
    return declined(subject.footing.base) and not any(one.prompt for one in subject.trace.observations)


def _nothing_goes(subject: Subject) -> Cause:
    """Some templates take nothing but what one library makes for them; then they say something of it."""
    own = bool(subject.syntax.reads or subject.syntax.roles)
    return Cause(
        key="refuses all",
        message=f"every conversation is refused ({said(subject.footing.base)})",
        consequence="No request of the usual kind succeeds; nothing else of this template could be checked.",
        sights=(Sight(subject.footing.base),),
        severity=Severity.WARNING if own else Severity.ERROR,
        fix="Take messages of the roles `user` and `assistant` whose content is a text.",
    )


_USUAL = {"user", "assistant", "system", "developer", "tool", "function", "ipython"}
_LONG = 20
"""Words around a message that make it the object of a task: guards and rankers look at one message."""


def _ignored(subject: Subject) -> Iterator[Cause]:
    """A template that is no chat loses messages by purpose, if it asks for a judgement of one, or has roles
    of its own beside that of a question. Without either it only forgets them."""
    alone, history = subject.see("roles/user"), subject.see("roles/user-assistant-user")
    own = sorted({literal.role for literal in subject.syntax.roles} - _USUAL)
    if len(alone.text.split()) > _LONG:
        return
    if alone.prompt and not content_shown(alone, "/messages/0/content"):
        roles = f" (the template's own roles are {', '.join(own)})" if own else ""
        yield _forgotten(f"questions are dropped{roles}", alone, 0, Severity.ERROR)
    elif own:
        if history.prompt and same_headers(history):
            yield _together(history, Severity.INFO)  # who has roles of its own may embed, or rank
    elif history.prompt and not content_shown(history, "/messages/2/content"):
        yield _forgotten("all that follows the first message is dropped", history, 2, Severity.ERROR)
    elif history.prompt and not content_shown(history, "/messages/0/content"):
        yield _forgotten("all that comes before the last message is dropped", history, 0, Severity.WARNING)
    elif history.prompt and not content_shown(history, "/messages/1/content"):
        yield _forgotten("answers in the history are dropped", history, 1, Severity.WARNING)
    elif history.prompt and same_headers(history):
        yield _together(history)


def _together(history: Observation, severity: Severity | None = None) -> Cause:
    """Base models and embedders may want just that; where there are marks, they are no marks of roles."""
    first, answer = (bounds(history, f"/messages/{place}/content") or (0, 0) for place in (0, 1))
    between = history.text[first[1] : answer[0]].strip()
    with_what = f": {between!r} stands before both" if between else ", they run together"
    return Cause(
        key="run together",
        message=f"nothing tells questions from answers{with_what}",
        consequence="Enough to go on or to embed; in a chat the model does not know who said what.",
        sights=(at(history, "/messages/1/content", "an answer, written as a question is"),),
        severity=severity or (Severity.WARNING if between else Severity.INFO),
        fix="Write the role before each message.",
    )


def _forgotten(what: str, seen: Observation, index: int, severity: Severity) -> Cause:
    place = f"/messages/{index}/content"
    return Cause(
        key=what,
        message=f"{what} without a word",
        consequence="The request succeeds, and the model does not see the conversation.",
        sights=(at_end(seen, f"message {index + 1} is nowhere up to here", lost=place),),
        severity=severity,
        fix="Loop over `messages`, and write every one.",
    )


def _dropped(seen: list[tuple[_Order, Observation]]) -> Iterator[Cause]:
    """What is lost, by its reason."""
    lost = [(order, one, place) for order, one in seen if (place := _first_lost(order, one)) is not None]
    system = any(order.what == _SYSTEM for order, _, _ in lost)
    for reason in _REASONS:
        found = [
            entry for entry in lost if entry[0].what in reason and not (system and entry[0].what in _AGAIN)
        ]
        if found:
            yield _drop(found)
    for what in dict.fromkeys(
        order.what for order, _, _ in lost if not any(order.what in it for it in _REASONS)
    ):
        yield _drop([entry for entry in lost if entry[0].what == what])


def _first_lost(order: _Order, seen: Observation) -> int | None:
    """The position of the first message that is lost; None for none."""
    if seen.prompt is None:
        return None
    shown = {place: content_shown(seen, f"/messages/{place}/content") for place in order.messages}
    return next((place for place in order.messages if not shown[place]), None)


def _drop(found: list[tuple[_Order, Observation, int]]) -> Cause:
    whats = list(dict.fromkeys(order.what for order, _, _ in found))
    said = _said_of([order for order, _, _ in found])
    severity = min((order.dropped for order, _, _ in found), key=SEVERITIES.index)
    sights = [
        replace(
            at_end(one, f"message {place + 1} is nowhere up to here", lost=f"/messages/{place}"),
            rank=SEVERITIES.index(order.dropped),
        )
        for order, one, place in found
    ]
    return Cause(
        key=f"dropped: {' and '.join(whats)}",
        message=f"{' and '.join(said)} {'are' if len(whats) > 1 else 'is'} dropped without a word",
        consequence="The request succeeds, and the model never sees the message.",
        sights=smallest_first(sights),
        severity=severity,
        fix="Write system text whatever follows it."
        if set(whats) <= set(_REASONS[1])
        else "Write messages of every role, or refuse them with `raise_exception`.",
    )


def _said_of(orders: list[_Order]) -> list[str]:
    """What the conversations have, each once. What goes wrong only behind system text is said to."""
    alone = {order.what for order in orders if order.probe != _AFTER_SYSTEM}
    behind = (
        f"{order.what} after system text" if order.what not in alone else order.what for order in orders
    )
    return list(dict.fromkeys(behind))


def _failed(seen: list[tuple[_Order, Observation]]) -> Iterator[Cause]:
    limits = {
        failure_key(one.failure)
        for order, one in seen
        if one.failure and declined(one) and order.what == _SYSTEM
    }  # what has system text as well is refused for that
    failures: dict[str, list[tuple[_Order, Observation]]] = {}
    for order, one in seen:
        if one.failure and (faulted(one) or (declined(one) and order.refusing)):
            key = failure_key(one.failure)
            if not (key in limits and order.probe in _WITH_SYSTEM):
                failures.setdefault(key, []).append((order, one))
    for group in _alike(failures.values()):
        yield _failure(group)


def _alike(
    groups: Iterable[list[tuple[_Order, Observation]]],
) -> Iterable[list[tuple[_Order, Observation]]]:
    """Failures of the same messages are one cause, though the template says it in two places."""
    found: dict[tuple[bool, frozenset[str]], list[tuple[_Order, Observation]]] = {}
    for group in groups:
        key = (faulted(group[0][1]), frozenset(order.what for order, _ in group))
        found.setdefault(key, []).extend(group)
    return found.values()


def _failure(group: list[tuple[_Order, Observation]]) -> Cause:
    whats = ", ".join(dict.fromkeys(order.what for order, _ in group))
    what = ", ".join(_said_of([order for order, _ in group]))
    broken = faulted(group[0][1])
    odd = all(order.what in (_ALONE, _ORPHAN.what) for order, _ in group)
    return Cause(
        key=f"{'breaks' if broken else 'refused'}: {whats}",
        message=f"{what}: {'the template breaks' if broken else 'refused'} ({said(group[0][1])})",
        consequence="Requests of clients that send this fail.",
        sights=tuple(Sight(one) for _, one in group),
        severity=Severity.WARNING if odd or not broken else Severity.ERROR,
    )
