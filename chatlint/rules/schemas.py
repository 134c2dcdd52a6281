"""Schemas of tools as rules ask for them: several in one conversation, single ones where that breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.probe.axes import applied
from chatlint.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chatlint.conversation import JSONObject
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

SHAPES = (
    "schema/type-list",
    "schema/no-type",
    "schema/no-properties",
    "schema/no-description",
    "schema/no-parameters",
    "schema/no-parameter-description",
    "schema/no-required",
    "schema/empty-properties",
    "schema/empty-schema",
    "schema/integer-enum",
    "schema/array-of-objects",
)
"""Forms of a schema that only some templates take."""


def looks_inside(subject: Subject) -> bool:
    """Whether the template reads members of a tool; else it only writes tools out, whatever is in them."""
    reads = [read.pattern for read in subject.syntax.reads if read.pattern.startswith("/tools/*/")]
    return any(pattern.rpartition("/")[2] not in ("function", "type", "name") for pattern in reads)


def shapes(subject: Subject) -> tuple[str, ...]:
    """`SHAPES`, where the template looks into a tool; none where it only writes it out."""
    return SHAPES if looks_inside(subject) else ()


def together(subject: Subject, name: str, probes: Iterable[str]) -> Observation:
    """One conversation with the tools of all these probes, each under a name of its own. `name` stands for a
    probe's id."""
    known = [subject.trace.probes.probe(probe).conversation for probe in probes]
    tools = [_named(tool, index) for index, one in enumerate(known) for tool in one.tools or ()]
    conversation = applied(replace(known[0], tools=tuple(tools)), subject.footing.variant)
    return subject.trace.ask_conversation(name, conversation)


def _named(tool: JSONObject, index: int) -> JSONObject:
    function = tool.get("function")
    if not isinstance(function, dict):
        return tool
    return {**tool, "function": {**function, "name": f"{function.get('name')}_{index + 1}"}}
