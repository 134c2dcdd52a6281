"""Every rule there is: the modules of `rules/<category>/`, found by looking (there is no list to keep)."""

from __future__ import annotations

import importlib.util
import pkgutil
from functools import cache
from itertools import pairwise

from chatlint.errors import InternalError, UsageError
from chatlint.rules.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """All rules by code. Raises InternalError for a module that holds none, or a code that is used twice."""
    import chatlint.rules as room

    categories = [module.name for module in pkgutil.iter_modules(room.__path__) if module.ispkg]
    rules = sorted((rule for name in categories for rule in _rules_of(name)), key=lambda rule: rule.code)
    for first, second in pairwise(rules):
        if first.code == second.code:
            raise InternalError(f"{first.code} is both {first.name} and {second.name}")
    return tuple(rules)


def _rules_of(category: str) -> list[Rule]:
    package = importlib.import_module(f"chatlint.rules.{category}")
    return [
        _rule_in(f"{package.__name__}.{module.name}") for module in pkgutil.iter_modules(package.__path__)
    ]


def _rule_in(module: str) -> Rule:
    found = getattr(importlib.import_module(module), "check", None)
    if not isinstance(found, Rule):
        raise InternalError(f"{module} holds no rule: its `check` is not decorated with @rule")
    return found


@cache
def rule_named(name: str) -> Rule | None:
    """The rule of that name, None if there is none. Of all rules' modules only its own is imported."""
    import chatlint.rules as room

    module = name.replace("-", "_")
    if not module.isidentifier() or module.startswith("_"):
        return None
    categories = [one.name for one in pkgutil.iter_modules(room.__path__) if one.ispkg]
    places = (f"{room.__name__}.{category}.{module}" for category in categories)
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
