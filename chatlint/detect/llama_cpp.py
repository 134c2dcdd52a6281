"""The nine capabilities that llama.cpp reports, decided by what was rendered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from chatlint.detect.capability import Capability, Support, Switch
from chatlint.detect.content import PRINTED_AS_DATA
from chatlint.detect.kwargs import ABOUT_REASONING

_EFFORT = re.compile(r"effort|strength|level", re.I)
YES_OR_PART = (Support.YES, Support.PARTIAL)


def chat_template_caps(found: Mapping[str, Capability], switches: Sequence[Switch]) -> dict[str, bool]:
    """The nine booleans under llama.cpp's names, as they truly are."""

    def has(name: str) -> bool:
        return found[name].support in YES_OR_PART

    return {
        "supports_tools": has("tools") and not found["tools"].note.startswith("only as"),
        "supports_tool_calls": has("tool_calls"),
        "supports_system_role": has("system"),
        "supports_parallel_tool_calls": has("parallel_tool_calls"),
        "supports_preserve_reasoning": has("reasoning_earlier_turns"),
        "supports_reasoning_effort": any(_is_effort(switch) for switch in switches),
        "supports_string_content": has("string_content"),
        "supports_typed_content": _takes_parts(found),
        "supports_object_arguments": found["object_arguments"].support is Support.YES,
    }


def _takes_parts(found: Mapping[str, Capability]) -> bool:
    """Every text of a list of parts is written; or not every one, but strings are not written at all."""
    parts, strings = found["parts_user"], found["string_content"]
    if parts.support is Support.PARTIAL and strings.support not in YES_OR_PART:
        return parts.note != PRINTED_AS_DATA
    return parts.support is Support.YES


def _is_effort(switch: Switch) -> bool:
    """A switch that says how much to reason, not whether to."""
    named = _EFFORT.search(switch.name) and ABOUT_REASONING.search(switch.name)
    return bool(named) and bool(switch.effect) and not set(switch.values) <= {"true", "false"}
