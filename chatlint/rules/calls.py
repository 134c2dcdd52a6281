"""How a template takes tools, tool calls and results, as all rules about them need to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from chatlint.conversation import Conversation, value_at
from chatlint.probe.reading import SHOWN, Fate, fate, shown
from chatlint.rules.sights import content_shown

if TYPE_CHECKING:
    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.subject import Subject

BOTH = "calls/two-loops"
"""A call in the history and another in the running loop: where both are as they should be, no other place of
a call needs to be asked."""
OLDER = "transformers-4.57"
"""A host that hands null members of messages on, as many engines do; transformers 5.24 drops them."""
FUNCTION = "/messages/1/tool_calls/0/function"
"""Where the first call of every probe in `calls/` stands."""
ARGUMENTS = f"{FUNCTION}/arguments"
RESULT = "/messages/2/content"


def in_history(subject: Subject, way: Variant) -> Observation:
    """A call that a later question follows: in the conversation that has others as well, or alone where that
    is refused or breaks."""
    both = subject.see(BOTH, way)
    return both if both.prompt else subject.see("calls/one-followed", way)


def holds(conversation: Conversation, pointer: str) -> bool:
    """Whether there is a value at a pointer."""
    try:
        value_at(conversation, pointer)
    except KeyError:
        return False
    return True


def parts_in(conversation: Conversation) -> Iterator[str]:
    """Where each content that is a list stands."""
    for number, message in enumerate(conversation.messages):
        if isinstance(message.get("content"), list):
            yield f"/messages/{number}/content"


def arguments_in(conversation: Conversation) -> Iterator[str]:
    """Where the arguments of each call in a conversation stand."""
    for number, message in enumerate(conversation.messages):
        calls = message.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            inner = "/function" if isinstance(call, Mapping) and "function" in call else ""
            pointer = f"/messages/{number}/tool_calls/{place}{inner}/arguments"
            if holds(conversation, pointer):
                yield pointer


def advertises(subject: Subject) -> bool:
    """Whether the definition of a tool reaches the prompt."""
    return any(
        shown(subject.see(probe), "/tools/0/function/name")
        for probe in ("tools/one", "tools/given", "tools/with-system")
    )


def reads_calls(subject: Subject) -> bool:
    """Whether the template's text knows tool calls or the tool role."""
    roles = {literal.role for literal in subject.syntax.roles}
    return subject.syntax.reads_field("/messages/*", "tool_calls") or "tool" in roles


def supported(subject: Subject) -> Variant | None:
    """The way in which name and arguments of a call reach the prompt; None if they do in no way."""
    form = subject.call_form
    return form.variant if form.whole else None


def call_shown(observation: Observation, call: str = FUNCTION) -> bool:
    """Whether name and arguments of a call can be read in the prompt."""
    return observation.prompt is not None and not any(_lost_of_call(observation, call))


def lost_parts(observation: Observation) -> tuple[str, ...]:
    """Which of name, arguments and result of the first call did not reach the prompt."""
    if observation.prompt is None:
        return ()
    lost = [*_lost_of_call(observation, FUNCTION)]
    messages = observation.case.conversation.messages
    if len(messages) > 2 and messages[2].get("role") == "tool" and not content_shown(observation, RESULT):
        lost.append("the result")
    return tuple(lost)


def _lost_of_call(observation: Observation, call: str) -> Iterator[str]:
    if not named(observation, call):
        yield "the function's name"
    found = fate(observation, f"{call}/arguments")
    if found not in SHOWN and found is not Fate.UNTRACED:
        yield "the arguments"


def named(observation: Observation, call: str = FUNCTION) -> bool:
    """Whether the function's name can be read: in its own place, or in an id that holds it."""
    if shown(observation, f"{call}/name"):
        return True
    identifier = call.removesuffix("/function") + "/id"
    variant = dict(observation.case.variant)
    return variant.get("ids") == "named" and shown(observation, identifier)
