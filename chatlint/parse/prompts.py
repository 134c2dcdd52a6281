"""Where the model starts: what the end of its prompt has begun already."""

from __future__ import annotations

from chatlint.parse.formats import OutputFormat, ReasoningState
from chatlint.parse.markers import Marker, marker


def opening(output: OutputFormat, generation_prompt: str) -> tuple[str, bool]:
    """The end of the prompt that belongs to the turn, and whether it leaves reasoning open without an opener.

    The first is read as if the model had written it: an opener opens, text of a message to be continued is
    its beginning. The second is for prompts that the format knows to leave reasoning open though they end in
    no opener (the header itself opens it).
    """
    if not generation_prompt:
        return "", False
    rest = _after_header(output, generation_prompt)
    marks = [
        mark for part in (output.reasoning.every if output.reasoning else ()) if (mark := marker(part.start))
    ]
    opens = any(mark.first in rest for mark in marks)
    return rest, not opens and _known_open(output, generation_prompt)


def _known_open(output: OutputFormat, generation_prompt: str) -> bool:
    """Whether the format says that this generation prompt leaves reasoning open."""
    known = output.generation_prompt
    prompts = [
        (known.text, known.reasoning),
        *((prompt.text, prompt.reasoning) for prompt in known.by_switch),
    ]
    end = generation_prompt.rstrip()
    return any(
        state is ReasoningState.OPEN and text and end.endswith(text.rstrip()) for text, state in prompts
    )


def _after_header(output: OutputFormat, prompt: str) -> str:
    """What follows the last header. Without a header in it, the prompt counts if it begins with a mark; else
    only an opener at its end does."""
    header = marker(output.header)
    if header is None:
        return prompt
    at = prompt.rfind(header.first)
    while at >= 0:
        end = header.match(prompt, at)
        if end > 0:
            rest = prompt[end:]
            return rest.removeprefix(header.trail) if header.trail else rest
        at = prompt.rfind(header.first, 0, at)
    starts, ends = _marks(output)
    if any(mark.match(prompt.lstrip(), 0) > 0 for mark in (*starts, *ends)):
        return prompt
    return next((mark.text for mark in starts if prompt.rstrip().endswith(mark.text.strip())), "")


def _marks(output: OutputFormat) -> tuple[list[Marker], list[Marker]]:
    """What opens, and what closes, reasoning and content."""
    parts = [*(output.reasoning.every if output.reasoning else ()), *output.content.every]
    starts = [mark for part in parts if (mark := marker(part.start))]
    return starts, [mark for part in parts if (mark := marker(part.end))]
