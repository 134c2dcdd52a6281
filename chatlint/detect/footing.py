"""How to address a template so that it answers at all.

Most take plain texts and nothing else. Some read only lists of parts, and a few break unless a variable of
their own is set; every question is asked in the manner that was found to work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from chatlint.probe.axes import switched
from chatlint.probe.case import Observation, Variant
from chatlint.probe.reading import shown, texts
from chatlint.probe.trace import Trace
from chatlint.records import dataclass
from chatlint.render.syntax import GIVEN, Syntax

USER = "/messages/0/content"


@dataclass(frozen=True, slots=True)
class Footing:
    """A trace, the static facts of its template, and the axes that make it answer. `base` is one user
    message; `works` says whether its text reached a prompt."""

    trace: Trace
    syntax: Syntax
    variant: Variant
    base: Observation
    works: bool

    def look(self, probe: str, *variants: Variant) -> Observation:
        """What the template does with a probe in this manner."""
        return self.trace.look(probe, self.variant, *variants)

    def mentions(self, pattern: str) -> bool:
        """Whether the source holds a pattern: only ever a reason not to render what a first render did not
        show."""
        return _holds(self.trace.template.text, pattern)


@lru_cache(maxsize=256)
def _holds(source: str, pattern: str) -> bool:
    return re.search(pattern, source) is not None


def find_footing(trace: Trace, syntax: Syntax) -> Footing:
    """The first manner in which one user message reaches the prompt; failing that, in which there is a
    prompt."""
    first: Footing | None = None
    rendered: Footing | None = None
    for variant in _manners(syntax):
        base = trace.look("roles/user", variant)
        footing = Footing(trace, syntax, variant, base, shown(base, *texts(base, USER)))
        if footing.works:
            return footing
        first = first or footing
        rendered = rendered or (footing if base.prompt else None)
    return rendered or first or Footing(trace, syntax, {}, trace.look("roles/user"), False)


def _manners(syntax: Syntax) -> Iterator[Variant]:
    yield {}
    if syntax.fault:
        return
    yield {"parts": "all"}
    yield {"tools": "ensured"}
    needed = [
        variable.name
        for variable in syntax.variables
        if variable.bare_lines and not variable.called and variable.name not in GIVEN
    ]
    if needed:
        yield switched(dict.fromkeys(needed, ""))
        yield {**switched(dict.fromkeys(needed, "")), "parts": "all"}
