"""What a check found out, as values: a `Report` of `TargetReport`s of `TemplateReport`s.

`to_dict` is the contract that users rely on, "chatlint.report/1" (`chatlint schema report` prints its JSON
Schema). What was not evaluated is None or listed as such; it is never shown as clean.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from chatlint import __version__
from chatlint.config import FailOn, Settings
from chatlint.conversation import JSON
from chatlint.detect.capability import Capabilities, Coverage, GenerationPrompt, Limit, ToolResult
from chatlint.export.serving import Serving
from chatlint.parse.formats import OutputFormat
from chatlint.parse.saved import plain
from chatlint.parse.vocabulary import in_words
from chatlint.records import dataclass, field
from chatlint.rules.finding import Finding, Severity
from chatlint.source.package import (
    EngineTemplate,
    Failure,
    KvCache,
    Package,
    PackageFile,
    TargetKind,
    Template,
)

if TYPE_CHECKING:
    from chatlint.suppress.baseline import BaselineEntry
    from chatlint.verify.trip import RoundTrips

SCHEMA = "chatlint.report/1"
INTERNAL = "internal"
OWN_STAGES = (INTERNAL, "detect", "infer", "verify", "export", "rules")
"""Stages of failures that are chatlint's own: a stage that breaks is not the template's fault."""
_RANK = {Severity.INFO: 1, Severity.WARNING: 2, Severity.ERROR: 3}
_THRESHOLD = {FailOn.INFO: 1, FailOn.WARNING: 2, FailOn.ERROR: 3, FailOn.NEVER: 4}


class Status(StrEnum):
    """What became of a target."""

    CHECKED = "checked"
    FAILED = "failed"
    NO_TEMPLATE = "no-template"


@dataclass(frozen=True, slots=True)
class TargetFailure:
    """Why a target was not checked. `stage` is `load`, or `internal` for a fault of chatlint."""

    stage: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    """A token that a file declares to end a turn; `text` is None where no file tells it."""

    id: int | None
    text: str | None


def declared_stops(package: Package) -> dict[str, tuple[Stop, ...]]:
    """What each file of a package declares to end a turn, the tokenizer's end-of-sequence token first."""
    tokenizer = package.tokenizer
    texts = {token.id: token.text for token in tokenizer.added_tokens or ()}
    ids = {token.text: token.id for token in tokenizer.added_tokens or ()}
    declared: dict[str, tuple[Stop, ...]] = {}
    if tokenizer.eos:
        declared["eos_token"] = (Stop(ids.get(tokenizer.eos), tokenizer.eos),)
    for source, numbers in package.generation.eos_ids.items():
        declared[source] = tuple(
            Stop(number, texts.get(number) or _text(package, number)) for number in numbers
        )
    return declared


def _text(package: Package, number: int) -> str | None:
    """The token of that id in the first GGUF that knows it."""
    texts = (gguf.vocabulary.text(number) for gguf in package.ggufs if gguf.vocabulary)
    return next((text for text in texts if text is not None), None)


@dataclass(frozen=True, slots=True)
class TemplateReport:
    """All that is known about one template on one host."""

    template: Template
    host: str
    capabilities: Capabilities | None = None
    format: OutputFormat | None = None
    round_trips: RoundTrips | None = None
    declared_stops: Mapping[str, tuple[Stop, ...]] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    findings: tuple[Finding, ...] = ()
    coverage: Coverage | None = None
    unevaluated: tuple[tuple[str, str], ...] = ()
    failures: tuple[Failure, ...] = ()
    tool_result: ToolResult | None = None
    engine_stops: Mapping[str, tuple[bool, tuple[str, ...]]] = field(default_factory=dict)
    """By engine: whether it stops at every end of a turn, and the marks at which it does not."""
    serving: Serving | None = None
    suppressed: tuple[Finding, ...] = ()
    """Findings that the user accepted; the others are in `findings`."""

    def to_dict(self) -> dict[str, JSON]:
        """As in the contract."""
        template = self.template
        return {
            "name": template.name,
            "file": template.place.file,
            "sha256": template.sha256,
            "bytes": len(template.text.encode("utf-8", "surrogatepass")),
            "host": self.host,
            "special_tokens": "assumed" if template.special_tokens_assumed else "given",
            **_capabilities(self.capabilities, self.format),
            "stops": {
                "end_of_turn": plain(self.format.end_of_turn if self.format else ()),
                "end_of_message": plain(self.format.end_of_message if self.format else ()),
                "declared": plain(self.declared_stops),
                "engines": {
                    engine: {"stops": stops, "missing": list(missing)}
                    for engine, (stops, missing) in self.engine_stops.items()
                },
            },
            "format": _format(self.format, self.serving) if self.format else None,
            "tool_result": plain(self.tool_result),
            "round_trips": _round_trips(self.round_trips) if self.round_trips else None,
            "serving": self.serving.to_dict() if self.serving else None,
            "limits": plain(self.limits),
            "findings": plain(self.findings),
            "suppressed": plain(self.suppressed),
            "coverage": plain(self.coverage),
            "not_evaluated": [{"rule": rule, "reason": reason} for rule, reason in self.unevaluated],
            "failures": plain(self.failures),
        }


@dataclass(frozen=True, slots=True)
class TargetReport:
    """One target as the user named it, with its templates or with the reason why there are none."""

    target: str
    kind: TargetKind | None = None
    revision: str | None = None
    status: Status = Status.CHECKED
    failure: TargetFailure | None = None
    files: tuple[PackageFile, ...] = ()
    findings: tuple[Finding, ...] = ()
    templates: tuple[TemplateReport, ...] = ()
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    template_readers: tuple[EngineTemplate, ...] = ()
    kv_cache: KvCache | None = None
    suppressed: tuple[Finding, ...] = ()

    @property
    def all_suppressed(self) -> tuple[Finding, ...]:
        """Findings that the user accepted: those of the package, then those of its templates."""
        return self.suppressed + tuple(one for template in self.templates for one in template.suppressed)

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Those of the package, then those of its templates."""
        return self.findings + tuple(finding for template in self.templates for finding in template.findings)

    @property
    def internal(self) -> bool:
        """Whether chatlint itself failed somewhere on this target."""
        stages = [failure.stage for template in self.templates for failure in template.failures]
        return any(stage in OWN_STAGES for stage in (*stages, self.failure.stage if self.failure else ""))

    def to_dict(self) -> dict[str, JSON]:
        """As in the contract."""
        return {
            "target": self.target,
            "kind": self.kind,
            "revision": self.revision,
            "status": self.status,
            "failure": plain(self.failure),
            "files": plain(self.files),
            "findings": plain(self.findings),
            "suppressed": plain(self.suppressed),
            "templates": [template.to_dict() for template in self.templates],
            "failures": plain(self.failures),
            "notes": plain(self.notes),
            "template_readers": plain(self.template_readers),
            "kv_cache": _priced(self.kv_cache),
        }


def _priced(cache: KvCache | None) -> JSON:
    """The price of a token, and of what a thousand tokens of kept reasoning cost."""
    if cache is None:
        return None
    facts = plain(cache)
    assert isinstance(facts, dict)
    return {**facts, "bytes_per_1000_tokens": 1000 * cache.bytes_per_token}


def fails(severity: Severity, fail_on: FailOn) -> bool:
    """Whether a finding of that severity makes a check fail."""
    return _RANK[severity] >= _THRESHOLD[fail_on]


@dataclass(frozen=True, slots=True)
class BaselineUse:
    """What became of a baseline: its file, how many findings it suppressed, and its entries for what was
    checked that fit no finding any more."""

    file: str
    suppressed: int
    stale: tuple[BaselineEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked and how."""

    settings: Settings
    targets: tuple[TargetReport, ...]
    baseline: BaselineUse | None = None

    @property
    def counts(self) -> Mapping[Severity, int]:
        """Findings by severity."""
        return Counter(finding.severity for target in self.targets for finding in target.all_findings)

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings at or above `fail_on`, 2 a fault of chatlint, 3 a target that could not be
        loaded or has no template; 2 before 3 before 1."""
        if any(target.internal for target in self.targets):
            return 2
        if any(target.status is not Status.CHECKED for target in self.targets):
            return 3
        return int(any(fails(severity, self.settings.fail_on) for severity in self.counts))

    def fails(self, finding: Finding) -> bool:
        """Whether this finding alone would make the exit status 1."""
        return _RANK[finding.severity] >= _THRESHOLD[self.settings.fail_on]

    def to_dict(self) -> dict[str, JSON]:
        """As in the contract."""
        return {
            "schema": SCHEMA,
            "version": __version__,
            "settings": self.settings.to_dict(),
            "targets": [target.to_dict() for target in self.targets],
            "summary": self.summary(),
            "baseline": plain(self.baseline),
        }

    def summary(self) -> dict[str, JSON]:
        """Totals over all targets."""
        return {
            "targets": len(self.targets),
            "templates": sum(len(target.templates) for target in self.targets),
            "failed": sum(target.status is not Status.CHECKED for target in self.targets),
            "errors": self.counts.get(Severity.ERROR, 0),
            "warnings": self.counts.get(Severity.WARNING, 0),
            "infos": self.counts.get(Severity.INFO, 0),
            "suppressed": sum(len(target.all_suppressed) for target in self.targets),
        }


def _format(output: OutputFormat, serving: Serving | None) -> dict[str, JSON]:
    return {**in_words(output), "family": serving.family if serving else None}


def _capabilities(found: Capabilities | None, format_: OutputFormat | None) -> dict[str, JSON]:
    """The part of the contract that detection answers; null where it could not be asked."""
    if found is None:
        unknown: tuple[str, ...] = (
            "chat_template_caps",
            "differs_from_llama_cpp",
            "capabilities",
            "switches",
        )
        return dict.fromkeys((*unknown, "generation_prompt"))
    return {
        "chat_template_caps": plain(found.chat_template_caps),
        "differs_from_llama_cpp": plain(found.differs_from_llama_cpp),
        "capabilities": {
            name: {
                "support": capability.support,
                "evidence": plain(capability.evidence),
                "note": capability.note,
            }
            for name, capability in found.capabilities.items()
        },
        "switches": plain(found.switches),
        "generation_prompt": _generation_prompt(found.generation_prompt, format_),
    }


def _generation_prompt(found: GenerationPrompt, format_: OutputFormat | None) -> JSON:
    by_switch: dict[str, dict[str, JSON]] = {}
    for setting, text in found.by_switch.items():
        name, _, value = setting.partition("=")
        by_switch.setdefault(name, {})[value] = {"text": text, "reasoning": reasoning_state(format_, setting)}
    reasoning = reasoning_state(format_, "")
    return {"text": found.text, "reasoning": reasoning, "by_switch": by_switch, "note": found.note}


def _round_trips(found: RoundTrips) -> dict[str, JSON]:
    return {
        "passed": found.passed,
        "failed": len(found.failures),
        "misread": found.failed,
        "lost": found.lost,
        "not_applicable": len(found.not_applicable),
        "failures": [
            {
                "case": trip.case,
                "text": trip.text,
                "differences": plain(trip.differences),
                "chunks": plain(trip.chunks),
            }
            for trip in found.failures
        ],
    }


def reasoning_state(format_: OutputFormat | None, setting: str) -> str | None:
    """Where the generation prompt leaves the model's reasoning, with a switch set (`name=value`, "" for
    none). None where no format was learned, or not for that value."""
    if format_ is None:
        return None
    if not setting:
        return format_.generation_prompt.reasoning
    name, _, value = setting.partition("=")
    for switched in format_.generation_prompt.by_switch:
        if [(key, json.dumps(set_to)) for key, set_to in switched.switches.items()] == [(name, value)]:
            return switched.reasoning
    return None
