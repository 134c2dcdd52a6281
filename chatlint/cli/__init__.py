"""The command line: one file per command; what is heavy is imported inside the command that needs it."""

from __future__ import annotations

import signal
import sys

TYPE_CHECKING = False
"""As in `chatlint`: little is imported before interrupts are obeyed in order."""

if TYPE_CHECKING:
    from types import FrameType

_GARBAGE_AFTER = 150_000
"""Objects between two looks for unreachable ones, more than there are when a template has been judged. A
command makes many that stay: the standard 700 would have Python look through all of them again and again, for
a tenth of a command's time."""

_FRAGILE = frozenset(("__set_name__", "__del__", "_remove", "remove", "cb"))
"""Functions that Python calls while it makes a class, or lets go of something; the last are callbacks of weak
references in `weakref` and in what imports modules."""

_SOON = 0.001
"""Seconds until an interrupt that came in one of them is looked at again."""

INTERRUPTION = "interrupted"
INTERRUPTED = 130
"""128 and the number of SIGINT, as shells have it."""


def main() -> None:
    """The `chatlint` command. Exits 0, 1, 2 or 3 as DESIGN says, 130 where it was interrupted; a traceback is
    never shown."""
    try:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(signal.SIGINT, _interrupt)
        _prepare()
        if sys.argv[1:] == ["--version"]:
            sys.exit(_say_version())
        from chatlint.cli.app import run

        run()
    except KeyboardInterrupt:
        say_interrupted()
    finally:
        _obey_at_once()
        exec("")  # Python remembers that an interrupt left what is evaluated so, and would end by the signal


def say_interrupted() -> None:
    """Exit as who was interrupted."""
    if sys.stderr is not None:
        sys.stderr.write(f"{INTERRUPTION}\n")
    sys.exit(INTERRUPTED)


def _prepare() -> None:
    import atexit
    import gc

    from chatlint.cli.streams import forgive_errors_of_stderr, open_closed_streams

    gc.set_threshold(_GARBAGE_AFTER, 20, 20)
    atexit.register(gc.freeze)  # or Python would look through everything once more before it ends
    open_closed_streams()
    forgive_errors_of_stderr()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """The first interrupt is obeyed in order; one that comes while this is done, or after all is, at once."""
    if _is_fragile(frame) and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, _SOON)
        return
    _obey_at_once()
    raise KeyboardInterrupt


def _is_fragile(frame: FrameType | None) -> bool:
    """Whether Python would make another error of what is raised here, or print it and go on."""
    while frame is not None and frame.f_code.co_name not in _FRAGILE:
        frame = frame.f_back
    return frame is not None


def _obey_at_once() -> None:
    """Without a word: at its end Python would print where it was."""
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


def _say_version() -> int:
    """Without the command line, which takes longer to make than to say this."""
    from chatlint import __version__
    from chatlint.cli.streams import give_up_output

    try:
        sys.stdout.write(f"chatlint {__version__}\n")
        sys.stdout.flush()
    except OSError as error:
        give_up_output()
        if isinstance(error, BrokenPipeError):
            return 0
        from chatlint.cli.complaint import complain, unwritable

        complain(unwritable(error))
        return 2
    return 0
