"""What every engine is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from chatlint.conversation import JSON, Conversation
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class Job:
    """One render: the variables that a host has prepared, as plain JSON, and the request they came from, for
    engines that prepare it themselves."""

    variables: Mapping[str, JSON]
    conversation: Conversation
    add_generation_prompt: bool

    @property
    def passed(self) -> dict[str, JSON]:
        """The variables without those that hosts of other engines leave out where they are null."""
        return {
            name: value
            for name, value in self.variables.items()
            if value is not None or name not in ("tools", "documents")
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an engine made of a job: a text, or the words of its error. `text` is None where it failed."""

    text: str | None
    error: str = ""


class EngineAbsent(Exception):
    """The engine is not here, or cannot be asked. The message says what to do about it."""


class EngineFailed(Exception):
    """The engine did not answer: it took too long, said too much, or broke."""


class Engine(Protocol):
    """An engine that is there. `name` is what users call it, `version` its library's, `host` the host whose
    preparation its jobs need ("" for the subject's own)."""

    name: str
    version: str
    host: str

    def render_all(self, source: str, jobs: Sequence[Job]) -> tuple[Outcome, ...]:
        """One outcome for each job, in order. Raises EngineFailed."""
        ...
