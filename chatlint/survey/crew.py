"""Those who do a survey's work: this process, a pool of processes, or a cluster.

A crew takes work and gives outcomes in the order in which they are ready. Work whose process dies has an
outcome, too: `Died`. A pool loses all it was doing when one of its processes dies, and cannot say which work
was to blame (and a cluster blames all that a lost worker had); so each is done once more, alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from typing import TypeAlias

from chatlint.errors import UsageError
from chatlint.pipeline import OWN_FAULT_HINT, own_fault
from chatlint.records import dataclass, field
from chatlint.survey.pool import Pool
from chatlint.survey.targets import Named

Work: TypeAlias = Callable[..., object]  # type: ignore[explicit-any]

_LOST = ("CancelledError", "FutureCancelledError", "KilledWorker")
_AHEAD = 3
"""Pieces of work that wait for each worker, so that none idles and few are in memory."""


@dataclass(frozen=True, slots=True)
class Died:
    """Work that was not finished: its process ended, or chatlint failed in it."""

    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """What a piece of work is for: the look at a target, or the answer to a key."""

    named: Named | None = None
    key: str = ""


@dataclass(slots=True)
class Crew:
    """Work in progress. `hire` opens an executor (again, where one broke), `workers` is how many it has.
    `let_go` ends what `hire` began."""

    hire: Callable[[], Executor]
    workers: int
    let_go: Callable[[], None] = lambda: None
    _executor: Executor | None = None
    _busy: dict[Future[object], tuple[Task, Work, tuple[object, ...]]] = field(default_factory=dict)
    _suspects: list[tuple[Task, Work, tuple[object, ...]]] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """Whether there is enough to do for now."""
        return len(self._busy) >= self.workers * _AHEAD

    @property
    def idle(self) -> bool:
        """Whether there is nothing to wait for."""
        return not self._busy and not self._suspects

    def start(self, task: Task, work: Work, *arguments: object) -> None:
        """Have something done."""
        if self._executor is None:
            self._executor = self.hire()
        try:
            future = self._executor.submit(work, *arguments)
        except BrokenExecutor as broken:  # a process died since the last outcome was taken
            future = Future()
            future.set_exception(broken)
        self._busy[future] = task, work, arguments

    def finished(self) -> list[tuple[Task, object]]:
        """What is done by now; waits until something is. Raises UsageError where work does, and with
        CHATLINT_DEBUG set whatever it does."""
        if not self._busy:
            task, work, arguments = self._suspects.pop()
            return [(task, self._alone(work, arguments))]
        done, _ = wait(self._busy, return_when=FIRST_COMPLETED)
        if any(isinstance(_error(future), BrokenExecutor) for future in done):
            done, _ = wait(self._busy)  # all that a broken pool was doing is lost
            self._dismiss()
        outcomes = []
        for future in done:
            suspect = self._busy.pop(future)
            if _was_lost(future):
                self._suspects.append(suspect)
            else:
                outcomes.append((suspect[0], _outcome(future)))
        return outcomes

    def _alone(self, work: Work, arguments: tuple[object, ...]) -> object:
        """What becomes of work that was lost with other work, when it alone would be to blame."""
        self._executor = self._executor or self.hire()
        future = self._executor.submit(work, *arguments)
        wait([future])
        if isinstance(_error(future), BrokenExecutor):
            self._dismiss()
        return _outcome(future)

    def _dismiss(self) -> None:
        """End the executor, and with it what is not finished."""
        if self._executor is not None:
            self._executor.shutdown(wait=not self._busy)
            self._executor = None

    def close(self) -> None:
        """End it; what is not finished is given up."""
        self._dismiss()
        self.let_go()


def _outcome(future: Future[object]) -> object:
    error = _error(future)
    if error is None:
        return future.result()
    if isinstance(error, UsageError):
        raise error
    if _was_lost(future):
        return Died("the process that judged this target died", "try --untrusted")
    assert isinstance(error, Exception)
    return Died(own_fault(error), OWN_FAULT_HINT)


def _error(future: Future[object]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _was_lost(future: Future[object]) -> bool:
    """Whether a process that had the work, or its outcome, is gone. `distributed` has names of its own for
    that, and is not imported for them."""
    error = _error(future)
    return isinstance(error, BrokenExecutor) or type(error).__name__ in _LOST


class Here(Executor):
    """This process, at once."""

    def submit(self, work: Work, /, *arguments: object) -> Future[object]:  # type: ignore[override]
        """Do it now."""
        future: Future[object] = Future()
        try:
            future.set_result(work(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def open_crew(url: str = "", jobs: int = 0, targets: int | None = None) -> Crew:
    """The crew at `url`: "" is this machine with `jobs` processes (0: one per core; 1: this one), but no more
    than there are `targets`; else the cluster `dask://host:port`. Raises UsageError for what is none, or does
    not answer."""
    if url:
        return _cluster(url)
    workers = jobs or os.cpu_count() or 1
    if targets is not None:
        workers = min(workers, targets)
    if workers <= 1:
        return Crew(Here, 1)
    return Crew(lambda: Pool(workers), workers)


def _cluster(url: str) -> Crew:
    from chatlint.survey.cluster import open_cluster

    cluster = open_cluster(url)
    return Crew(cluster.executor, cluster.workers, cluster.close)
