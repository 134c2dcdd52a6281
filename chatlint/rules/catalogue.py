"""Every rule there is: the modules of `rules/<category>/`, found by looking (there is no list to keep)."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from itertools import pairwise

from chatlint.errors import InternalError, UsageError
from chatlint.rules.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """All rules by code. Raises InternalError for a module that holds none, or a code that is used twice."""
    rules = sorted((rule for name in _categories() for rule in _rules_of(name)), key=lambda rule: rule.code)
    for first, second in pairwise(rules):
        if first.code == second.code:
            raise InternalError(f"{first.code} is both {first.name} and {second.name}")
    return tuple(rules)


def _categories() -> list[str]:
    """The packages of this one. As `pkgutil` tells them, which imports half of Python's tools for that."""
    import chatlint.rules as room

    entries = [entry for place in room.__path__ for entry in os.scandir(place)]
    return sorted(entry.name for entry in entries if entry.is_dir() and entry.name != "__pycache__")


def _rules_of(category: str) -> list[Rule]:
    package = importlib.import_module(f"chatlint.rules.{category}")
    files = [entry.name for place in package.__path__ for entry in os.scandir(place) if entry.is_file()]
    names = {file.partition(".")[0] for file in files if file.endswith((".py", ".pyc"))}
    return [_rule_in(f"{package.__name__}.{name}") for name in sorted(names - {"__init__"})]


def _rule_in(module: str) -> Rule:
    found = getattr(importlib.import_module(module), "check", None)
    if not isinstance(found, Rule):
        raise InternalError(f"{module} holds no rule: its `check` is not decorated with @rule")
    return found


@cache
def rule_named(name: str) -> Rule | None:
    """The rule of that name, None if there is none. Of all rules' modules only its own is imported."""
    module = name.replace("-", "_")
    if not module.isidentifier() or module.startswith("_"):
        return None
    places = (f"chatlint.rules.{category}.{module}" for category in _categories())
    return next((_rule_in(place) for place in places if importlib.util.find_spec(place)), None)


def find_rule(name: str) -> Rule:
    """The rule of that name or code. Raises UsageError with the nearest one."""
    from chatlint.config import nearest

    rules = all_rules()
    for rule in rules:
        if name in (rule.name, *rule.formerly) or name.upper() == rule.code:
            return rule
    known = [rule.name for rule in rules] + [rule.code for rule in rules]
    raise UsageError(f"no rule {name!r}", hint=nearest(name, known))
