"""The commands by name, and what happens to errors on the way out."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from chatlint.cli.complaint import complain, unwritable
from chatlint.cli.declared import Command, Group
from chatlint.cli.streams import give_up_output, is_full
from chatlint.cli.words import call_of
from chatlint.errors import ChatlintError, InternalError, TargetError, obey_interrupts

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


def found(name: str) -> Command | Group:
    """The command or group of this name."""
    module, attribute = COMMANDS[name]
    made: Command | Group = getattr(import_module(f"chatlint.cli.{module}"), attribute)
    return made


def run() -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        _run(sys.argv[1:])
    except BrokenPipeError:
        give_up_output()
        sys.exit(0)
    except SystemExit as left:
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        give_up_output()  # whoever has seen enough is content: typer makes a failure of it
        sys.exit(0)
    except Exception as error:
        obey_interrupts(error)
        if os.environ.get("CHATLINT_DEBUG"):
            raise
        sys.exit(_complained(error))


def _run(words: list[str]) -> None:
    names = words[:1] if words and words[0] in COMMANDS else list(COMMANDS)
    called = call_of(found(names[0]), words[1:]) if len(names) == 1 else None
    if called:
        called()
        sys.exit(0)
    from chatlint.cli.plain import command_line

    command_line({name: found(name) for name in names}, listed=words in (["-h"], ["--help"]))()


def _complained(error: Exception) -> int:
    if isinstance(error, OSError) and is_full(error):
        give_up_output()
        error = unwritable(error)
    if not isinstance(error, ChatlintError):
        error = InternalError(
            f"internal error, please report it: {type(error).__name__}: {error}",
            hint="CHATLINT_DEBUG=1 shows where it happened",
        )
    complain(error)
    return EXIT_TARGET if isinstance(error, TargetError) else EXIT_FAULT
