"""Texts that a template writes a second time, by whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.probe.reading import Fate, copies, fate, texts
from chatlint.rules.calls import RESULT, supported
from chatlint.rules.cause import Sight

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_ASKED = (
    ("a question", "roles/user", "/messages/0/content"),
    ("a question in parts", "content/two-parts", "/messages/0/content"),
    ("system text", "roles/system-user", "/messages/0/content"),
    ("system text in parts", "content/two-parts-system", "/messages/0/content"),
)
"""Answers are read back, which tells the same of them."""


def written_twice(subject: Subject) -> Iterator[tuple[str, Sight]]:
    """Whose text stands in the prompt more than once, and the second place of it. The same text in parts is
    not told again."""
    known: set[str] = set()
    for what, seen, pointer in _asked(subject):
        sight = _again(seen, pointer, what)
        if sight and what.removesuffix(" in parts") not in known:
            known.add(what)
            yield what, sight


def _asked(subject: Subject) -> Iterator[tuple[str, Observation, str]]:
    for what, probe, pointer in _ASKED:
        yield what, subject.trace.look(probe), pointer
    way = supported(subject)
    if way is not None:
        yield "a tool result", subject.see("calls/one-result", way), RESULT


def _again(seen: Observation, pointer: str, what: str) -> Sight | None:
    for text in texts(seen, pointer) if seen.prompt else ():
        if seen.prompt and fate(seen, text) is Fate.REPEATED:
            second = copies(seen.prompt, text)[1]
            return Sight(seen, second.start, second.end, f"{what} again")
    return None
