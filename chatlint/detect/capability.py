"""What a template can express, as far as its renders show."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from chatlint.records import dataclass, field

CHAT_TEMPLATE_CAPS = (
    "supports_tools",
    "supports_tool_calls",
    "supports_system_role",
    "supports_parallel_tool_calls",
    "supports_preserve_reasoning",
    "supports_reasoning_effort",
    "supports_string_content",
    "supports_typed_content",
    "supports_object_arguments",
)
"""The names that llama.cpp reports."""

CAPABILITIES = (
    *("generation_prompt", "system", "late_system", "two_systems", "developer", "history"),
    *("consecutive_users", "consecutive_assistants", "assistant_first", "system_only", "named_roles"),
    *("string_content", "parts_user", "parts_system", "parts_assistant", "parts_tool", "empty_content"),
    *("tools", "documents", "tool_calls", "tool_results", "parallel_tool_calls", "object_arguments"),
    *("string_arguments", "content_with_calls", "null_content_with_calls", "call_ids", "reasoning"),
    *("reasoning_last_turn", "reasoning_tool_loop", "reasoning_earlier_turns", "reasoning_earlier_loops"),
    *("reasoning_fields", "inline_reasoning", "images", "audio", "video", "prefill"),
    "continue_final_message",
)
"""The finer names, in the order in which they are reported."""


class Support(StrEnum):
    """How far a capability goes."""

    YES = "yes"
    NO = "no"
    PARTIAL = "partial"
    RAISES = "raises"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Capability:
    """One answer with the ids of the cases it rests on; `note` says what "partial" or "unknown" means
    here."""

    name: str
    support: Support
    evidence: tuple[str, ...] = ()
    note: str = ""


CALLS_TO = "calls to "
"""How the effect of a switch on the form of calls begins: the form is all that follows."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A template variable that a caller may set. `default` is the value that renders as leaving it unset,
    as JSON, or "unset" where none of `values` (JSON too) does; `effect` says what changes in the prompt, ""
    where nothing does."""

    name: str
    default: str
    values: tuple[str, ...]
    effect: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GenerationPrompt:
    """What `add_generation_prompt` adds after a user message. `by_switch` has it for each value of a switch
    that changes it, by `name=value`. `note` says where the two prompts differ in more than a last piece."""

    text: str
    by_switch: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
    note: str = ""


class ResultTurn(StrEnum):
    """In whose turn the result of a tool call stands."""

    OWN = "own"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """How the result of a tool call is shown: in whose turn, and the text before and after it there, with
    ⟨name⟩ and ⟨id⟩ where its tool and call are named."""

    turn: ResultTurn
    before: str
    after: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit:
    """A refusal of the template's own: its message, the line that raises it, and the cases it refused."""

    message: str
    line: int
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a template was seen: cases asked, how many gave a prompt or none, and the template lines
    that could run and never did, as ranges (first, last)."""

    cases: int
    rendered: int
    raised: int
    unreached: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """llama.cpp is known to decide one of its nine capabilities otherwise: its answer, and why."""

    name: str
    theirs: bool
    why: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What detection found. `chat_template_caps` has the nine names that llama.cpp reports, decided by what
    was rendered; `capabilities` are finer, by name, in the order in which they are reported."""

    chat_template_caps: Mapping[str, bool]
    capabilities: Mapping[str, Capability]
    switches: tuple[Switch, ...]
    generation_prompt: GenerationPrompt
    differs_from_llama_cpp: tuple[Difference, ...] = ()

    def support(self, name: str) -> Support:
        """The support of a capability; UNKNOWN for one that was not looked at."""
        found = self.capabilities.get(name)
        return found.support if found else Support.UNKNOWN

    def has(self, name: str) -> bool:
        """Whether a capability is there, at least in part."""
        return self.support(name) in (Support.YES, Support.PARTIAL)

    def switch(self, name: str) -> Switch | None:
        """The switch of that name, if the template has it."""
        return next((switch for switch in self.switches if switch.name == name), None)
