"""The command line: one file per command; what is heavy is imported inside the command that needs it."""

from __future__ import annotations


def main() -> None:
    """The `chatlint` command. Exits 0, 1, 2 or 3 as DESIGN says; a traceback is never shown."""
    from chatlint.cli.app import run

    run()
