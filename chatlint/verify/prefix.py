"""Whether the history begins with what the model was shown, followed by what it wrote.

A server that keeps the state of a conversation needs this of the next prompt: the same text as before, the
model's own answer, then what is new. Where it does not hold, everything behind the first difference is
computed again.
"""

from __future__ import annotations

from chatlint.probe.case import Case, Observation
from chatlint.probe.trace import Trace
from chatlint.records import replace
from chatlint.verify.written import Written


def shown_before(trace: Trace, observation: Observation, index: int) -> Observation:
    """The prompt with which the message at `index` of a case was asked for: the conversation before it,
    with a generation prompt."""
    case = observation.case
    before = replace(case.conversation, messages=case.conversation.messages[:index])
    return trace.ask(Case(f"{case.probe}/before-{index}", case.variant, before, True, False))


def continues(sent: Written) -> bool:
    """Whether the prompt that repeats a message begins with the prompt it was asked with and the text of
    it."""
    if sent.shown.prompt is None or not sent.continues:
        return False
    return sent.observation.text.startswith(sent.shown.text + sent.text)
