"""Ids that a template composes instead of printing the one it was given.

Theory of operation. Where a counter stands directly beside the name, with nothing but a sign between them
(`f.NAME:0`), name and counter are one word, and that word is what results are linked by: the call's id. The
text before the name up to the last mark belongs to it.
"""

from __future__ import annotations

from chatlint.lazy import regex
from chatlint.parse import patterns

_BESIDE = regex(rf"{patterns.NAME}([.:#_\-/]{patterns.COUNTER})")
_WORD_BEFORE = regex(r"[\w.\-]*\Z")


def composed_id(call_start: str, body: str) -> tuple[str, str, str] | None:
    """Call start, body and id pattern of a text body (all as patterns) whose name is part of a composed id;
    None if it is none."""
    found = _BESIDE.match(body)
    if found is None:
        return None
    before = _WORD_BEFORE.search(call_start)
    lead = before[0] if before else ""
    start = call_start[: len(call_start) - len(lead)]
    return start, patterns.ID + body[found.end() :], f"{lead}{patterns.NAME}{found[1]}"
