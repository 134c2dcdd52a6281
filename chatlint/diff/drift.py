"""Two targets, or two saved reports: is it the same behaviour, and if not, what changed?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from chatlint.config import Settings
from chatlint.conversation import JSON
from chatlint.diff.cases import cases_of, comparable, never_seen, outcome
from chatlint.diff.prompts import ChangeKind, PromptChange, parting, prompt_changes
from chatlint.diff.sides import Facts, Side
from chatlint.facts import FactChange, FindingChange, fact_changes, finding_changes
from chatlint.parse.saved import plain
from chatlint.probe.case import Observation
from chatlint.probe.trace import Trace
from chatlint.records import dataclass
from chatlint.render.rendered import FailureKind, RenderSettings
from chatlint.source.package import Package, TargetKind, Template
from chatlint.store.disk import Store
from chatlint.text import Input, Span

SCHEMA = "chatlint.diff/1"


class Sameness(StrEnum):
    """How alike two templates are."""

    SAME = "same"
    """The same text, with the same tokens."""
    COSMETIC = "cosmetic"
    """Another text that does the same."""
    UNKNOWN = "unknown"
    """Another text, or other tokens, and not every case could be rendered on both sides."""
    BEHAVIOURAL = "behavioural"
    """It does something else."""


@dataclass(frozen=True, slots=True)
class CachedPrefix:
    """What an engine's prefix cache keeps of conversations that were prompted with the first template: of the
    cases that changed, how many are the same to the last word of the conversation, how many a part of the
    way, and how many part before its first word."""

    kept: int
    part: int
    lost: int


@dataclass(frozen=True, slots=True)
class TemplateDrift:
    """One template on both sides. `prompts` is None where prompts could not be compared: a saved report has
    none. `cases` is how many were compared, `unrendered` how many could not be, as one side hit a bound or
    neither compiles, and `obstacles` what was in the way."""

    name: str
    sameness: Sameness
    facts: tuple[FactChange, ...] = ()
    findings: tuple[FindingChange, ...] = ()
    prompts: tuple[PromptChange, ...] | None = None
    cases: int = 0
    cached_prefix: CachedPrefix | None = None
    unrendered: int = 0
    obstacles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """The comparison. `only_first` and `only_second` are templates without a counterpart."""

    first: str
    second: str
    templates: tuple[TemplateDrift, ...]
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sameness(self) -> Sameness:
        """Of everything."""
        if self.only_first or self.only_second:
            return Sameness.BEHAVIOURAL
        order = list(Sameness)
        return max((one.sameness for one in self.templates), key=order.index, default=Sameness.SAME)

    @property
    def exit_code(self) -> int:
        """0 the same behaviour, 1 not, or nobody knows."""
        return int(self.sameness not in (Sameness.SAME, Sameness.COSMETIC))

    def to_dict(self) -> dict[str, JSON]:
        """As JSON, "chatlint.diff/1"."""
        return {
            "schema": SCHEMA,
            "first": self.first,
            "second": self.second,
            "sameness": self.sameness,
            "only_first": list(self.only_first),
            "only_second": list(self.only_second),
            "notes": list(self.notes),
            "templates": plain(self.templates),
        }


def compare(first: Side, second: Side, settings: Settings) -> Drift:
    """What changed from the first side to the second."""
    pairs = _paired(first, second)
    matched = [{pair[0] for pair in pairs}, {pair[1] for pair in pairs}]
    return Drift(
        first.name,
        second.name,
        tuple(_template(first, second, one, other, settings) for one, other in pairs),
        tuple(name for name in first.facts if name not in matched[0]),
        tuple(name for name in second.facts if name not in matched[1]),
        tuple(side.note for side in (first, second) if side.note),
    )


def _paired(first: Side, second: Side) -> list[tuple[str, str]]:
    """Templates of the same name; the only ones, whatever their names."""
    if len(first.facts) == len(second.facts) == 1:
        return [(next(iter(first.facts)), next(iter(second.facts)))]
    return [(name, name) for name in first.facts if name in second.facts]


def _template(first: Side, second: Side, one: str, other: str, settings: Settings) -> TemplateDrift:
    facts = fact_changes(first.facts[one], second.facts[other])
    findings = finding_changes(first.facts[one], second.facts[other])
    asked = _asked(first, second, one, other, settings)
    compared = None if asked is None else [pair for pair in asked if comparable(*pair)]
    missing = [pair for pair in asked or () if not comparable(*pair)]
    prompts = None if compared is None else prompt_changes(compared)
    if prompts or any(_tells(change) or not missing for change in facts):
        sameness = Sameness.BEHAVIOURAL
    elif _is_equal(first, second, one, other):
        sameness = Sameness.SAME
    else:
        sameness = Sameness.COSMETIC if compared and not missing else Sameness.UNKNOWN
    return TemplateDrift(
        one,
        sameness,
        facts,
        findings,
        prompts,
        len(compared or ()),
        _cached(compared) if compared and prompts else None,
        len(missing),
        _obstacles(missing),
    )


def _tells(change: FactChange) -> bool:
    """Whether a fact is known though cases could not be rendered: what files declare."""
    return change.part == "stops" and change.path.startswith("declared/")


def _is_equal(first: Side, second: Side, one: str, other: str) -> bool:
    """Whether it is the same text with the same tokens, as far as both sides say which they have."""
    texts = first.facts[one].get("sha256"), second.facts[other].get("sha256")
    templates = first.templates.get(one), second.templates.get(other)
    tokens = [template.special_tokens for template in templates if template is not None]
    return texts[0] == texts[1] and all(given == tokens[0] for given in tokens)


def _obstacles(pairs: list[tuple[Observation, Observation]]) -> tuple[str, ...]:
    """Why cases were not rendered. Those that were not tried any more have no exception of their own."""
    failures = [seen.failure for pair in pairs for seen in pair if seen.failure is not None]
    unable = [one for one in failures if one.kind in (FailureKind.BOUND, FailureKind.SYNTAX)]
    return tuple(dict.fromkeys(one.message for one in unable if one.exception)) or tuple(
        dict.fromkeys(one.message for one in unable)
    )


def _asked(
    first: Side, second: Side, one: str, other: str, settings: Settings
) -> list[tuple[Observation, Observation]] | None:
    """Both templates' answers to every case; None where a side has no template to ask."""
    if first.package is None or second.package is None:
        return None
    before = _trace(first.templates[one], first.package, settings)
    after = _trace(second.templates[other], second.package, settings)
    with before, after:
        cases = cases_of(before, _reports(first.facts[one], second.facts[other]))
        pairs = zip(before.ask_all(cases), after.ask_all(cases), strict=True)
        return [pair for pair in pairs if not never_seen(*pair) or outcome(pair[0]) != outcome(pair[1])]


def _reports(*facts: Facts) -> Iterator[Mapping[str, JSON]]:
    yield from facts


def _trace(template: Template, package: Package, settings: Settings) -> Trace:
    untrusted = settings.untrusted or package.target.kind is TargetKind.HUB
    store = Store() if settings.cache else None
    return Trace(template, RenderSettings(settings.host, untrusted=untrusted), store)


def _is_role(span: Span) -> bool:
    return isinstance(span.origin, Input) and span.origin.pointer.endswith("/role")


def _cached(pairs: list[tuple[Observation, Observation]]) -> CachedPrefix:
    """Of the cases whose prompts differ. What counts is the conversation: a cache that keeps only what stands
    before its first word keeps nothing of it."""
    counts = {"kept": 0, "part": 0, "lost": 0}
    for before, after in pairs:
        if before.prompt is None or after.prompt is None or before.text == after.text:
            continue
        inputs = [span for span in before.prompt.inputs("/messages") if not _is_role(span)]
        start = parting(before.text, after.text)
        if inputs:
            whole = "kept" if start >= inputs[-1].end else "part"
            counts["lost" if start < inputs[0].start else whole] += 1
    return CachedPrefix(**counts)


__all__ = ["ChangeKind", "Drift", "PromptChange", "Sameness", "TemplateDrift", "compare"]
