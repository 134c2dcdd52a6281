"""The names of all rules, without importing them: they are the names of their files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from chatlint.errors import UsageError
from chatlint.lazy import regex

_FEW = 6
_CODE = regex(r"CT\d{0,3}")


@cache
def rule_names() -> frozenset[str]:
    """Every rule's name."""
    modules = Path(__file__).parent.glob("*/*.py")
    return frozenset(path.stem.replace("_", "-") for path in modules if path.stem != "__init__")


def is_rule(name: str) -> bool:
    """Whether a rule has that name. A prefix of codes may be one: whoever selects by it looks closer (see
    `fits_a_rule`)."""
    return name in rule_names() or bool(_CODE.fullmatch(name))


def fits_a_rule(name: str) -> bool:
    """Whether a rule has that name, or a code that begins so."""
    if name in rule_names() or not is_rule(name):
        return name in rule_names()
    from chatlint.rules.catalogue import all_rules

    return any(rule.code.startswith(name) for rule in all_rules())


def near_rule(name: str) -> str:
    """What to say to somebody who wrote `name`, which no rule has, nor the beginning of a code."""
    close = _near_codes(name) if name.upper().startswith("CT") else _near_names(name)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else "`chatlint rules` lists them"


def _near_codes(name: str) -> list[str]:
    """The codes with the longest beginning in common, if those are few."""
    from chatlint.rules.catalogue import all_rules

    codes = [rule.code for rule in all_rules()]
    begins = (name.upper()[:length] for length in range(len(name), 0, -1))
    found: list[str] = next(filter(None, ([one for one in codes if one.startswith(b)] for b in begins)), [])
    return found if len(found) <= _FEW else []


def _near_names(name: str) -> list[str]:
    import difflib

    return difflib.get_close_matches(name, sorted(rule_names()), n=1, cutoff=0.5)


def unknown_rule(name: str, place: str) -> UsageError:
    """What to say of a name that no rule has, where it is written."""
    return UsageError(f"{place}: no rule {name!r}", hint=near_rule(name))
