"""The commands put together, and what happens to errors on the way out."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from chatlint import __version__
from chatlint.cli.cache import cache_commands
from chatlint.cli.check import check_targets
from chatlint.cli.complaint import complain
from chatlint.cli.corpus import corpus_commands
from chatlint.cli.export import export_target
from chatlint.cli.parse import parse_output
from chatlint.cli.plain import PlainCommand, PlainGroup
from chatlint.cli.probes import list_probes
from chatlint.cli.render import show_prompt
from chatlint.cli.rules import list_rules, show_rule
from chatlint.cli.schema import print_schema
from chatlint.cli.survey import survey_targets
from chatlint.errors import ChatlintError, InternalError, TargetError

EXIT_FINDINGS, EXIT_FAULT, EXIT_TARGET = 1, 2, 3

app = typer.Typer(
    name="chatlint",
    cls=PlainGroup,
    help="Judge chat templates: what they can express, what goes wrong, how to serve them.",
    epilog="TARGET is a .jinja file, a model directory, one of its JSON files, a .gguf, a model on the Hub "
    "(org/name[@revision][:quantization]), '-', or corpus:NAME.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("check", cls=PlainCommand)(check_targets)
app.command("render", cls=PlainCommand)(show_prompt)
app.command("parse", cls=PlainCommand)(parse_output)
app.command("export", cls=PlainCommand)(export_target)
app.command("survey", cls=PlainCommand)(survey_targets)
app.command("rules", cls=PlainCommand)(list_rules)
app.command("rule", cls=PlainCommand)(show_rule)
app.command("probes", cls=PlainCommand)(list_probes)
app.add_typer(corpus_commands, name="corpus")
app.command("schema", cls=PlainCommand)(print_schema)
app.add_typer(cache_commands, name="cache")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"chatlint {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not complain about it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("CHATLINT_DEBUG"):
            raise
        sys.exit(_complained(error))


def _complained(error: Exception) -> int:
    if not isinstance(error, ChatlintError):
        error = InternalError(
            f"internal error, please report it: {type(error).__name__}: {error}",
            hint="CHATLINT_DEBUG=1 shows where it happened",
        )
    complain(error)
    return EXIT_TARGET if isinstance(error, TargetError) else EXIT_FAULT
