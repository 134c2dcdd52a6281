"""Where turns stand in prompts, as the rules about them need to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.sights import bounds, content_shown

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject


_LONG_TAIL = 30
"""Words after the last question: generation prompts have fewer, orders to a guard or a ranker more."""


def chats(subject: Subject) -> bool:
    """Whether this is a template for conversations: questions and answers reach the prompt, and after the
    last question the model's turn follows.

    Base models, embedders, rerankers and guards need no more than one text, and are not judged as chats.
    """
    if subject.chats is None:
        subject.chats = _chats(subject)
    return subject.chats


def _chats(subject: Subject) -> bool:
    history = subject.see("roles/user-assistant-user")
    if history.prompt is None:
        history = subject.see("roles/user-assistant")
    contents = [f"/messages/{place}/content" for place in range(len(history.case.conversation.messages))]
    if not content_shown(history, *contents) or same_headers(history):
        return False
    tail = behind(subject.see("roles/user"), "/messages/0/content")
    return len((tail or "").split()) <= _LONG_TAIL


def same_headers(history: Observation) -> bool:
    """Whether nothing tells a question from an answer: what stands before each is the same."""
    count = len(history.case.conversation.messages)
    places = [found for place in range(count) if (found := bounds(history, f"/messages/{place}/content"))]
    if len(places) < 3:
        return False
    first, answer, second = places
    return history.text[first[1] : answer[0]].strip() == history.text[answer[1] : second[0]].strip()


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
