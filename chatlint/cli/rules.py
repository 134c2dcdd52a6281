"""`chatlint rules` and `chatlint rule NAME`: the catalogue, and one rule's page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import options
from chatlint.cli.declared import Argument

if TYPE_CHECKING:
    from chatlint.conversation import JSON
    from chatlint.rules.rule import Rule


def _names() -> list[str]:
    """What a shell completes."""
    from chatlint.rules.catalogue import all_rules

    return [rule.name for rule in all_rules()]


Name = Annotated[str, Argument(metavar="NAME", help="A rule's name or code.", autocompletion=_names)]


def list_rules(format_: options.Listing = "terminal", color: options.Color = "auto") -> None:
    """List every rule: code, severity, name and what it finds."""
    from chatlint.report.canvas import canvas_for
    from chatlint.report.page import rules_lines
    from chatlint.rules.catalogue import all_rules

    if options.listing(format_) == "json":
        options.print_json([_facts(rule) for rule in all_rules()])
        return
    canvas = canvas_for(sys.stdout, options.colour_choice(color))
    sys.stdout.write("".join(f"{line}\n" for line in rules_lines(canvas, all_rules())))


def show_rule(name: Name, color: options.Color = "auto") -> None:
    """Show a rule's page: what it does, why it matters, and an example."""
    from chatlint.report.canvas import canvas_for
    from chatlint.report.page import page_lines
    from chatlint.rules.catalogue import find_rule

    canvas = canvas_for(sys.stdout, options.colour_choice(color))
    sys.stdout.write("\n".join(page_lines(canvas, find_rule(name))) + "\n")


def _facts(rule: Rule) -> dict[str, JSON]:
    return {
        "name": rule.name,
        "code": rule.code,
        "category": rule.category,
        "severity": rule.severity,
        "profiles": {profile.value: severity for profile, severity in rule.profiles.items()},
        "summary": rule.summary,
        "since": rule.since,
    }
