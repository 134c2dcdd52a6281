"""Reasoning in prompts: its marks, and where a generation prompt leaves the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.sights import bounds

if TYPE_CHECKING:
    from chatlint.parse.formats import OutputFormat, ReasoningState
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Names under which clients send reasoning."""


def plain(pattern: str) -> str:
    """A mark without its slots, and without blanks at its edges."""
    from chatlint.parse import patterns

    pieces = patterns.pieces(pattern)
    return "".join(piece for piece in pieces if not isinstance(piece, patterns.Slot)).strip()


def reasoning_field(subject: Subject) -> str:
    """The first name under which the template takes reasoning; "" if none."""
    output = subject.format
    if output is not None and (output.reasoning is None or output.reasoning.guess):
        return ""  # no field and no switch showed any
    for field in FIELDS:
        for probe in ("reasoning/last", "reasoning/call-result", "reasoning/followed"):
            if keeps_thought(subject.see(probe, reasoning=field), field):
                return field
        if not subject.footing.mentions("reason|think|thought"):
            return ""  # the source never names it, and nothing was shown: no other way will
    return ""


def keeps_thought(seen: Observation, field: str) -> bool:
    """Whether the reasoning of the first answer can be read in the prompt."""
    from chatlint.probe.reading import shown

    return seen.prompt is not None and shown(seen, f"/messages/1/{field}")


def thought_marks(output: OutputFormat | None) -> tuple[tuple[str, str], ...]:
    """Openers and closers of reasoning, those of which both are written."""
    if output is None or output.reasoning is None:
        return ()
    pairs = ((plain(marks.start), plain(marks.end)) for marks in output.reasoning.every)
    return tuple(dict.fromkeys(pair for pair in pairs if all(pair)))


def start_state(output: OutputFormat, seen: Observation) -> ReasoningState:
    """Where a prompt that asks for an answer leaves the model: inside its reasoning, behind it, or before."""
    from chatlint.infer.prompts import state_of, tail_of

    last = len(seen.case.conversation.messages) - 1
    place = bounds(seen, f"/messages/{last}/content")
    tail = seen.text[place[1] :] if place else ""
    reasoning = output.reasoning.every if output.reasoning else ()
    return state_of(tail_of(tail, output.header), reasoning)
