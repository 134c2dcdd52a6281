"""Numbers as a survey says them."""

from __future__ import annotations


def percent(part: int, whole: int) -> str:
    """A share in words: `63%`, `under 1%`, `all`, `none`; `unknown` of nothing."""
    if not whole:
        return "unknown"
    if not part:
        return "none"
    share = 100 * part / whole
    return "under 1%" if share < 1 else "all" if part == whole else f"{min(round(share), 99)}%"


def counted(number: int, noun: str) -> str:
    """A number of things: `1 target`, `2,000 targets`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
