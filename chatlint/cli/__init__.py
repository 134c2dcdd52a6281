"""The command line: one file per command; what is heavy is imported inside the command that needs it."""

from __future__ import annotations

import gc
import sys

from chatlint.cli.streams import give_up_output, open_closed_streams

_GARBAGE_AFTER = 50_000
"""Objects between two looks for unreachable ones. A command makes many that stay: the standard 700 would have
Python look through all of them again and again, for a tenth of a command's time."""

INTERRUPTED = 130
"""128 and the number of SIGINT, as shells have it."""


def main() -> None:
    """The `chatlint` command. Exits 0, 1, 2 or 3 as DESIGN says, 130 where it was interrupted; a traceback is
    never shown."""
    gc.set_threshold(_GARBAGE_AFTER, 20, 20)
    open_closed_streams()
    try:
        if sys.argv[1:] == ["--version"]:
            sys.exit(_say_version())
        from chatlint.cli.app import run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _say_version() -> int:
    """Without the command line, which takes longer to make than to say this."""
    from chatlint import __version__

    try:
        sys.stdout.write(f"chatlint {__version__}\n")
        sys.stdout.flush()
    except OSError:
        give_up_output()
        return 2
    return 0
