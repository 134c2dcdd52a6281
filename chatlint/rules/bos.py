"""The BOS token and the prompts that ought to begin with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PROBES = ("roles/user", "roles/system-user", "roles/user-assistant-user")


def bos_of(subject: Subject) -> str:
    """The BOS token's text, assumed or real; "" where the tokenizer has none or it is not known."""
    given = subject.template.special_tokens.get("bos_token")
    return given if isinstance(given, str) else subject.package.tokenizer.bos or ""


def opening_prompts(subject: Subject) -> list[Observation]:
    """Prompts of the plainest conversations."""
    return [one for one in map(subject.see, _PROBES) if one.prompt]
