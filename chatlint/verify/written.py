"""The text a model would have had to write for a message, cut out of the prompt that repeats the message.

Theory of operation. What the model saw is the conversation before its message, with a generation prompt;
what it wrote is the rest of the turn, up to a mark that ends turns. Both stand in one prompt if the prompt
with the message begins as the one without it ended. Where it does not (a generation prompt that opens a
thought which the history writes empty), the model's text begins behind the header instead, and the header
alone counts as the prompt.
"""

from __future__ import annotations

from chatlint.conversation import Message
from chatlint.infer.turns import Part, Turn, turn_of
from chatlint.parse import patterns
from chatlint.parse.formats import OutputFormat
from chatlint.probe.case import Observation
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class Written:
    """A message as the model would have written it: `prompt` is what stands before it from the header on,
    `text` its own text without a mark that ends the turn, `stop` that mark ("" if none follows). `shown` is
    the case that asked for it; `continues` says whether the turn begins as that prompt ended."""

    observation: Observation
    shown: Observation
    message: Message
    turn: Turn
    prompt: str
    text: str
    stop: str
    continues: bool

    def printed(self, part: Part) -> str:
        """What stands in the turn for a text part, "" if nothing does."""
        slots = [slot for slot in self.turn.slots if slot.part is part and slot.call < 0]
        return self.turn.raw[slots[0].start : slots[-1].end] if slots else ""


def written(output: OutputFormat, shown: Observation, observation: Observation, index: int) -> Written | None:
    """The message at `index` of a rendered case as text; None if nothing of it shows or its start is not
    found. `shown` is the case in which the model was asked to write it."""
    turn = turn_of(observation, index)
    if turn is None:
        return None
    prompt = shown.text[_last_input(shown) :] if shown.prompt else None
    begin = _begin(turn.raw, turn.raw[: turn.slots[0].start], prompt, output)
    if begin is None:
        return None
    start, opened, continues = begin
    end, stop = _end(turn, output)
    text = turn.raw[start:end]
    return Written(observation, shown, turn.message, turn, opened, text, stop, continues)


def _last_input(observation: Observation) -> int:
    prompt = observation.prompt
    assert prompt is not None
    ends = [span.end for span in prompt.inputs() if _is_text(span.origin)]
    return max(ends, default=0)


def _is_text(origin: object) -> bool:
    pointer = str(getattr(origin, "pointer", ""))
    return pointer.rpartition("/")[2] not in ("role", "type", "index")


def _begin(raw: str, lead: str, prompt: str | None, output: OutputFormat) -> tuple[int, str, bool] | None:
    """Where the model's text begins in the turn, what it was shown from the header on, and whether the
    history continues that."""
    header = plain(output.header)
    own = lead.rindex(header) + len(header) if header and header in lead else -1
    if prompt is not None and raw.startswith(prompt) and len(prompt) >= own:
        return len(prompt), _shown(prompt, header, output), True
    return (own, header, False) if own >= 0 else None


def _shown(prompt: str, header: str, output: OutputFormat) -> str:
    """The part of a prompt's end that belongs to the model's turn."""
    if header and header in prompt:
        return prompt[prompt.rindex(header) :]
    known = (output.generation_prompt.text, *(one.text for one in output.generation_prompt.by_switch))
    return max((text for text in known if prompt.endswith(text)), key=len, default="")


def _end(turn: Turn, output: OutputFormat) -> tuple[int, str]:
    """Where the model's text ends in the turn, and the mark that stands there. A tail of nothing but
    whitespace is nothing a model would have to write."""
    begin = turn.slots[-1].end
    if not turn.raw[begin:].strip():
        return begin, ""
    marks = [mark for pattern in (*output.end_of_turn, *output.end_of_message) if (mark := plain(pattern))]
    found = [(at, -len(mark), mark) for mark in marks if (at := turn.raw.find(mark, begin)) >= 0]
    if not found:
        return len(turn.raw), ""
    at, _, mark = min(found)
    return at, mark


def plain(pattern: str) -> str:
    """A pattern's literal text, without its slots."""
    return "".join(piece for piece in patterns.pieces(pattern) if not isinstance(piece, patterns.Slot))
