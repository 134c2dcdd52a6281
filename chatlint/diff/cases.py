"""What both sides of a comparison are asked, and what they answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from chatlint.conversation import JSON
from chatlint.errors import UsageError
from chatlint.probe.case import Case, Observation
from chatlint.probe.catalogue import Catalogue
from chatlint.probe.trace import Trace
from chatlint.render.rendered import FailureKind

_PLAIN_MEMBERS = frozenset(("role", "content"))
_PLAIN_ROLES = frozenset(("user", "assistant"))


def standard_cases(trace: Trace) -> tuple[Case, ...]:
    """Every probe as it is written, and as a history, without a generation prompt. The plainest come first: a
    template is asked no further once a few cases hit a bound, and what hits one is mostly the unusual."""
    return tuple(sorted(_standard(trace), key=_unusual))


def _standard(trace: Trace) -> Iterator[Case]:
    for name in trace.probes.ids():
        yield trace.case(name)
        if "generation" in trace.probes.probe(name).vary:
            yield trace.case(name, generation="off")


def _unusual(case: Case) -> tuple[bool | int, ...]:
    """What a case has that a plain exchange of texts has not, the heaviest first."""
    conversation = case.conversation
    messages = conversation.messages
    return (
        bool(conversation.tools),
        bool(conversation.documents),
        bool(conversation.template_kwargs),
        any(not _PLAIN_MEMBERS.issuperset(message) for message in messages),
        any(not isinstance(message.get("content"), str) for message in messages),
        any(message.get("role") not in _PLAIN_ROLES for message in messages),
        bool(case.continue_final_message),
        len(messages),
    )


def cases_of(trace: Trace, reports: Iterable[Mapping[str, JSON]]) -> tuple[Case, ...]:
    """The standard cases, and those that answers in the reports rest on: they know how a template wants to be
    addressed and which switches it has."""
    found = {case.id: case for case in standard_cases(trace)}
    for report in reports:
        for name in _case_ids(report, trace.probes):
            if name not in found:
                try:
                    found[name] = trace.case_of(name)
                except UsageError:
                    continue  # a conversation made on the spot
    return tuple(found.values())


def _case_ids(value: JSON, probes: Catalogue) -> Iterator[str]:
    """Case ids anywhere in a report's part on a template."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            if name in ("evidence", "cases") and isinstance(member, list):
                yield from (item for item in member if isinstance(item, str))
            else:
                yield from _case_ids(member, probes)
    elif isinstance(value, list):
        for item in value:
            yield from _case_ids(item, probes)


def comparable(first: Observation, second: Observation) -> bool:
    """Whether two answers to a case say anything of each other. A bound that was hit says nothing of what the
    template does; two templates that do not compile have done nothing."""
    kinds = [one.failure.kind for one in (first, second) if one.failure is not None]
    return FailureKind.BOUND not in kinds and kinds != [FailureKind.SYNTAX, FailureKind.SYNTAX]


def never_seen(first: Observation, second: Observation) -> bool:
    """Whether the host refused a case for both templates: it asks nothing of them."""
    return all(one.failure is not None and one.failure.kind is FailureKind.HOST for one in (first, second))


def outcome(observation: Observation) -> str:
    """What a template did with a case, as text to compare: its prompt, or why there is none. The template's
    line is not part of it."""
    failure = observation.failure
    if observation.prompt is not None:
        return f"prompt\n{observation.text}"
    return f"{failure.kind}\n{failure.exception}\n{failure.message}" if failure else ""
