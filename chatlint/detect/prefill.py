"""Answers begun for the model: a last assistant message left open, and `continue_final_message`."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.detect.answer import refused, unasked
from chatlint.detect.capability import Capability, Support
from chatlint.detect.footing import Footing
from chatlint.probe.reading import shown, texts

BEGUN = "Juniper"


def detect_prefill(footing: Footing) -> Iterator[Capability]:
    """Both ways to begin an answer."""
    yield _open_turn(footing)
    yield _continued(footing)


def _open_turn(footing: Footing) -> Capability:
    """Whether the template itself leaves the turn of a last assistant message open."""
    seen = footing.look("prefill/answer", {"generation": "off"})
    if answer := refused("prefill", seen):
        return answer
    if not shown(seen, *texts(seen, "/messages/1/content")):
        return Capability("prefill", Support.NO, (seen.case.id,), "the text is lost")
    if seen.text.endswith(BEGUN):
        return Capability("prefill", Support.YES, (seen.case.id,), "the turn is left open")
    return Capability("prefill", Support.NO, (seen.case.id,), "the turn is ended after the text")


def _continued(footing: Footing) -> Capability:
    """Whether a host that cuts the prompt after the last message finds its text there unchanged."""
    name = "continue_final_message"
    seen = footing.look("prefill/space", {"continue": "content"})
    if answer := unasked(name, (seen,)):
        return answer
    if seen.failure:
        return Capability(name, Support.RAISES, (seen.case.id,), seen.failure.message)
    if seen.text.endswith(BEGUN + " "):
        return Capability(name, Support.YES, (seen.case.id,))
    if seen.text.endswith(BEGUN):
        return Capability(name, Support.PARTIAL, (seen.case.id,), "a space at the end is trimmed")
    return Capability(name, Support.NO, (seen.case.id,), "the prompt does not end with the text")
