"""What one render gives, and who can be asked for one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

from chatlint.conversation import Conversation, JSONObject
from chatlint.records import dataclass, field
from chatlint.text import Prompt, Span

DEFAULT_HOST = "transformers-5.24"
FIXED_CLOCK = datetime(2026, 3, 14, 15, 9, 26)
"""Probes see one moment, so that two reports of the same template are equal."""

Content: TypeAlias = tuple[bytes, bytes, bytes]
"""What stands for the messages, the tools, and all else of a conversation."""


class FailureKind(StrEnum):
    """Why there is no prompt."""

    DECLINED = "declined"
    """The template's own `raise_exception`: a limit it states."""
    FAULT = "fault"
    """The template broke: UndefinedError, TypeError, a refused operation of the sandbox …"""
    SYNTAX = "syntax"
    """It does not compile."""
    BOUND = "bound"
    """A bound of `chatlint.limits` was hit."""
    HOST = "host"
    """The host refused the conversation before the template saw it."""


@dataclass(frozen=True, slots=True)
class RenderFailure:
    """Why a render gave no prompt. `exception` is the class name that transformers would raise (for a host,
    the name it raises); `line` is the one-based template line, 0 if unknown."""

    kind: FailureKind
    exception: str
    message: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """One render to be made. `continue_final_message` is False, True (the content) or a field's name.
    `content` is the same for equal conversations only, if the caller knows such bytes: what is made of one is
    then looked up."""

    conversation: Conversation
    add_generation_prompt: bool = True
    continue_final_message: bool | str = False
    content: Content | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt or a failure. `mutated` are pointers to inputs the template changed; `lines` the one-based
    template lines that ran; `generation` the spans of the text inside `{% generation %}`; `seconds` CPU
    time; `generation_reported` the spans that transformers takes them to be (it measures while the template
    runs, and is wrong inside macros, `set` and `filter` blocks); `unset` what was printed though it is
    undefined: the line, and a name as `absent.printed` has it; `steps` what the run cost of
    `limits.RENDER_TICKS`."""

    prompt: Prompt | None
    failure: RenderFailure | None
    mutated: tuple[str, ...] = ()
    lines: frozenset[int] = frozenset()
    generation: tuple[tuple[int, int], ...] = ()
    seconds: float = 0.0
    generation_reported: tuple[tuple[int, int], ...] = ()
    unset: tuple[tuple[int, str], ...] = ()
    steps: int = 0


@dataclass(frozen=True, slots=True)
class RenderSettings:
    """How to render, beside the conversation: which host, its clock (None: it has no `strftime_now`), where
    the run happens."""

    host: str = DEFAULT_HOST
    now: datetime | None = FIXED_CLOCK
    trims: bool = True
    """Whether `trim_blocks` and `lstrip_blocks` are set, as transformers does and some engines do not."""
    untrusted: bool = False
    """Render in a worker process with memory and time limits instead of in this process."""
    documents: tuple[JSONObject, ...] | None = None
    """For `render_prompt`: the documents of the conversation."""
    continue_final_message: bool | str = False
    """For `render_prompt`: True (the content) or a field's name to leave the last message open."""


class Renderer(Protocol):
    """A template compiled once for one host; `close` ends its worker, if any. Not for several threads at
    once."""

    def render(self, request: RenderRequest) -> Rendered: ...

    def render_all(self, requests: Sequence[RenderRequest]) -> tuple[Rendered, ...]: ...

    def coverable_lines(self) -> frozenset[int]:
        """The one-based template lines that can run; empty where the template does not compile. A line that
        is in no `Rendered.lines` was not reached."""
        ...

    def close(self) -> None: ...


__all__ = [
    "DEFAULT_HOST",
    "FIXED_CLOCK",
    "FailureKind",
    "RenderFailure",
    "RenderRequest",
    "RenderSettings",
    "Rendered",
    "Renderer",
    "Span",
]
