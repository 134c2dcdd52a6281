"""`chatlint check TARGET…`: judge."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import options
from chatlint.cli.declared import Argument, Option
from chatlint.cli.streams import print_whole

if TYPE_CHECKING:
    from chatlint.config import Settings
    from chatlint.verdict import Report, TargetReport

_FORMATS = "terminal, concise, json, jsonl, sarif, junit, github, markdown, html"


def _formats() -> list[str]:
    """What a shell completes."""
    from chatlint.report import REPORTERS

    return list(REPORTERS)


Targets = Annotated[
    list[str],
    Argument(
        metavar="TARGET",
        help=".jinja files, model directories, .gguf files, org/name on the Hub, -, corpus:NAME.",
    ),
]
Format = Annotated[
    str,
    Option(
        "--format",
        metavar="F",
        help=f"What to print: {_FORMATS}.",
        autocompletion=_formats,
    ),
]
Output = Annotated[
    list[str] | None,
    Option("--output", metavar="F=FILE", help="Also write format F to FILE; may be repeated."),
]
FailOn = Annotated[
    str | None,
    Option(
        "--fail-on",
        metavar="SEVERITY",
        help="Exit 1 from: error, warning, info, never.",
        show_default="error",
    ),
]
Select = Annotated[
    list[str] | None,
    Option(
        "--select", metavar="RULE", help="Only these rules, by name, code prefix or heading; may be repeated."
    ),
]
Ignore = Annotated[
    list[str] | None, Option("--ignore", metavar="RULE", help="Not these rules; may be repeated.")
]
Profile = Annotated[
    str | None,
    Option(
        "--profile",
        metavar="NAME",
        help="What to judge for: serving, training, security.",
        show_default="serving",
    ),
]
Engines = Annotated[
    list[str] | None,
    Option(
        "--engines",
        metavar="NAME,…",
        help="Other template engines to compare with: minijinja, huggingface-js, llama.cpp.",
    ),
]
Base = Annotated[
    str | None, Option("--base", metavar="TARGET", help="What the targets ought to be copies of.")
]
Folders = Annotated[
    bool,
    Option("--folders", help="Judge the whole model that a file is of (for hooks).", show_default=False),
]
Verbose = Annotated[
    bool,
    Option("--verbose", "-v", help="On the terminal, show infos whole, and why.", show_default=False),
]
Jobs = Annotated[str, Option("--jobs", "-j", metavar="N", help="Processes; 0 is one per core.")]
Fix = Annotated[
    bool,
    Option("--fix", help="Mend what can be mended mechanically, then judge.", show_default=False),
]
Diff = Annotated[bool, Option("--diff", help="Print what --fix would change instead.", show_default=False)]
Config = Annotated[
    str | None, Option("--config", metavar="FILE", help="Settings; else the nearest chatlint.toml.")
]
Isolated = Annotated[
    bool, Option("--isolated", help="Read no configuration and no baseline.", show_default=False)
]
ShowSettings = Annotated[
    bool,
    Option("--show-settings", help="Print the settings that hold here instead.", show_default=False),
]
Baseline = Annotated[
    str | None,
    Option(
        "--baseline",
        metavar="FILE",
        help="Accepted findings; else the chatlint.baseline.json that is here.",
    ),
]
UpdateBaseline = Annotated[
    bool, Option("--update-baseline", help="Accept all that is found.", show_default=False)
]
Statistics = Annotated[
    bool,
    Option("--statistics", help="Print how often each rule found something.", show_default=False),
]


def check_targets(
    targets: Targets,
    format_: Format = "terminal",
    output: Output = None,
    fail_on: FailOn = None,
    select: Select = None,
    ignore: Ignore = None,
    profile: Profile = None,
    host: options.Host = None,
    template: options.TemplateFile = None,
    special_tokens: options.SpecialTokens = None,
    engines: Engines = None,
    base: Base = None,
    revision: options.Revision = None,
    offline: options.Offline = False,
    untrusted: options.Untrusted = False,
    jobs: Jobs = "0",
    no_cache: options.NoCache = False,
    config: Config = None,
    isolated: Isolated = False,
    show_settings: ShowSettings = False,
    baseline: Baseline = None,
    update_baseline: UpdateBaseline = False,
    statistics: Statistics = False,
    fix: Fix = False,
    diff: Diff = False,
    folders: Folders = False,
    verbose: Verbose = False,
    color: options.Color = "auto",
) -> None:
    """Judge the chat templates of one or more targets.

    Exit status: 0 clean, 1 findings at or above --fail-on, 2 usage or internal error, 3 a target could not be
    loaded or has no template.
    """
    from chatlint.cli.configured import printed_settings, settings_of
    from chatlint.cli.folders import folders_of
    from chatlint.cli.outputs import begin_outputs, outputs_of

    outputs = outputs_of("statistics" if statistics else format_, output or [])
    options.colour_choice(color)
    workers = job_count(jobs)
    chosen = (config, fail_on, select, ignore, host, profile, baseline, engines)
    settings = settings_of(*chosen, isolated=isolated, targets=[] if untrusted else targets)
    ways = (template, special_tokens, base, revision, offline, untrusted, no_cache)
    settings = _loaded(settings, *ways)
    if show_settings:
        print_whole(printed_settings(settings))
        return
    begin_outputs(outputs, _read(targets, settings))
    targets = folders_of(targets) if folders else targets
    if fix or diff:
        from chatlint.cli.fixing import fix_targets

        fix_targets(targets, settings, write=not diff)
        outputs = outputs[1:] if diff else outputs  # standard output has the difference
    report = _report(targets, settings, workers, update_baseline=update_baseline)
    _write(report, outputs, color, verbose=verbose)
    sys.exit(report.exit_code)


def _read(targets: list[str], settings: Settings) -> list[str]:
    """The files that a run reads, as far as they are named."""
    also = (settings.config, settings.baseline, settings.expect, settings.template, settings.special_tokens)
    return [*targets, *(file for file in (*also, settings.base) if file)]


def _report(targets: list[str], settings: Settings, workers: int, *, update_baseline: bool) -> Report:
    """What is found, but for what the baseline accepts."""
    from chatlint.cli.baseline import held_against_baseline
    from chatlint.cli.configured import say_misfits
    from chatlint.verdict import Report

    report = Report(settings, tuple(_judged(targets, settings, workers)))
    if settings.per_target_ignores:
        say_misfits(report)
    return held_against_baseline(report, update=update_baseline)


def _loaded(
    settings: Settings,
    template: str | None,
    special_tokens: str | None,
    base: str | None,
    revision: str | None,
    offline: bool,
    untrusted: bool,
    no_cache: bool,
) -> Settings:
    """The settings with what belongs to one run."""
    from chatlint.records import replace

    return replace(
        settings,
        template=template,
        special_tokens=special_tokens,
        base=base,
        revision=revision,
        offline=offline,
        untrusted=untrusted,
        cache=not no_cache,
    )


def _judged(targets: list[str], settings: Settings, workers: int) -> list[TargetReport]:
    """A verdict for each target, with progress."""
    from contextlib import closing

    from chatlint.cli.progress import Progress
    from chatlint.survey import judge_each

    with (
        Progress(len(targets)) as progress,
        closing(judge_each(targets, settings, workers, progress.say)) as verdicts,
    ):
        return [progress.step(verdict, verdict.target) for verdict in verdicts]


def job_count(jobs: str) -> int:
    """How many processes, at most; 0 is one per core. Raises UsageError for what is no such number."""
    from chatlint.errors import UsageError
    from chatlint.limits import JOBS

    if not jobs.isdecimal():
        raise UsageError(f"--jobs {jobs} is not a number of processes", hint="0 is one per core")
    if len(jobs.lstrip("0")) > len(str(JOBS)) or int(jobs) > JOBS:
        raise UsageError(f"--jobs {jobs} is more than {JOBS} processes", hint="0 is one per core")
    return int(jobs)


def _write(report: Report, outputs: list[tuple[str, str]], color: str, *, verbose: bool) -> None:
    from chatlint.cli.outputs import say_faults, write_file
    from chatlint.report import REPORTERS
    from chatlint.report.canvas import Canvas, canvas_for

    for name, file in outputs:
        if file:
            write_file(file, REPORTERS[name](report, Canvas(width=100, verbose=verbose)))
        else:
            print_whole(REPORTERS[name](report, canvas_for(sys.stdout, color, verbose=verbose)))
    printed = [name for name, file in outputs if not file]
    if printed != ["terminal"]:
        say_faults(report, unloaded=not printed)
