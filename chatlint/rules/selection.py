"""Which rules run."""

from __future__ import annotations

from chatlint.errors import UsageError
from chatlint.records import dataclass, replace
from chatlint.rules.catalogue import all_rules
from chatlint.rules.names import heading, near_rule
from chatlint.rules.rule import Rule, Stage

_AS_A_HEADING = len("CT4") + 1


@dataclass(frozen=True, slots=True)
class Selection:
    """`select` and `ignore` hold names of rules, prefixes of codes (`CT4`) and headings (`tools`); nothing
    selected is everything. The longer of two prefixes that fit wins, a heading counts as `CT4` does, a name
    over any; at equal length `ignore` does.
    `on_report` chooses among the rules on the report, which run when all else is known, not among the others.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    on_report: bool = False

    def rules(self) -> tuple[Rule, ...]:
        """The selected rules by code. Raises UsageError for a name or prefix that fits no rule."""
        known = all_rules()
        for wanted in (*self.select, *self.ignore):
            if not any(_fit(rule, wanted) for rule in known):
                raise UsageError(f"no rule fits {wanted!r}", hint=near_rule(wanted))
        return tuple(rule for rule in known if self.holds(rule))

    def holds(self, rule: Rule) -> bool:
        """Whether the rule is to run."""
        if (rule.needs is Stage.REPORT) != self.on_report:
            return False
        wanted = max((_fit(rule, name) for name in self.select), default=0 if self.select else 1)
        return wanted > max((_fit(rule, name) for name in self.ignore), default=0)


def selects(selection: Selection, rule: Rule) -> bool:
    """Whether a rule is to run, when templates are judged or on the report."""
    return selection.holds(rule) or replace(selection, on_report=True).holds(rule)


def require_rules(select: tuple[str, ...], ignore: tuple[str, ...]) -> None:
    """Raise UsageError where nothing is left of what was selected: a check without rules finds nothing."""
    if select and ignore and not any(selects(Selection(select, ignore), rule) for rule in all_rules()):
        taken = f"{', '.join(ignore)} takes all of {', '.join(select)} away"
        raise UsageError(f"no rule is left to run: to ignore {taken}", hint="leave out one of the two")


def _fit(rule: Rule, wanted: str) -> int:
    """How closely a name, prefix or heading fits: 0 not at all."""
    if wanted in (rule.name, *rule.formerly):
        return 100
    if heading(wanted) == rule.category.replace("_", "-"):
        return _AS_A_HEADING
    return len(wanted) + 1 if wanted and rule.code.startswith(wanted.upper()) else 0
