"""Text and its forms: strings, lists of parts, empty text."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.detect.answer import noted, of_values, refused
from chatlint.detect.capability import Capability, Support
from chatlint.detect.footing import USER, Footing
from chatlint.probe.case import Observation
from chatlint.probe.reading import in_order, names_shown, shown, texts

PRINTED_AS_DATA = "the list is printed as data, not as text"
PARTS = (
    ("parts_user", "content/two-parts", "/messages/0/content"),
    ("parts_system", "content/two-parts-system", "/messages/0/content"),
    ("parts_assistant", "content/two-parts-assistant", "/messages/1/content"),
    ("parts_tool", "content/two-parts-result", "/messages/2/content"),
)


def detect_content(footing: Footing) -> Iterator[Capability]:
    """Strings, parts for each role, and an empty answer."""
    yield of_values("string_content", footing.look("roles/user", {"parts": "given"}), (USER,))
    yield from parts_of_roles(footing)
    yield _empty_answer(footing)


def parts_of_roles(footing: Footing) -> Iterator[Capability]:
    """Text in a list of parts, for each role that takes text at all."""
    for name, probe, pointer in PARTS:
        yield _parts(name, footing.look(probe, {"parts": "given"}), pointer)


def _parts(name: str, observation: Observation, pointer: str) -> Capability:
    answer = of_values(name, observation, (pointer,))
    if answer.support is Support.YES and names_shown(observation, pointer):
        return Capability(name, Support.PARTIAL, answer.evidence, PRINTED_AS_DATA)
    if answer.support is Support.YES and not in_order(observation, texts(observation, pointer)):
        return noted(answer, "in another order")
    return answer


def _empty_answer(footing: Footing) -> Capability:
    """Whether an empty answer leaves the conversation whole."""
    observation = footing.look("content/empty-assistant")
    if answer := refused("empty_content", observation):
        return answer
    if not shown(observation, *texts(observation, "/messages/0/content", "/messages/2/content")):
        return Capability("empty_content", Support.NO, (observation.case.id,), "a question beside it is lost")
    return Capability("empty_content", Support.YES, (observation.case.id,))
