"""Declared tools: are they written, whole, and where from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatlint.conversation import Conversation, value_at
from chatlint.detect.answer import noted, refused
from chatlint.detect.capability import Capability, Support
from chatlint.detect.footing import Footing
from chatlint.probe.case import Observation
from chatlint.probe.reading import SHOWN, Fate, fate, place

TOOL_VARIABLE = "tool"
"""Part of the names of variables in which some templates take tools instead of in `tools`."""


def detect_tools(footing: Footing) -> Iterator[Capability]:
    """Tools, and documents beside them."""
    yield tools(footing)
    yield _documents(footing)


def tools(footing: Footing) -> Capability:
    """Whether names, descriptions and parameters of declared tools reach the prompt."""
    seen = footing.look("tools/given")
    answer = _written(seen)
    if answer.support in (Support.NO, Support.RAISES) and footing.mentions("tool"):
        beside = footing.look("tools/with-system")
        if _written(beside).support in (Support.YES, Support.PARTIAL):
            return noted(_partial(_written(beside)), "only beside a system message", evidence=(seen,))
        return _elsewhere(footing, answer)
    return answer


def _elsewhere(footing: Footing, answer: Capability) -> Capability:
    """Tools that the template wants under another name."""
    given = footing.trace.probes.probe("tools/given").conversation
    for name in footing.syntax.switches:
        if TOOL_VARIABLE not in name.lower():
            continue
        kwargs = {**given.template_kwargs, name: list(given.tools or ())}
        conversation = Conversation(given.messages, None, None, kwargs)
        seen = footing.trace.ask_conversation(f"tools/as-{name.replace('_', '-')}", conversation)
        if seen.prompt and place(seen, f"/{name}/0/function/name"):
            return Capability("tools", Support.PARTIAL, (*answer.evidence, seen.case.id), f"only as `{name}`")
    return answer


def _partial(answer: Capability) -> Capability:
    return Capability(answer.name, Support.PARTIAL, answer.evidence, answer.note)


def _written(observation: Observation) -> Capability:
    if answer := refused("tools", observation):
        return answer
    lost = [what for what, pointers in _parts(observation).items() if not all(pointers.values())]
    case = (observation.case.id,)
    if "name" in lost and not any(_parts(observation)["name"].values()):
        return Capability("tools", Support.NO, case)
    if lost:
        return Capability("tools", Support.PARTIAL, case, f"not written whole: {', '.join(lost)}")
    return Capability("tools", Support.YES, case)


def _parts(observation: Observation) -> dict[str, dict[str, bool]]:
    """For each kind of text in a tool, whether it is shown, by pointer."""
    found: dict[str, dict[str, bool]] = {
        "name": {},
        "description": {},
        "parameter": {},
        "parameter description": {},
    }
    for position in range(len(observation.case.conversation.tools or ())):
        function = f"/tools/{position}/function"
        found["name"][function] = fate(observation, f"{function}/name") in SHOWN
        found["description"][function] = fate(observation, f"{function}/description") in SHOWN
        for parameter in _parameters(observation, function):
            found["parameter"][parameter] = place(observation, parameter, key=True) is not None
            found["parameter description"][parameter] = fate(observation, f"{parameter}/description") in SHOWN
    return found


def _parameters(observation: Observation, function: str) -> list[str]:
    properties = value_at(observation.case.conversation, f"{function}/parameters/properties")
    names = list(properties) if isinstance(properties, Mapping) else []
    return [f"{function}/parameters/properties/{name}" for name in names]


def _documents(footing: Footing) -> Capability:
    if not footing.mentions(r"\bdocuments\b"):
        return Capability("documents", Support.NO, (footing.base.case.id,), "the source does not read them")
    observation = footing.look("documents/given")
    if answer := refused("documents", observation):
        return answer
    texts = [fate(observation, f"/documents/{position}/text") for position in (0, 1)]
    support = Support.NO if Fate.DROPPED in texts else Support.YES
    return Capability("documents", support, (observation.case.id,))
