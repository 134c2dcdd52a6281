"""A rule: one file that holds its page (the docstring), its facts (the decorator) and its check.

    @rule("CT301", severity=Severity.ERROR, profiles={"training": Severity.WARNING})
    def check(subject: Subject) -> Iterator[Cause]: ...

Its name is the file's name with dashes, its category the folder's name, its summary the first line of the
page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

from chatlint.config import Profile
from chatlint.records import dataclass, field
from chatlint.rules.finding import Severity

if TYPE_CHECKING:
    from chatlint.rules.cause import Cause
    from chatlint.rules.page import Page
    from chatlint.rules.subject import Subject

Check: TypeAlias = "Callable[[Subject], Iterator[Cause]]"


class Stage(IntEnum):
    """How far down the path a rule must see. Rules of the early stages still speak when later ones fail."""

    PACKAGE = 1
    """The files of the target."""
    TEXT = 2
    """The template's source and its static facts."""
    TRACE = 3
    """What was rendered."""
    FORMAT = 4
    """The output format that was learned."""
    ROUND_TRIPS = 5
    """What came back through the parser."""
    OBSERVATIONS = 6
    """Everything that was asked, by the other rules as well: these run last."""
    REPORT = 7
    """What the report says, and what the user expects it to say: never kept with a result."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `severity` is what a finding has unless its cause says otherwise; `since` the first version
    of chatlint with the rule. An `own` rule watches chatlint itself: it has no findings, only failures.

    `profiles` gives every finding another severity in some profiles, also one whose cause names a severity;
    only what a cause says of a profile goes before it. `formerly` are names it had: they are understood."""

    code: str
    name: str
    category: str
    summary: str
    severity: Severity
    since: str
    needs: Stage
    check: Check
    docstring: str
    own: bool = False
    profiles: Mapping[Profile, Severity] = field(default_factory=dict)
    formerly: tuple[str, ...] = ()

    @property
    def page(self) -> Page:
        """The docstring as a page: sections and examples."""
        from chatlint.rules.page import read_page

        return read_page(self.docstring)


def rule(
    code: str,
    *,
    severity: Severity,
    since: str = "0.1",
    needs: Stage = Stage.TRACE,
    own: bool = False,
    profiles: Mapping[str, Severity] | None = None,
    formerly: tuple[str, ...] = (),
) -> Callable[[Check], Rule]:
    """Make the decorated check of a module its rule; page, name and category come from the module. Raises
    ValueError for a profile that there is not."""
    weighed = {Profile(name): severity for name, severity in (profiles or {}).items()}

    def made(check: Check) -> Rule:
        *_, category, name = check.__module__.split(".")
        docstring = str(check.__globals__["__doc__"] or "")
        summary = docstring.partition("\n")[0]
        name = name.replace("_", "-")
        facts = (code, name, category, summary, severity, since, needs)
        return Rule(*facts, check, docstring, own, weighed, formerly)

    return made
