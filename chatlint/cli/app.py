"""The commands put together, and what happens to errors on the way out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

from chatlint import __version__
from chatlint.cli.complaint import complain
from chatlint.cli.plain import PlainCommand, PlainGroup
from chatlint.cli.streams import give_up_output, is_full
from chatlint.errors import ChatlintError, InternalError, TargetError, UsageError

EXIT_FINDINGS, EXIT_FAULT, EXIT_TARGET = 1, 2, 3

COMMANDS = {
    "check": ("check", "check_targets"),
    "init": ("init", "write_configuration"),
    "render": ("render", "show_prompt"),
    "parse": ("parse", "parse_output"),
    "export": ("export", "export_target"),
    "diff": ("diff", "compare_targets"),
    "lock": ("lock", "lock_targets"),
    "card": ("card", "write_card"),
    "vectors": ("vectors", "write_vectors"),
    "survey": ("survey", "survey_targets"),
    "serve-check": ("serve_check", "check_running_server"),
    "rules": ("rules", "list_rules"),
    "rule": ("rules", "show_rule"),
    "probes": ("probes", "list_probes"),
    "corpus": ("corpus", "corpus_commands"),
    "schema": ("schema", "print_schema"),
    "cache": ("cache", "cache_commands"),
}
"""Where each command is: a module of this room, and a function in it or a group of commands."""


def command_line(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """The command line with the commands of these names. To make one takes longer than to run some of them,
    so that a run makes only the one that it needs."""
    app = typer.Typer(
        name="chatlint",
        cls=PlainGroup,
        help="Judge chat templates: what they can express, what goes wrong, how to serve them.",
        epilog="TARGET is a .jinja file, a model directory, one of its JSON files, a .gguf, "
        "a model on the Hub (org/name[@revision][:quantization]), '-', or corpus:NAME.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_options)
    for name in names:
        module, attribute = COMMANDS[name]
        found = getattr(import_module(f"chatlint.cli.{module}"), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name, cls=PlainCommand)(found)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"chatlint {__version__}")
        raise typer.Exit


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
        command_line(sys.argv[1:2] if sys.argv[1:] and sys.argv[1] in COMMANDS else COMMANDS)()
    except BrokenPipeError:
        give_up_output()
        sys.exit(0)
    except SystemExit as left:
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        give_up_output()  # whoever has seen enough is content: typer makes a failure of it
        sys.exit(0)
    except Exception as error:
        if _interrupted(error):
            raise KeyboardInterrupt from None
        if os.environ.get("CHATLINT_DEBUG"):
            raise
        sys.exit(_complained(error))


def _interrupted(error: BaseException | None) -> bool:
    """Whether it comes of an interrupt: where classes are made, Python 3.11 turns that into an error."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _complained(error: Exception) -> int:
    if is_full(error):
        give_up_output()
        error = UsageError(f"the output cannot be written: {error}", hint="make room for it")
    if not isinstance(error, ChatlintError):
        error = InternalError(
            f"internal error, please report it: {type(error).__name__}: {error}",
            hint="CHATLINT_DEBUG=1 shows where it happened",
        )
    complain(error)
    return EXIT_TARGET if isinstance(error, TargetError) else EXIT_FAULT
