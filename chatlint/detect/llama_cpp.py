"""The nine capabilities that llama.cpp reports, decided by what was rendered, and where it decides otherwise.

How llama.cpp decides (`common/jinja/caps.cpp`, build of 2026-10): it runs the template on a few fixed
conversations and notes which values were touched. Touched is not written; a conversation that fails for any
reason turns several capabilities off; its engine forgives what Python does not; and it knows few names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from chatlint.detect.capability import Capability, Difference, Support, Switch
from chatlint.detect.content import PRINTED_AS_DATA
from chatlint.detect.footing import Footing
from chatlint.detect.kwargs import ABOUT_REASONING
from chatlint.lazy import regex
from chatlint.render.rendered import FailureKind

YES_OR_PART = (Support.YES, Support.PARTIAL)
_EFFORT = regex(r"effort|strength|level", re.I)
_THEIR_EFFORT = frozenset({"reasoning_effort", "reasoning_strength"})
_THEIR_KEEPERS = regex(
    r"\b(?:enable_thinking|preserve_thinking|clear_thinking|truncate_history_thinking|drop_thinking)="
)
_CALLS = ("supports_tool_calls", "supports_parallel_tool_calls", "supports_object_arguments")


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
        "supports_reasoning_effort": any(map(_is_effort, switches)),
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


# -- where llama.cpp decides otherwise -----------------------------------------------------------------------


def differences(
    footing: Footing,
    caps: Mapping[str, bool],
    found: Mapping[str, Capability],
    switches: Sequence[Switch],
) -> tuple[Difference, ...]:
    """Answers of llama.cpp that are known to differ from `caps`, as far as its method tells. Gaps of its
    engine that only a run of it would show are not foretold."""
    every = (
        *_one_conversation(footing, caps, found),
        *_sandbox(caps, found),
        *_preserved(footing, caps, found),
        *_effort(caps, switches),
    )
    return tuple({one.name: one for one in every if caps[one.name] is not one.theirs}.values())


def _one_conversation(
    footing: Footing, caps: Mapping[str, bool], found: Mapping[str, Capability]
) -> Iterator[Difference]:
    """It asks about tools, calls and results in one conversation: what is refused there turns off all."""
    if not caps["supports_tools"] or _is_plain(found["tool_calls"]):
        return
    failures = [
        footing.look("calls/one-followed", {"arguments": shape}).failure for shape in ("object", "string")
    ]
    said = failures[0]
    if said and all(failure and failure.kind is FailureKind.DECLINED for failure in failures):
        for name in ("supports_tools", *_CALLS):
            why = f"its one conversation with a call and a result fails: {said.message}"
            yield Difference(name, False, why)


def _is_plain(calls: Capability) -> bool:
    return calls.support is Support.YES and not calls.note


def _sandbox(caps: Mapping[str, bool], found: Mapping[str, Capability]) -> Iterator[Difference]:
    """Methods that change a list are refused by Python's sandbox and run in its engine."""
    if "SecurityError" in found["tool_calls"].note:
        for name in _CALLS:
            yield Difference(name, True, "its engine has no sandbox that refuses the method")


def _preserved(
    footing: Footing, caps: Mapping[str, bool], found: Mapping[str, Capability]
) -> Iterator[Difference]:
    name = "supports_preserve_reasoning"
    kept = found["reasoning_earlier_turns"]
    if not caps[name]:
        return
    if not footing.syntax.reads_field("/messages/*", "reasoning_content") and not footing.mentions(
        r"reasoning_content"
    ):
        yield Difference(
            name, False, "it sends `reasoning_content` alone, and the template reads another field"
        )
    elif kept.note and not _THEIR_KEEPERS.search(kept.note):
        yield Difference(name, False, f"it does not know the switch: {kept.note}")


def _effort(caps: Mapping[str, bool], switches: Sequence[Switch]) -> Iterator[Difference]:
    name = "supports_reasoning_effort"
    named = [switch.name for switch in switches if _is_effort(switch)]
    if caps[name] and not _THEIR_EFFORT & set(named):
        yield Difference(name, False, f"it does not know the variable {', '.join(named)}")
