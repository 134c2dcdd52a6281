"""Who may speak, and in which order."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.detect.answer import noted, of_values
from chatlint.detect.capability import Capability, Support
from chatlint.detect.footing import Footing
from chatlint.probe.reading import in_order, texts

ORDERS = (
    ("system", "roles/system-user", ("/messages/0/content",)),
    ("late_system", "roles/late-system", ("/messages/2/content",)),
    ("two_systems", "roles/two-systems", ("/messages/0/content", "/messages/1/content")),
    ("developer", "roles/developer", ("/messages/0/content",)),
    (
        "history",
        "roles/user-assistant-user",
        ("/messages/0/content", "/messages/1/content", "/messages/2/content"),
    ),
    ("consecutive_users", "roles/two-users", ("/messages/0/content", "/messages/1/content")),
    ("consecutive_assistants", "roles/two-assistants-user", ("/messages/1/content", "/messages/2/content")),
    ("assistant_first", "roles/assistant-first", ("/messages/0/content", "/messages/1/content")),
    ("system_only", "roles/system-only", ("/messages/0/content",)),
)
"""Capability, probe, and the texts that must reach the prompt."""


def detect_roles(footing: Footing) -> Iterator[Capability]:
    """Every order of roles, and names."""
    for name, probe, pointers in ORDERS:
        yield _order(footing, name, probe, pointers)
    yield _names(footing)


def _order(footing: Footing, name: str, probe: str, pointers: tuple[str, ...]) -> Capability:
    observation = footing.look(probe)
    answer = of_values(name, observation, pointers)
    if answer.support is Support.YES and not in_order(observation, texts(observation, *pointers)):
        return noted(answer, "in another order")
    return answer


def _names(footing: Footing) -> Capability:
    observation = footing.look("roles/two-named-users")
    return of_values("named_roles", observation, ("/messages/0/name", "/messages/2/name"))
