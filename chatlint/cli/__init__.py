"""The command line: one file per command; what is heavy is imported inside the command that needs it."""

from __future__ import annotations

import gc
import sys

_GARBAGE_AFTER = 50_000
"""Objects between two looks for unreachable ones. A command makes many that stay: the standard 700 would have
Python look through all of them again and again, for a tenth of a command's time."""


def main() -> None:
    """The `chatlint` command. Exits 0, 1, 2 or 3 as DESIGN says; a traceback is never shown."""
    gc.set_threshold(_GARBAGE_AFTER, 20, 20)
    if sys.argv[1:] == ["--version"]:
        from chatlint import __version__

        sys.stdout.write(f"chatlint {__version__}\n")
        sys.exit(0)
    from chatlint.cli.app import run

    run()
