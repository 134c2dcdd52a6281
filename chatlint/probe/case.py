"""A probe asks one question of a template; a case is a probe in one variant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from chatlint.conversation import Conversation
from chatlint.records import dataclass, field
from chatlint.render.rendered import Content, RenderFailure
from chatlint.text import Prompt

Key: TypeAlias = tuple[Content, bool, bool | str]
"""What is rendered, as something to look up."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One conversation with one purpose. `needs` names capabilities without which it says nothing; `vary` the
    axes (see `axes.py`) that apply to it; `beyond_openai` why it is not a request that OpenAI's API takes
    ("" if it is one)."""

    id: str
    title: str
    why: str
    conversation: Conversation
    needs: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    beyond_openai: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A probe with axes set. `variant` holds only what differs from the axes' defaults, in the axes' order.

    `conversation` and `add_generation_prompt` are what is rendered; two cases with equal ones share a render.
    `id` and `keys` are made, whatever is given: `id` reads `tools/one-call@arguments=string,generation=off`,
    `keys` are for who looks renders up.
    """

    probe: str
    variant: tuple[tuple[str, str], ...]
    conversation: Conversation = field(compare=False)
    add_generation_prompt: bool = True
    continue_final_message: bool | str = False
    id: str = field(default="", compare=False)
    keys: dict[bool, Key] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", {})  # `replace` hands on those of another conversation
        settings = ",".join(f"{axis}={value}" for axis, value in self.variant)
        object.__setattr__(self, "id", f"{self.probe}@{settings}" if settings else self.probe)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a template did with a case: a prompt, or the failure instead. `generation` and what follows are as
    in `Rendered`."""

    case: Case
    prompt: Prompt | None
    failure: RenderFailure | None
    mutated: tuple[str, ...] = ()
    seconds: float = 0.0
    generation: tuple[tuple[int, int], ...] = ()
    unset: tuple[tuple[int, str], ...] = ()
    steps: int = 0
    generation_reported: tuple[tuple[int, int], ...] = ()

    @property
    def text(self) -> str:
        """The prompt's text, "" where there is none."""
        return self.prompt.text if self.prompt else ""


Variant = Mapping[str, str]
