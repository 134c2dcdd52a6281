"""Where turns stand in prompts, as the rules about them need to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.sights import bounds, content_shown

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


def chats(subject: Subject) -> bool:
    """Whether this is a template for conversations: a question and an answer in the history reach the prompt.

    Base models, embedders, rerankers and guards need no more than one text, and are not judged as chats.
    """
    return any(
        content_shown(subject.see(probe), "/messages/0/content", "/messages/1/content")
        for probe in ("roles/user-assistant-user", "roles/user-assistant")
    )


def before(observation: Observation, pointer: str) -> str | None:
    """The prompt up to a value; None where it is lost."""
    found = bounds(observation, pointer)
    return observation.text[: found[0]] if found else None


def behind(observation: Observation, pointer: str) -> str | None:
    """The prompt after a value; None where it is lost."""
    found = bounds(observation, pointer)
    return observation.text[found[1] :] if found else None


def agree(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    if other.startswith(one):
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
