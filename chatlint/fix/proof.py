"""Whether a change to a template mends one thing and leaves all else as it is.

What is asked of the old template is asked of the new one, and the other way round. The cause must be gone,
no error and no warning may be new, and every case that passed must give the same prompt, byte for byte. Each
case passed that gave a prompt which does not show the fault; a refusal in words counts as well, and must
stay, unless it is the fault. A case that broke may give a prompt now, and one that shows the fault may give
another: that of the same conversation in a form which means the same, where there is one (`Mending.alike`).
No value may vanish with it: neither one that the prompt had, nor one for which there was no prompt.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from chatlint.fix.examined import Examined, Name
from chatlint.fix.losses import vanished
from chatlint.records import replace
from chatlint.render.rendered import FailureKind, RenderFailure
from chatlint.rules.edits import Mending
from chatlint.rules.finding import Severity
from chatlint.rules.severity import SEVERITIES

if TYPE_CHECKING:
    from chatlint.probe.case import Case, Observation
    from chatlint.probe.trace import Trace
    from chatlint.rules.cause import Cause
    from chatlint.rules.rule import Rule

UNREACHED = "no case reaches the place"


def objection(old: Examined, new: Examined, name: Name, lines: Iterable[int] = ()) -> str:
    """Why the change must not be made, "" where it is proven. `lines` of the new template are those that
    were changed: each must have run."""
    cause = old.causes[name][1]
    assert cause.mending is not None
    if name in new.causes:
        return "the finding stays"
    if added := [*_added(old, new), *sorted(new.broken - old.broken)]:
        return f"it would bring {added[0]}"
    if worse := _worse(old, new):
        return f"{worse} would be worse"
    if new.misread > old.misread:
        return "messages would no longer come back from their own text"
    if changed := _changed(old.trace, new.trace, cause.mending, old.trace.probes.ids()):
        return changed
    if unlike := _unlike(old.trace, new.trace, cause.mending):
        return unlike
    if any(first <= line <= last for line in lines for first, last in new.trace.unreached):
        return UNREACHED
    return _on_hosts(old, new, cause.hosts, cause.mending)


def _added(old: Examined, new: Examined) -> list[str]:
    """Rules with findings that were not there. An info states a property: one that the fault hid may show."""
    added = [one for name, one in new.causes.items() if name not in old.causes]
    return [rule.name for rule, cause in added if _severity(rule, cause) is not Severity.INFO]


def _worse(old: Examined, new: Examined) -> str:
    for name, (rule, cause) in new.causes.items():
        known = old.causes.get(name)
        if known and SEVERITIES.index(_severity(rule, cause)) < SEVERITIES.index(_severity(*known)):
            return rule.name
    return ""


def _severity(rule: Rule, cause: Cause) -> Severity:
    return cause.severity or rule.severity


def _changed(old: Trace, new: Trace, mending: Mending, others: Iterable[str] = ()) -> str:
    """The first case that passed and gives something else now, or loses something. `others` are probes that
    perhaps no rule asks."""
    cases = [_renamed(one.case, new, "old") for one in old.observations]
    cases += [_renamed(one.case, old, "new") for one in new.observations]
    pairs = list(zip(old.ask_all(cases), new.ask_all(cases), strict=True))
    unasked = [old.probes.case(probe, {}) for probe in others]
    more = [(old.aside(case), new.aside(case)) for case in unasked if old.known(case.id) is None]
    for before, after in (*pairs, *(pair for pair in more if not mending.shows(pair[0]))):
        if not _keeps(before, after, mending):
            return f"{before.case.id} would give another prompt"
    return _lost([pair for pair in (*pairs, *more) if pair[0].text != pair[1].text], old)


def _lost(changed: Iterable[tuple[Observation, Observation]], old: Trace) -> str:
    """The first value that was in a prompt, or without one, and would be missing."""
    for before, after in changed:
        if pointer := vanished(before, after, old.observations):
            return f"{pointer} of {before.case.id} would be lost"
    return ""


def _unlike(old: Trace, new: Trace, mending: Mending) -> str:
    """Whether a case changes, and is still not written as one that means the same."""
    if mending.alike is None:
        return ""
    axis, (usual, *others) = mending.alike
    known = set(new.probes.ids())
    for case in [one.case for one in old.observations if one.case.probe in known]:
        variant = dict(case.variant)
        if axis in variant or "continue" in variant:
            continue  # a begun answer has one form
        right = new.look(case.probe, variant, {axis: usual})
        if mending.shows(old.look(case.probe, variant, {axis: usual})):
            continue  # it has the fault itself
        for value in others:
            before, after = (trace.look(case.probe, variant, {axis: value}) for trace in (old, new))
            changed = after.prompt is not None and after.text != before.text
            if changed and right.prompt and after.text != right.text:
                return f"{after.case.id} would be written otherwise than {right.case.id}"
    return ""


def _renamed(case: Case, other: Trace, whose: str) -> Case:
    """The case under a name that means no other conversation to the other trace: rules also ask what they
    learned from the template."""
    while (known := other.known(case.id)) is not None and known.conversation != case.conversation:
        case = replace(case, probe=f"{case.probe}/{whose}")
    return case


def _keeps(before: Observation, after: Observation, mending: Mending) -> bool:
    if before.failure:
        may_change = before.failure.kind is FailureKind.FAULT or mending.shows(before)
        return may_change or _said(after.failure) == _said(before.failure)
    if mending.shows(before) or any(one.get("content") == [] for one in before.case.conversation.messages):
        return after.prompt is not None  # no part at all: `[]` says nothing
    return after.prompt is not None and after.text == before.text


def _said(failure: RenderFailure | None) -> tuple[str, str] | None:
    return (failure.exception, failure.message) if failure else None


def _on_hosts(old: Examined, new: Examined, hosts: Iterable[str], mending: Mending) -> str:
    """The same on the other hosts in which the finding holds."""
    for host in hosts:
        if host == old.trace.settings.host:
            continue
        with ExitStack() as stack:
            there = [stack.enter_context(_elsewhere(one.trace, host)) for one in (old, new)]
            cases: list[Case] = [one.case for one in old.trace.observations]
            there[0].ask_all(cases)
            if changed := _changed(there[0], there[1], mending):
                return f"{changed} in {host}"
    return ""


def _elsewhere(trace: Trace, host: str) -> Trace:
    from chatlint.probe.trace import Trace

    return Trace(trace.template, replace(trace.settings, host=host), probes=trace.probes)
