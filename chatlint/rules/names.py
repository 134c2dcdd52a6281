"""The names of all rules, without importing them: they are the names of their files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from chatlint.errors import UsageError
from chatlint.lazy import regex

_FEW = 6
_CODE = regex(r"CT\d{0,3}", re.IGNORECASE)
_ALIKE = 0.65


@cache
def rule_names() -> frozenset[str]:
    """Every rule's name."""
    modules = Path(__file__).parent.glob("*/*.py")
    return frozenset(path.stem.replace("_", "-") for path in modules if path.stem != "__init__")


@cache
def headings() -> frozenset[str]:
    """What `chatlint rules` puts rules under: each selects all of them."""
    return frozenset(path.parent.name.replace("_", "-") for path in Path(__file__).parent.glob("*/*.py"))


def heading(name: str) -> str:
    """A heading as it is spelled, if `name` is one."""
    spelled = name.replace("_", "-").replace(" ", "-")
    return spelled if spelled in headings() else ""


def is_rule(name: str) -> bool:
    """Whether a rule has that name. A prefix of codes may be one: whoever selects by it looks closer (see
    `fits_a_rule`)."""
    return name in rule_names() or bool(_CODE.fullmatch(name))


def may_select(name: str) -> bool:
    """Whether rules can be selected by it: a rule's name, a prefix of codes, a heading."""
    return is_rule(name) or bool(heading(name))


def fits_a_rule(name: str) -> bool:
    """Whether a rule has that name, a code that begins so, or stands under that heading."""
    if name in rule_names() or not is_rule(name):
        return name in rule_names() or bool(heading(name))
    from chatlint.rules.catalogue import all_rules

    return any(rule.code.startswith(name.upper()) for rule in all_rules())


def near_rule(name: str) -> str:
    """What to say to somebody who wrote `name`, which is no rule's, nor the beginning of a code, nor a
    heading."""
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

    return difflib.get_close_matches(name, sorted(rule_names() | headings()), n=1, cutoff=_ALIKE)


def unknown_rule(name: str, place: str) -> UsageError:
    """What to say of a name that no rule has, where it is written."""
    return UsageError(f"{place}: no rule {name!r}", hint=near_rule(name))
