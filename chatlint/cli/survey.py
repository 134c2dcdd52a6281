"""`chatlint survey TARGET…`: many targets at once, and what they have in common."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import INTERRUPTED, INTERRUPTION, check, options
from chatlint.cli.declared import Argument, Option

if TYPE_CHECKING:
    from chatlint.cli.progress import Progress
    from chatlint.config import Settings
    from chatlint.survey.run import Step
    from chatlint.survey.tally import Tally

Targets = Annotated[
    list[str] | None,
    Argument(metavar="TARGET", help="Targets, and @FILE: a list with one target on each line."),
]
Corpus = Annotated[bool, Option("--corpus", help="Every template that comes with chatlint.")]
Out = Annotated[str, Option("--out", metavar="DIR", help="Where results and tables go.", show_default=True)]
Executor = Annotated[
    str | None,
    Option("--executor", metavar="URL", help="A cluster: dask://host:port (extra `cluster`)."),
]
FactsOnly = Annotated[
    bool, Option("--facts-only", help="Write nothing that templates and prompts say beyond marks.")
]
Reports = Annotated[bool, Option("--reports", help="Also a JSON report per target, in DIR/reports.")]
Title = Annotated[str, Option("--title", metavar="TEXT", help="Above the tables.", show_default=True)]


def survey_targets(
    targets: Targets = None,
    corpus: Corpus = False,
    out: Out = "survey",
    jobs: check.Jobs = "0",
    executor: Executor = None,
    facts_only: FactsOnly = False,
    reports: Reports = False,
    title: Title = "Chat templates",
    select: check.Select = None,
    ignore: check.Ignore = None,
    host: options.Host = None,
    offline: options.Offline = False,
    untrusted: options.Untrusted = False,
    no_cache: options.NoCache = False,
    config: check.Config = None,
    color: options.Color = "auto",
) -> None:
    """Judge many targets: results.jsonl, survey.md, survey.html and metrics.json.

    Equal templates are judged once, failures are results; a run that was killed goes on where it was. Exit
    status: 0 the survey is complete, 2 usage or internal error.
    """
    from pathlib import Path

    from chatlint.cli.configured import settings_of
    from chatlint.cli.progress import Progress
    from chatlint.records import replace
    from chatlint.survey.crew import open_crew
    from chatlint.survey.outputs import write_outputs
    from chatlint.survey.reports import FOLDER, Reports
    from chatlint.survey.run import run_survey
    from chatlint.survey.targets import named_targets
    from chatlint.survey.words import counted

    options.colour_choice(color)
    _refuse(out, facts_only=facts_only, reports=reports)
    settings = settings_of(config, select=select, ignore=ignore, host=host)
    settings = replace(settings, offline=offline, untrusted=untrusted, cache=not no_cache)
    named = named_targets(targets or [], corpus=corpus)
    wanted = Reports(Path(out) / FOLDER, named if reports else ())
    crew = open_crew(executor or "", check.job_count(jobs), len(named))
    try:
        with Progress(len(named)) as progress:
            results = run_survey(
                named, Path(out), settings, crew, texts=not facts_only, step=_steps(progress), say=_say
            )
    except KeyboardInterrupt:
        sys.stderr.write(f"{INTERRUPTION}: the same command goes on from here\n")
        sys.exit(INTERRUPTED)
    tally = write_outputs(results, (one.name for one in named), title, settings)
    wanted.write(settings)
    if old := wanted.tidy():
        _say(f"{wanted.directory}: {counted(old, 'report')} of an earlier survey removed")
    sys.stdout.write(_said(tally, settings, out))


def _refuse(out: str, *, facts_only: bool, reports: bool) -> None:
    """Raises UsageError for options that mean nothing, or contradict each other."""
    from chatlint.errors import UsageError

    if not out.strip():
        raise UsageError("--out names no directory", hint="like --out survey; . is the one you are in")
    if reports and facts_only:
        raise UsageError(
            "--reports with --facts-only: a report says what templates say", hint="leave out one of them"
        )


def _steps(progress: Progress) -> Step:
    """Tells the progress of each target that is done."""

    def step(name: str, before: bool) -> None:
        if before:
            progress.skip()
        else:
            progress.step(None, name)

    return step


def _say(what: str) -> None:
    """Something about the files that its user should know."""
    from chatlint.text import visible

    sys.stderr.write(f"{visible(what)}\n")


def _said(tally: Tally, settings: Settings, out: str) -> str:
    """What was done, in a few lines."""
    from chatlint.survey.summary import sentences
    from chatlint.text import visible

    said = [visible("".join(sentence)) for sentence in sentences(tally, settings)]
    return "\n".join([*said, f"{out}/survey.html shows it, {out}/survey.md too.", ""])
