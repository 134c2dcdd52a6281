"""Capabilities in groups, as short as they can be said: what holds, what holds in part, what does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chatlint.detect.capability import Capabilities, Capability, Support
from chatlint.records import dataclass

GROUPS: Mapping[str, tuple[str, ...]] = {
    "roles": (
        "system",
        "late_system",
        "two_systems",
        "developer",
        "history",
        "consecutive_users",
        "consecutive_assistants",
        "assistant_first",
        "system_only",
        "named_roles",
    ),
    "content": (
        "string_content",
        "parts_user",
        "parts_system",
        "parts_assistant",
        "parts_tool",
        "empty_content",
        "images",
        "audio",
        "video",
    ),
    "tools": (
        "tools",
        "tool_calls",
        "tool_results",
        "parallel_tool_calls",
        "object_arguments",
        "string_arguments",
        "content_with_calls",
        "null_content_with_calls",
        "call_ids",
        "documents",
    ),
    "reasoning": (
        "reasoning",
        "reasoning_last_turn",
        "reasoning_tool_loop",
        "reasoning_earlier_turns",
        "reasoning_earlier_loops",
        "reasoning_fields",
        "inline_reasoning",
    ),
    "turn": ("generation_prompt", "prefill", "continue_final_message"),
}
"""Which capabilities stand together; the others follow in a group of their own, so that none is lost."""

MARKS = {
    Support.YES: ("✓", "good"),
    Support.PARTIAL: ("◐", "part"),
    Support.NO: ("✗", "faint"),
    Support.RAISES: ("!", "bad"),
    Support.UNKNOWN: ("?", "faint"),
}
_ORDER = (Support.YES, Support.PARTIAL, Support.RAISES, Support.UNKNOWN, Support.NO)
_FEW = 4
"""So many names are always listed."""
_DECLINED = "declined: "


@dataclass(frozen=True, slots=True)
class Answer:
    """Capabilities of a group of which the same is to be said. `short` sums up the names where the others
    of the group are named; `note` says what "partial" and "raises" mean here."""

    support: Support
    names: tuple[str, ...]
    note: str = ""
    short: str = ""

    @property
    def mark(self) -> str:
        """Its sign."""
        return MARKS[self.support][0]

    @property
    def style(self) -> str:
        """The style that stands for it."""
        return MARKS[self.support][1]

    @property
    def said(self) -> str:
        """The names, or what sums them up. "parts user, parts system" is "parts user/system"."""
        if self.short:
            return self.short
        alike: dict[str, list[str]] = {}
        for name in self.names:
            first, space, rest = name.partition(" ")
            alike.setdefault(first + space, []).append(rest)
        return ", ".join(first + "/".join(rests) for first, rests in alike.items())


def groups_of(found: Capabilities) -> Iterator[tuple[str, tuple[Capability, ...]]]:
    """Each group's label with its capabilities, in the order of the report."""
    rest = [name for name in found.capabilities if not any(name in group for group in GROUPS.values())]
    for label, names in (*GROUPS.items(), ("more", tuple(rest))):
        group = tuple(found.capabilities[name] for name in names if name in found.capabilities)
        if group:
            yield label, group


def answers_of(found: Capabilities) -> Iterator[tuple[str, tuple[Answer, ...]]]:
    """Each group's label with its answers: what holds first, what does not last."""
    for label, group in groups_of(found):
        alike: dict[tuple[Support, str], list[str]] = {}
        for capability in group:
            alike.setdefault((capability.support, note_of(capability)), []).append(
                spoken(label, capability.name)
            )
        ordered = sorted(alike.items(), key=lambda item: _ORDER.index(item[0][0]))
        yield (
            label,
            tuple(
                Answer(support, tuple(names), note, _short(support, names, group))
                for (support, note), names in ordered
            ),
        )


def _short(support: Support, names: Sequence[str], group: Sequence[Capability]) -> str:
    """One word for most of a group, where there is one."""
    if support not in (Support.YES, Support.NO) or len(names) <= max(_FEW, len(group) // 2):
        return ""
    if len(names) == len(group):
        return "all" if support is Support.YES else "none"
    return "all but" if support is Support.YES else "the rest"


def spoken(label: str, name: str) -> str:
    """A capability's name under the label of its group."""
    return name.removeprefix(f"{label}_").replace("_", " ")


def note_of(capability: Capability) -> str:
    """What "partial" and "raises" mean; "" elsewhere, and for what the template refuses in words: the report
    lists those."""
    wanted = capability.support in (Support.PARTIAL, Support.RAISES)
    return capability.note if wanted and not capability.note.startswith(_DECLINED) else ""
