"""Values that a change to a template makes vanish: the prompt had them, or there was none, and now they are
nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from chatlint.conversation import value_at
from chatlint.lazy import regex
from chatlint.probe.reading import leaves, place

if TYPE_CHECKING:
    from chatlint.probe.case import Observation

_NUMBER = regex(r"/\d+(?=/|$)")
_SAID = regex(r"/messages/\d+/(?:content|tool_calls/\d+/function)(?:/|$)")


def vanished(before: Observation, after: Observation, seen: Iterable[Observation]) -> str:
    """The first value that reached the prompt before and does not now. Where there was no prompt, the first
    one of a content or a call that is missing, and of a kind that none of what was `seen` leaves out: what
    else a message has (a name, a refusal), the template may never have known. "" if there is none."""
    for pointer in _lost(after):
        if before.prompt is not None:
            missed = place(before, pointer) is not None
        else:
            missed = bool(_SAID.match(pointer)) and not _usually_lost(_kind(after, pointer), seen)
        if missed:
            return pointer
    return ""


def _usually_lost(kind: str, seen: Iterable[Observation]) -> bool:
    return any(_kind(one, pointer) == kind for one in seen for pointer in _lost(one))


def _lost(seen: Observation) -> Iterator[str]:
    """Values that are nowhere in a prompt. Null and "" say nothing, nor does it that a text is one."""
    if seen.prompt is None:
        return
    conversation = seen.case.conversation
    for root, whole in (("messages", conversation.messages), ("tools", conversation.tools)):
        for pointer in leaves(whole, f"/{root}"):
            value = value_at(conversation, pointer)
            said = value not in (None, "", ()) and (value != "text" or not pointer.endswith("/type"))
            if said and place(seen, pointer) is None:
                yield pointer


def _kind(seen: Observation, pointer: str) -> str:
    """A pointer with any number for each of its own, and who says it. Of arguments and of tools, whose
    members are anybody's, only what it is a part of."""
    root, number, *members = pointer.split("/")[1:]
    if root == "tools":
        return f"{root}/{members[-1]}"
    role = seen.case.conversation.messages[int(number)].get("role")
    return f"{role}:{_NUMBER.sub('/*', pointer).partition('/arguments/')[0]}"
