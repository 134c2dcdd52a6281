"""What runs in a worker process: one template at a time, one line in, one line out.

The process limits its own memory and files before it reads anything. Each line must be answered in time, or
the system ends the process (its alarm has no handler), whether or not the renderer that started it still
lives.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
from base64 import b64encode
from collections.abc import Mapping
from typing import BinaryIO

from chatlint.limits import WORKER_MEMORY_BYTES, WORKER_SECONDS
from chatlint.render.compiled import FILE_NAME
from chatlint.render.local import LocalRenderer
from chatlint.render.wire import Fields, answered, opened, read, request_of, written

_FILES = 16
_GRACE_SECONDS = 2.0
SIGNAL_FOR_A_TRACEBACK = getattr(signal, "SIGUSR1", None)


class _OneEntry:
    """A store of the one code that came with the template, or was made here."""

    def __init__(self, code: bytes | None) -> None:
        self.code = code
        self.made: bytes | None = None

    def read(self, room: str, key: str) -> bytes | None:
        return self.code

    def write(self, room: str, key: str, content: bytes) -> None:
        self.made = content


class Worker:
    """The state of a worker: the renderer of the template that is open."""

    def __init__(self) -> None:
        self._renderer: LocalRenderer | None = None

    def answer(self, fields: Fields) -> Mapping[str, object]:
        """The answer to one line."""
        if "text" in fields:
            return self._open(fields)
        if self._renderer is None:
            raise ValueError("no template is open")
        return answered(self._renderer.render(request_of(fields)))

    def _open(self, fields: Fields) -> Mapping[str, object]:
        template, settings, code, manners = opened(fields)
        kept = _OneEntry(code)
        self._renderer = LocalRenderer(template, settings, kept, manners)
        return {
            "lines": sorted(self._renderer.coverable_lines()),
            "debug": self._renderer.code_lines(),
            "code": None if kept.made is None else b64encode(kept.made).decode("ascii"),
        }


def answer_line(worker: Worker, line: bytes) -> bytes:
    """The answer to one line, as a line. Running out of memory is an answer, too."""
    try:
        return written(worker.answer(read(line)))
    except MemoryError:
        gc.collect()
        return written({"ended": "more memory than a worker process may use"})
    except Exception as error:  # no template is to blame: `LocalRenderer` has caught those
        return written({"broken": f"{type(error).__name__}: {error}"})


def main() -> None:
    """Answer lines of standard input on standard output until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else prints does not answer
    _limit()
    sys.setrecursionlimit(1000)
    faulthandler.enable(sys.stderr, all_threads=False)
    if SIGNAL_FOR_A_TRACEBACK is not None:
        faulthandler.register(SIGNAL_FOR_A_TRACEBACK, sys.stderr, all_threads=False)
    _serve(sys.stdin.buffer, answers)


def _serve(lines: BinaryIO, answers: BinaryIO) -> None:
    worker = Worker()
    answers.write(written({"ready": FILE_NAME}))
    answers.flush()
    for line in lines:
        _alarm(WORKER_SECONDS + _GRACE_SECONDS)
        answer = answer_line(worker, line)
        answers.write(answer)
        answers.flush()
        _alarm(0)


def _alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit() -> None:
    try:
        import resource
    except ImportError:
        return
    for limit, value in (
        (resource.RLIMIT_AS, WORKER_MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, most = resource.getrlimit(limit)
        if most != resource.RLIM_INFINITY:
            value = min(value, most)
        try:
            resource.setrlimit(limit, (value, value))
        except (ValueError, OSError):
            continue  # the system does not limit this


if __name__ == "__main__":
    main()
