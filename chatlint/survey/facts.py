"""The facts of a result without the texts of its template: what may be published about another's file.

Kept: capabilities, switches, marks, counts, and each finding's rule, place and cases. Left out: prompts,
what the template refuses in its own words, and every sentence that may quote it. A mark longer than any real
one is cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chatlint.conversation import JSON

_LONGEST = 160
_QUOTING = frozenset(
    ("note", "message", "consequence", "fix", "evidence", "effect", "differences", "grounds", "text")
)
"""Members that hold what a template or a prompt says. The evidence of capabilities is case ids, but that of
findings is prompts; their ids are in `cases`, too."""
_WHOLE = frozenset(("capabilities", "generation_prompt", "switches"))


def facts_only(result: Mapping[str, JSON]) -> dict[str, JSON]:
    """A result of a survey without texts."""
    facts = {name: _bare(name, value) for name, value in result.items() if name != "limits"}
    limits = result.get("limits")
    refusals = [limit for limit in limits if isinstance(limit, Mapping)] if isinstance(limits, list) else []
    facts["limits"] = [{"line": limit["line"], "cases": limit["cases"]} for limit in refusals]
    return facts


def _bare(name: str, value: JSON) -> JSON:
    if name in _WHOLE:
        return _answers(value)
    return _without(value)


def _without(value: JSON) -> JSON:
    if isinstance(value, str):
        return _mark(value)
    if isinstance(value, Mapping):
        return {name: _without(member) for name, member in value.items() if name not in _QUOTING}
    if isinstance(value, Sequence):
        return [_without(item) for item in value]
    return value


def _answers(value: JSON) -> JSON:
    """Capabilities, switches and generation prompts: their evidence is case ids, their texts are marks."""
    if isinstance(value, Mapping):
        return {name: _answers(member) for name, member in value.items() if name not in ("note", "effect")}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_answers(item) for item in value]
    return _without(value)


def _mark(text: str) -> str:
    return text if len(text) <= _LONGEST else f"({len(text)} characters)"
