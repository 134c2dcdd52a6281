"""minijinja, through its Python binding, in a process of its own.

It has as many behaviours as hosts that set it up: `minijinja` is as careful hosts have it (Python's string
methods, blocks trimmed, Python's JSON; vLLM's Rust front end), `minijinja-stock` with its own JSON,
`minijinja-bare` with nothing but Python's methods (text-generation-inference and several candle hosts).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from chatlint.engines.engine import EngineAbsent, Job, Outcome
from chatlint.engines.outcomes import outcomes
from chatlint.engines.process import ask_program

VARIANTS: dict[str, dict[str, bool]] = {
    "minijinja": {"trim": True, "python_json": True},
    "minijinja-stock": {"trim": True, "python_json": False},
    "minijinja-bare": {"trim": False, "python_json": False},
}


class Minijinja:
    """One way of setting it up. Raises EngineAbsent where the package is not installed."""

    host = ""

    def __init__(self, name: str, now: datetime | None) -> None:
        if find_spec("minijinja") is None:
            raise EngineAbsent("it is not installed: pip install 'chatlint-conformance[minijinja]'")
        from importlib.metadata import version

        self.name = name
        self.version = version("minijinja")
        self._now = now

    def render_all(self, source: str, jobs: Sequence[Job]) -> tuple[Outcome, ...]:
        """One process for all jobs."""
        program = Path(__file__).with_name("minijinja_program.py")
        answer = ask_program(
            [sys.executable, "-I", str(program)],
            {
                "source": source,
                **VARIANTS[self.name],
                "now": self._now.isoformat() if self._now else None,
                "jobs": [job.passed for job in jobs],
            },
        )
        return outcomes(answer, len(jobs))
