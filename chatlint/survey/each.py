"""Many targets: judged in order, on several processes, none of them able to spoil the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chatlint.config import Settings
from chatlint.pipeline import check_target
from chatlint.verdict import INTERNAL, Status, TargetFailure, TargetReport

if TYPE_CHECKING:
    from concurrent.futures import Future

    from chatlint.survey.pool import Pool

_WORTH_A_PROCESS = 4
"""Fewer targets than this are judged here: starting processes would take longer."""


def judge_each(
    targets: Sequence[str],
    settings: Settings,
    jobs: int = 0,
    say: Callable[[str], None] = lambda _: None,
) -> Generator[TargetReport, None, None]:
    """A verdict for each target, in the order given. `jobs` processes at most; 0 is one per core. `say` is
    told what is being fetched, where that happens in this process. Closed early, it ends what is going on."""
    workers = min(jobs or os.cpu_count() or 1, len(targets))
    if workers < 2 or (not jobs and len(targets) < _WORTH_A_PROCESS):
        yield from (check_target(target, settings, say) for target in targets)
        return
    with _pool(workers) as pool:
        # Standard input belongs to this process.
        waiting = [
            None if target == "-" else pool.submit(check_target, target, settings) for target in targets
        ]
        for target, future in zip(targets, waiting, strict=True):
            yield check_target(target, settings) if future is None else _outcome(future, target, settings)


@contextmanager
def _pool(workers: int) -> Iterator[Pool]:
    """Processes that end at once where this one is interrupted: nobody waits for work that nobody wants."""
    from chatlint.survey.pool import Pool  # 14 ms, and most runs have one target

    pool = Pool(workers)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False)
        raise
    pool.shutdown()


def _outcome(future: Future[TargetReport], target: str, settings: Settings) -> TargetReport:
    """What a worker made of a target. One that died took others with it; each is tried once more, alone."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        return future.result()
    except BrokenProcessPool:
        with _pool(1) as alone:
            try:
                return alone.submit(check_target, target, settings).result()
            except BrokenProcessPool:
                failure = TargetFailure(
                    INTERNAL, "the process that judged this target died", "try --untrusted"
                )
                return TargetReport(target, status=Status.FAILED, failure=failure)
