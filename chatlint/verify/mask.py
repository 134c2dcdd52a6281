"""Which characters of a prompt the model wrote: those that a loss in training is taken over.

transformers asks the template's author to say so with `{% generation %}`, and few templates do. The spans of
a prompt and the learned format say it for every template: a message of the assistant's runs from where the
model was asked to write it to the mark that ends it, that mark included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.verify.prefix import shown_before
from chatlint.verify.written import Written, written

if TYPE_CHECKING:
    from chatlint.parse.formats import OutputFormat
    from chatlint.probe.case import Observation
    from chatlint.probe.trace import Trace

_STRUCTURE = ("role", "type", "index")


def assistant_spans(
    trace: Trace, output: OutputFormat, observation: Observation
) -> tuple[tuple[int, int], ...]:
    """The places (code points) of what the model wrote in a prompt, in order. A message of which nothing
    shows, or whose beginning is not found, has none."""
    eos = trace.template.special_tokens.get("eos_token")
    found = []
    for index, message in enumerate(observation.case.conversation.messages):
        if message.get("role") == "assistant":
            sent = written(output, shown_before(trace, observation, index), observation, index)
            if sent is not None:
                start, end = _place(observation, sent, index)
                found.append((start, _with_eos(observation.text, end, eos if isinstance(eos, str) else "")))
    return tuple(found)


def _with_eos(text: str, end: int, eos: str) -> int:
    """EOS may follow the mark that ends a turn; the model has to write it, too."""
    return end + len(eos) if eos and text.startswith(eos, end) else end


def _place(observation: Observation, sent: Written, index: int) -> tuple[int, int]:
    turn = sent.turn
    first = _first_input(observation, index)
    begin = observation.text.rfind(turn.raw, 0, first + len(turn.raw))
    behind = turn.slots[-1].end
    if sent.stop:
        end = turn.raw.find(sent.stop, behind)
    else:
        end = len(turn.raw) if turn.raw[behind:].strip() else behind
    start = end - len(sent.text)
    if not sent.stop and not turn.last:
        end = behind  # where no mark ends a message, the next one's header follows at once
    return begin + start, begin + end + len(sent.stop)


def _first_input(observation: Observation, index: int) -> int:
    prompt = observation.prompt
    assert prompt is not None
    return min(
        span.start
        for span in prompt.inputs(f"/messages/{index}")
        if getattr(span.origin, "pointer", "").rpartition("/")[2] not in _STRUCTURE
    )
