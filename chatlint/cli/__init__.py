"""The command line: one file per command; what is heavy is imported inside the command that needs it."""

from __future__ import annotations

import atexit
import gc
import signal
import sys
from typing import TYPE_CHECKING

from chatlint.cli.streams import give_up_output, open_closed_streams

if TYPE_CHECKING:
    from types import FrameType

_GARBAGE_AFTER = 150_000
"""Objects between two looks for unreachable ones, more than there are when a template has been judged. A
command makes many that stay: the standard 700 would have Python look through all of them again and again, for
a tenth of a command's time."""

INTERRUPTION = "interrupted"
INTERRUPTED = 130
"""128 and the number of SIGINT, as shells have it."""


def main() -> None:
    """The `chatlint` command. Exits 0, 1, 2 or 3 as DESIGN says, 130 where it was interrupted; a traceback is
    never shown."""
    gc.set_threshold(_GARBAGE_AFTER, 20, 20)
    atexit.register(gc.freeze)  # or Python would look through everything once more before it ends
    open_closed_streams()
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as nohup has it
        signal.signal(signal.SIGINT, _interrupt)
    try:
        if sys.argv[1:] == ["--version"]:
            sys.exit(_say_version())
        from chatlint.cli.app import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write(f"{INTERRUPTION}\n")
        sys.exit(INTERRUPTED)
    finally:
        _obey_at_once()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """The first interrupt is obeyed in order; one that comes while this is done, or after all is, at once."""
    _obey_at_once()
    raise KeyboardInterrupt


def _obey_at_once() -> None:
    """Without a word: at its end Python would print where it was."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _say_version() -> int:
    """Without the command line, which takes longer to make than to say this."""
    from chatlint import __version__

    try:
        sys.stdout.write(f"chatlint {__version__}\n")
        sys.stdout.flush()
    except OSError as error:
        give_up_output()
        return 0 if isinstance(error, BrokenPipeError) else 2
    return 0
