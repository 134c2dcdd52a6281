"""Standard output that was closed, is full, or that nobody reads any more."""

from __future__ import annotations

import errno
import io
import os
import sys

_FULL = frozenset((errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)))


def open_closed_streams() -> None:
    """Python has None for a stream that was closed before it began (`>&-`); what is written there is lost."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def forgive_errors_of_stderr() -> None:
    """What is said there is said besides: where nobody can hear it, the exit status must not change."""
    told = sys.stderr
    if told is sys.__stderr__ and isinstance(told, io.TextIOWrapper):
        sys.stderr = _Forgiving(told.buffer, told.encoding, told.errors, line_buffering=True)


class _Forgiving(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError:
            self._give_up()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            self._give_up()

    def _give_up(self) -> None:
        """What is still to be written is lost without a word, by Python at its end as well."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())


def print_whole(text: str) -> None:
    """On standard output. Where nobody reads it to its end, other outputs and the exit status still count."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_output()


def give_up_output() -> None:
    """Whoever read our output has seen enough; Python must not complain about it at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_full(error: BaseException) -> bool:
    """Whether there is no room for the output."""
    return isinstance(error, OSError) and error.errno in _FULL
