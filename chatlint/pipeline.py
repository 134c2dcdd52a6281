"""The README's diagram, executable.

source → trace → capabilities → format → round trips → findings → report
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import TypeVar

from chatlint.config import FailOn, Profile, Settings
from chatlint.config import fail_on as threshold
from chatlint.config import profile as profile_named
from chatlint.config.contents import with_contents
from chatlint.config.file import required
from chatlint.errors import (
    InternalError,
    NoTemplateError,
    TargetError,
    TemplateError,
    UsageError,
    obey_interrupts,
)
from chatlint.errors import require as demanded
from chatlint.parse.formats import OutputFormat
from chatlint.records import dataclass, field, replace
from chatlint.render.rendered import DEFAULT_HOST, RenderSettings
from chatlint.results import Question, keep, placed, question, recall
from chatlint.rules.finding import Finding
from chatlint.rules.ignores import MARK
from chatlint.source.load import load
from chatlint.source.package import Failure, Package, Template
from chatlint.source.target import path_text, target_text
from chatlint.store.disk import Store
from chatlint.verdict import (
    INTERNAL,
    Report,
    Status,
    TargetFailure,
    TargetReport,
    TemplateReport,
)

T = TypeVar("T")
SOURCES = "CT11"
OWN_FAULT_HINT = "CHATLINT_DEBUG=1 shows where"


def judge(template: Template, package: Package, settings: Settings) -> TemplateReport:
    """Everything about one template: what is known of it, where nothing that matters has changed since."""
    asked = question(template, package, settings)
    store = Store() if settings.cache else None
    key = asked.key if store else ""
    report = recall(store, key) if store else None
    if report is None:
        report, lasting = examine(asked, store)
        if store and lasting:
            keep(store, key, report)
    report = placed(report, template, package, settings)
    if settings.expected is None and MARK not in template.text:
        return report
    from chatlint.gate import held

    return held(report, template, package, settings)


def examine(asked: Question, store: Store | None) -> tuple[TemplateReport, bool]:
    """Ask the template everything. The second value is False where a clock decided what was seen, so that
    another run may see something else. `store` keeps compiled code."""
    # What follows is imported where it is needed: a result that is known needs none of it.
    from chatlint.detect.capabilities import detect_capabilities
    from chatlint.detect.limits import coverage, limits
    from chatlint.infer.learn import learn
    from chatlint.infer.results import learn_result
    from chatlint.probe.trace import Trace
    from chatlint.rules.ends import stops_by_engine
    from chatlint.rules.run import run
    from chatlint.rules.selection import Selection
    from chatlint.rules.subject import Subject
    from chatlint.verify.roundtrip import round_trips

    template, settings = asked.template, asked.settings
    with Trace(template, RenderSettings(settings.host, untrusted=asked.untrusted), store) as trace:
        subject = Subject(asked.package, template, trace, settings)
        stages = _Stages(able=not subject.broken)
        capabilities = stages.run("detect", lambda: detect_capabilities(trace, subject.syntax))
        subject.capabilities = capabilities
        subject.format = output = stages.run("infer", lambda: learn(trace, subject.syntax))
        result = stages.run("infer", lambda: learn_result(trace, output, subject.syntax))
        trips = stages.run("verify", lambda: round_trips(trace, output, subject.syntax)) if output else None
        subject.round_trips = trips
        judged = run(subject, Selection(settings.select, settings.ignore))
        report = TemplateReport(
            template,
            settings.host,
            capabilities,
            output,
            trips,
            {},
            limits(trace),
            judged.findings,
            coverage(trace),
            judged.unevaluated,
            (*stages.failures, *judged.failures),
            result,
            stages.run("rules", lambda: stops_by_engine(subject)) or {},
            stages.run("export", lambda: subject.serving),
        )
        return report, not (trace.timed_out or settings.engines)  # engines change without our knowing


@dataclass(slots=True)
class _Stages:
    """Runs the stages of one template. `able` is False where it does not compile: then there is nothing to
    see. A stage that breaks is a failure in the report, and what it would have found is absent."""

    able: bool
    failures: list[Failure] = field(default_factory=list)

    def run(self, stage: str, work: Callable[[], T]) -> T | None:
        """What a stage finds, None where it cannot."""
        if not self.able:
            return None
        try:
            return work()
        except UsageError:
            raise
        except Exception as error:
            self.failures.append(Failure(stage, "", own_fault(error)))
            return None


def check_target(
    target: str, settings: Settings, say: Callable[[str], None] = lambda _: None
) -> TargetReport:
    """Load a target and judge its templates. `say` is told what is being fetched.

    A target that cannot be loaded, and a fault of chatlint, are values in the report. Only UsageError is
    raised: it would be the same for every target.
    """

    def work() -> TargetReport:
        package = read_target(target, settings, say)
        return target_report(
            target,
            package,
            [judge(one, package, settings.for_target(target, one.place.file)) for one in package.templates],
        )

    return contained(target, work)


def read_target(target: str, settings: Settings, say: Callable[[str], None]) -> Package:
    """Load a target as the settings say. Raises as `load` does."""
    package = load(
        target,
        revision=settings.revision,
        offline=settings.offline,
        host=settings.host,
        template_file=settings.template,
        special_tokens_file=settings.special_tokens,
        untrusted=settings.untrusted,
        cache=settings.cache,
        say=say,
    )
    return replace(package, base=_base(settings, say)) if settings.base else package


def target_report(target: str, package: Package, judged: Sequence[TemplateReport]) -> TargetReport:
    """The report on a target whose templates were judged."""
    return TargetReport(
        target,
        package.target.kind,
        package.target.revision,
        files=package.files,
        findings=tuple(one for report in judged for one in report.findings if _is_shared(one)),
        templates=tuple(_own(report) for report in judged),
        failures=package.failures,
        notes=package.notes,
        template_readers=package.template_readers,
        kv_cache=package.kv_cache,
    )


def contained(target: str, work: Callable[[], T]) -> T | TargetReport:
    """What `work` gives, or the report on a target that could not be loaded or on which chatlint failed.
    Raises UsageError only."""
    try:
        return work()
    except NoTemplateError as error:
        return _failed(target, Status.NO_TEMPLATE, TargetFailure("load", error.message, error.hint))
    except TargetError as error:
        return _failed(target, Status.FAILED, TargetFailure("load", error.message, error.hint))
    except UsageError:
        raise
    except Exception as error:
        failure = TargetFailure(INTERNAL, own_fault(error), OWN_FAULT_HINT)
        return _failed(target, Status.FAILED, failure)


def _base(settings: Settings, say: Callable[[str], None]) -> Package:
    try:
        return load(
            settings.base or "", offline=settings.offline, host=settings.host, cache=settings.cache, say=say
        )
    except TargetError as error:
        raise UsageError(f"--base: {error.message}", hint=error.hint) from error


def _is_shared(finding: Finding) -> bool:
    """Whether it is about the package's files, not about this template alone."""
    return finding.code.startswith(SOURCES)


def _own(report: TemplateReport) -> TemplateReport:
    return replace(report, findings=tuple(one for one in report.findings if not _is_shared(one)))


def learn_format(template: Template, *, settings: RenderSettings | None = None) -> OutputFormat:
    """How a model writes that this template was made for, learned from what the template renders.

    Host and trust come through `settings`. A part that could not be learned is None (or its default), and
    `grounds` says why. Save it with `to_dict`; `OutputFormat.from_dict` reads output without the template.

    Raises TemplateError where the template does not compile, UsageError for a host that there is not, or
    where `template` is none.
    """
    from chatlint.infer.learn import learn
    from chatlint.probe.trace import Trace
    from chatlint.render.syntax import syntax_in

    demanded(template, Template, "template", hint="chatlint.load(target).template() is one")
    demanded(settings or RenderSettings(), RenderSettings, "settings")
    store = Store()
    syntax = syntax_in(store, template.text)
    if syntax.fault:
        raise TemplateError(f"the template does not compile: {syntax.fault.message}", line=syntax.fault.line)
    with Trace(template, settings, store) as trace:
        return learn(trace, syntax)


def check(
    target: str | PathLike[str],
    *,
    host: str = DEFAULT_HOST,
    fail_on: str = FailOn.ERROR,
    select: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    revision: str | None = None,
    offline: bool = False,
    template: str | PathLike[str] | None = None,
    special_tokens: str | PathLike[str] | None = None,
    base: str | PathLike[str] | None = None,
    untrusted: bool = False,
    cache: bool = True,
    profile: str = Profile.SERVING,
    require: str | Sequence[str] = (),
    expect: str | PathLike[str] | None = None,
    probes: str | PathLike[str] | None = None,
) -> Report:
    """Judge a target: what `chatlint check TARGET --format json` prints is `check(target).to_dict()`.

    `target` is written as on the command line, or a Path; the settings are those of `chatlint.Settings`
    (`select`, `ignore` and `require` may be one name), and no configuration file is read. A target that
    cannot be loaded is stated in the report (`targets[0].failure`), not raised; `exit_code` is what the
    command would exit with.

    Raises UsageError for a setting that means nothing: an unknown host, rule, capability, severity or
    profile, a value of another kind.
    """
    target = target_text(target)
    settings = Settings(
        host=demanded(host, str, "host"),
        fail_on=threshold(fail_on),
        select=_names(select, "select"),
        ignore=_names(ignore, "ignore"),
        revision=revision,
        offline=offline,
        template=None if template is None else path_text(template, "template"),
        special_tokens=None if special_tokens is None else path_text(special_tokens, "special_tokens"),
        base=None if base is None else target_text(base),
        untrusted=untrusted,
        cache=cache,
        profile=profile_named(profile),
        require=required(_names(require, "require")),
        expect=None if expect is None else path_text(expect, "expect"),
        probes=None if probes is None else path_text(probes, "probes"),
    )
    if settings.select and settings.ignore:
        from chatlint.rules.selection import require_rules

        require_rules(settings.select, settings.ignore)
    settings = with_contents(settings)
    return Report(settings, (check_target(target, settings),))


def _names(value: str | Iterable[str], name: str) -> tuple[str, ...]:
    """Names that a caller gave as `name`: several, or one."""
    what = "capabilities" if name == "require" else "rules"
    if not isinstance(value, Iterable):
        raise UsageError(f"{name}: expected names of {what}, found {type(value).__name__}")
    names = (value,) if isinstance(value, str) else tuple(value)
    return tuple(demanded(one, str, name, hint=f"names of {what} were expected") for one in names)


def _failed(target: str, status: Status, failure: TargetFailure) -> TargetReport:
    return TargetReport(target, status=status, failure=failure)


def own_fault(error: Exception) -> str:
    """What to say of an error that is chatlint's own; with CHATLINT_DEBUG set it is raised instead.
    Raises KeyboardInterrupt if it is one."""
    obey_interrupts(error)
    if os.environ.get("CHATLINT_DEBUG"):
        raise error
    said = error.message if isinstance(error, InternalError) else f"{type(error).__name__}: {error}"
    return f"internal error, please report it: {said}"
