"""White space in what was said, as the rules about it ask: every text of one conversation at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chatlint.probe.axes import applied
from chatlint.probe.reading import Fate, fate, texts
from chatlint.records import replace
from chatlint.rules.calls import supported

if TYPE_CHECKING:
    from chatlint.conversation import Message
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PLAIN = ("roles/system-user-assistant-user", "roles/user-assistant-user")
_WITH_CALLS = "roles/everything"


def spaced(subject: Subject) -> Observation:
    """A conversation with all roles that the template takes; each text begins with an indentation, has two
    blank lines inside, and ends with blanks and a line break."""
    way = supported(subject)
    axes = {**subject.footing.variant, **(way or {})}
    for probe in (*((_WITH_CALLS,) if way is not None else ()), *_PLAIN):
        known = subject.trace.probes.probe(probe).conversation
        changed = replace(known, messages=tuple(map(_spaced, known.messages)))
        name = f"content/spaced-{probe.rpartition('/')[2]}"
        seen = subject.trace.ask_conversation(name, applied(changed, axes))
        if seen.prompt is not None:
            return seen
    return subject.see("content/whitespace-user")


def _spaced(message: Message) -> Message:
    text = message.get("content")
    spaced = isinstance(text, str) and text
    return {**message, "content": f"  {text}\n\n\n  {text}s  \n"} if spaced else message


def fates_by_role(seen: Observation) -> dict[str, tuple[str, Fate]]:
    """Where the first text of each role stands in the conversation, and what became of it."""
    found = dict(_first_texts(seen))
    return {role: (pointer, fate(seen, pointer)) for role, pointer in found.items()}


def _first_texts(seen: Observation) -> Iterator[tuple[str, str]]:
    known = set()
    for index, message in enumerate(seen.case.conversation.messages):
        role = message.get("role")
        if isinstance(role, str) and role not in known and message.get("content"):
            known.add(role)
            yield role, texts(seen, f"/messages/{index}/content")[0]
