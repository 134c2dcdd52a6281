"""The names of all rules, without importing them: they are the names of their files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from chatlint.config import nearest
from chatlint.errors import UsageError

_CODE = re.compile(r"CT\d{0,3}")


@cache
def rule_names() -> frozenset[str]:
    """Every rule's name."""
    modules = Path(__file__).parent.glob("*/*.py")
    return frozenset(path.stem.replace("_", "-") for path in modules if path.stem != "__init__")


def is_rule(name: str) -> bool:
    """Whether a rule has that name. A prefix of codes may be one: whoever selects by it looks closer."""
    return name in rule_names() or bool(_CODE.fullmatch(name))


def unknown_rule(name: str, place: str) -> UsageError:
    """What to say of a name that no rule has, where it is written."""
    return UsageError(f"{place}: no rule {name!r}", hint=nearest(name, sorted(rule_names())))
