"""Processes that an interrupt finds in order, whenever it comes.

Theory of operation. Python obeys an interrupt between any two of its steps. One that comes while a process is
being started leaves a pool that can neither be used nor ended, and a process that does not know yet that
interrupts are not its to obey, and prints where it was. So interrupts wait for as long as processes are
started or ended. A new process has the signals blocked that its parent had, so that it never hears of one.
Nor may one come while a thread is waited for: Python 3.11 then takes it for ended. What is waited for is the
work, and the threads when it is done.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures import wait as finished
from contextlib import contextmanager
from multiprocessing import active_children
from typing import TypeVar

Value = TypeVar("Value")

_WINDOWS_MOST = 61
"""Processes of which Windows can wait for one at a time."""


class Pool(ProcessPoolExecutor):
    """`workers` processes, which end when this one does, however it ends."""

    def __init__(self, workers: int) -> None:
        self._others = frozenset(active_children())
        self._work: set[Future[object]] = set()
        workers = min(workers, _WINDOWS_MOST) if sys.platform == "win32" else workers
        super().__init__(workers, initializer=_begin, initargs=(os.getpid(),))

    def submit(  # type: ignore[explicit-any, override]
        self, work: Callable[..., Value], /, *arguments: object
    ) -> Future[Value]:
        """Have a process do it."""
        with _interrupts_held():
            future = super().submit(work, *arguments)
            self._work.add(future)  # type: ignore[arg-type]
            future.add_done_callback(self._work.discard)
            return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Start nothing more. Without `wait` nobody wants what is being done: its processes end at once, and
        so all of it is broken off."""
        broken_off = not wait
        try:
            for future in list(self._work) if cancel_futures else ():
                future.cancel()
            if wait:
                finished(list(self._work))
        except BaseException:
            broken_off = True
            raise
        finally:
            with _interrupts_held():
                for process in set(active_children()) - self._others if broken_off else ():
                    process.kill()
                super().shutdown()  # to the end of what watches over them: Python would trip over it


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """An interrupt that comes meanwhile is obeyed at the end, where the system can hold it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """Of a process of the pool: leave interrupts to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
