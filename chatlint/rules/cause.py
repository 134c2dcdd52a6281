"""What a rule reports: a cause, with everything that shows it.

A fault that shows in forty cases has one cause. Rules gather what they see in a `Gathering` under a key
that says what the cause is, and yield each cause once; `run` makes findings of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.records import dataclass, field
from chatlint.rules.finding import Confidence, Severity

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
    from chatlint.render.rendered import RenderFailure
    from chatlint.rules.edits import Mending


@dataclass(frozen=True, slots=True)
class Sight:
    """One observation that shows a cause, and where in its prompt (code points; equal where there is
    nothing to mark). `note` says what is to be seen there; `lost` is the pointer of what is nowhere, `asked`
    of what the template asks for to leave it out, where that is another value."""

    observation: Observation
    start: int = 0
    end: int = 0
    note: str = ""
    rank: int = 0
    lost: str = ""
    asked: str = ""

    @property
    def size(self) -> tuple[int, int, int, int, str]:
        """Orders sights: those of the lowest rank first, of these the smallest conversation."""
        case = self.observation.case
        conversation = case.conversation
        return (
            self.rank,
            len(conversation.messages),
            len(conversation.tools or ()),
            len(case.variant),
            case.id,
        )


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that is wrong.

    `key` names the cause within its rule, in words that do not change when the template is edited elsewhere:
    the fingerprint is made of it. `line` and `column` are one-based places in the template, 0 where only the
    sights can tell; `file` is another file of the package, where the fault is in that. `severity` None is the
    rule's own, and `profiles` goes before the rule's `profiles`; `only` names the
    profiles that tell it, where it says nothing to others; `hosts` are those in which it holds, where a
    rule says so itself; `hidden_on` others, whose preparation hides it (see `elsewhere`). What is `own` is
    chatlint's fault: a failure in the report, never a finding on the author.
    """

    key: str
    message: str
    consequence: str
    sights: tuple[Sight, ...] = ()
    line: int = 0
    column: int = 0
    file: str = ""
    severity: Severity | None = None
    confidence: Confidence = Confidence.HIGH
    fix: str = ""
    hosts: tuple[str, ...] = ()
    hidden_on: tuple[str, ...] = ()
    own: bool = False
    explains: bool = False
    """Whether it is the reason of every failure that it shows: what other rules say of those is left out."""
    profiles: Mapping[str, Severity] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    mending: Mending | None = None
    """A mechanical fix, where there may be one; `fix` says it in words."""


class NotEvaluated(Exception):
    """A rule cannot tell, and says why. What is not evaluated is never shown as clean."""


@dataclass(slots=True)
class Gathering:
    """Sights under the keys of their causes, in the order in which the causes were first seen."""

    _sights: dict[str, list[Sight]] = field(default_factory=dict)

    def add(self, key: str, sight: Sight) -> None:
        """Note that `sight` shows the cause `key`."""
        self._sights.setdefault(key, []).append(sight)

    def __iter__(self) -> Iterator[tuple[str, tuple[Sight, ...]]]:
        """Each key with its sights, the smallest first."""
        for key, sights in self._sights.items():
            yield key, smallest_first(sights)

    def __bool__(self) -> bool:
        return bool(self._sights)


def smallest_first(sights: Iterable[Sight]) -> tuple[Sight, ...]:
    """Each case once, the smallest conversation first."""
    by_case: dict[str, Sight] = {}
    for sight in sights:
        by_case.setdefault(sight.observation.case.id, sight)
    return tuple(sorted(by_case.values(), key=lambda sight: sight.size))


_VARYING = regex(r"'[^']*'|\"[^\"]*\"|\d+")


def failure_key(failure: RenderFailure) -> str:
    """What makes two failures the same: the exception, its words without the values in them, and the line."""
    # where an endless recursion is cut off is chance
    line = 0 if failure.exception == "RecursionError" else failure.line
    return f"{failure.exception}: {_VARYING.sub('…', failure.message)} @{line}"
