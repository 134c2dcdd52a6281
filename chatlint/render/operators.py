"""The operators of template expressions, as the generated code calls them: bounded, and with runs."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from chatlint.render import guard
from chatlint.render.trace import Traced, appended, computed, joined, runs_together, traced
from chatlint.render.trace_containers import shown


def added(left: object, right: object) -> object:
    """`left + right`."""
    if type(left) is Traced and type(right) is Traced:
        guard.sized(len(left) + len(right))
        return appended(left, right)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        guard.items(len(left) + len(right))
    elif isinstance(left, bytes) and isinstance(right, bytes):
        guard.sized(len(left) + len(right))
    elif type(left) is str and isinstance(right, str) and not isinstance(right, Markup):
        left = computed(left)
    return left + right  # type: ignore[operator]


def multiplied(left: object, right: object) -> object:
    """`left * right`."""
    guard.product(left, right)
    return left * right  # type: ignore[operator]


def powered(left: object, right: object) -> object:
    """`left ** right`."""
    guard.raised(left, right)
    return left**right  # type: ignore[operator]


def remainder(left: object, right: object) -> object:
    """`left % right`: a remainder, or `printf`."""
    return (computed(left) if type(left) is str else left) % right  # type: ignore[operator]


def concatenated(values: Iterable[object]) -> str:
    """`a ~ b ~ …`."""
    return joined("", [value if type(value) is Traced else shown(value) for value in values])


def concat(parts: Iterable[str]) -> str:
    """What stands in for `environment.concat`: the text of a buffer or a whole template."""
    strings = list(parts)
    if len(strings) == 1 and type(strings[0]) is Traced:
        return strings[0]
    guard.sized(sum(map(len, strings)))
    return traced("".join(strings), runs_together(strings))


OPERATORS: dict[str, object] = {
    "added": added,
    "concatenated": concatenated,
    "light": guard.light,
    "multiplied": multiplied,
    "powered": powered,
    "remainder": remainder,
    "shown": shown,
    "tick": guard.tick,
}
"""By the names that generated code has for them."""
