"""`@huggingface/jinja`, the engine of transformers.js, through node.

The package is looked for where CHATLINT_HUGGINGFACE_JINJA says (its folder, or one with `node_modules`), else
from the working directory upwards, as node does.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from chatlint.conversation import JSON
from chatlint.engines.engine import EngineAbsent, EngineFailed, Job, Outcome
from chatlint.engines.outcomes import outcomes
from chatlint.engines.process import ask_program

PLACE = "CHATLINT_HUGGINGFACE_JINJA"
_INSTALL = f"npm install @huggingface/jinja, here or where {PLACE} says"
_MEMORY = "--max-old-space-size=512"


class HuggingfaceJs:
    """Raises EngineAbsent where node or the package is not there."""

    name = "huggingface-js"
    host = ""

    def __init__(self, now: datetime | None) -> None:
        node = shutil.which("node")
        if node is None:
            raise EngineAbsent(f"there is no node: install Node.js, then {_INSTALL}")
        self._command = (node, _MEMORY, str(Path(__file__).with_name("huggingface_js.cjs")))
        self._now = now
        version = self._ask("", ()).get("version")
        if not isinstance(version, str):
            raise EngineAbsent(f"node does not find the package: {_INSTALL}")
        self.version = version

    def render_all(self, source: str, jobs: Sequence[Job]) -> tuple[Outcome, ...]:
        """One process for all jobs."""
        return outcomes(self._ask(source, jobs), len(jobs))

    def _ask(self, source: str, jobs: Sequence[Job]) -> Mapping[str, JSON]:
        now = self._now
        job: dict[str, JSON] = {
            "place": os.environ.get(PLACE) or os.getcwd(),
            "source": source,
            "now": [now.year, now.month - 1, now.day, now.hour, now.minute, now.second] if now else None,
            "jobs": [job.passed for job in jobs],
        }
        try:
            return ask_program(self._command, job)
        except EngineFailed as error:
            if jobs:
                raise
            raise EngineAbsent(f"node does not run it: {error}") from error
