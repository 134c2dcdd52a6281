"""Which expression of the template printed a value: the one that may hold it, between the texts around it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from chatlint.text import Computed, Input, Literal, Prompt, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chatlint.render.prints import Print

_Place: TypeAlias = tuple[int, int]
_STRUCTURE = ("/role", "/type")
"""What is printed of these are marks."""
_WORDS = ("None", "True", "False")
"""Values whose characters nothing tells from what is computed: the expression is the one on that line."""
_LAST: _Place = (2**31, 0)


def printed_at(
    prints: Iterable[Print],
    prompt: Prompt,
    position: int,
    ran: frozenset[int] = frozenset(),
    *,
    elsewhere: bool = True,
) -> _Place:
    """Where the template prints the value that the character at `position` belongs to; (0, 0) where that is
    no value's, or several expressions may have printed it. What stands on other lines than those that `ran`
    has printed nothing. `elsewhere` also takes the only expression that may have, wherever it stands: that of
    a macro is not between the texts around it."""
    index = next((index for index, span in enumerate(prompt.spans) if span.end > position), None)
    if index is None:
        return 0, 0
    span = prompt.spans[index]
    before = _literal(reversed(prompt.spans[:index])) or (0, 0)
    behind = _literal(prompt.spans[index + 1 :]) or _LAST
    match span.origin:
        case Input(pointer, _, key) if not pointer.endswith(_STRUCTURE):
            named = pointer.rpartition("/")[0] if key else pointer
            fitting = [one for one in prints if _fits(one.pattern, named)]
            there = [one for one in fitting if one.line in ran] or fitting
            found = _only(_between(there, before, behind))
            return found or (elsewhere and _only(fitting)) or (0, 0)
        case Computed(line) if prompt.piece(span) in _WORDS:
            there = [one for one in _between(list(prints), before, behind) if one.line == line]
            return _only(there) or (0, 0)
    return 0, 0


def printed_empty(
    prints: Iterable[Print], prompt: Prompt, pointer: str, after: int, ran: frozenset[int]
) -> _Place:
    """Where the template prints a value of no characters, behind the character before `after`: between two
    texts that follow one another. (0, 0) where that cannot be told."""
    fitting = [one for one in prints if _fits(one.pattern, pointer)]
    fitting = [one for one in fitting if one.line in ran] or fitting
    behind = [place for span in prompt.spans if span.start >= after and (place := _literal([span]))]
    places = (_only(_between(fitting, one, other)) for one, other in pairwise(behind) if one < other)
    return next((place for place in places if place), None) or _only(fitting) or (0, 0)


def _literal(spans: Iterable[Span]) -> _Place | None:
    """The place of the first text of the template."""
    found = (one.origin for one in spans if isinstance(one.origin, Literal) and one.origin.column)
    return next(((one.line, one.column) for one in found), None)


def _between(prints: list[Print], before: _Place, behind: _Place) -> list[Print]:
    """Those between two texts of the template, of which the second may stand in a loop's next round."""
    if before < behind:
        return [one for one in prints if before < (one.line, one.column) < behind]
    return [one for one in prints if (one.line, one.column) > before or (one.line, one.column) < behind]


def _only(prints: list[Print]) -> _Place | None:
    """The one place of those that name the value most closely; None for none or several."""
    depth = max((one.pattern.count("/") for one in prints), default=0)
    places = {(one.line, one.column) for one in prints if one.pattern.count("/") == depth}
    return places.pop() if len(places) == 1 else None


def _fits(pattern: str, pointer: str) -> bool:
    """Whether a pattern names the value at a pointer, or what holds it."""
    wanted, given = pattern.split("/"), pointer.split("/")
    return len(wanted) <= len(given) and all(
        one in ("*", other) for one, other in zip(wanted, given, strict=False)
    )
