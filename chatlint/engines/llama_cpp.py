"""llama.cpp's own Jinja engine, where CHATLINT_LLAMA_CPP says: a program or a server.

The program is `test-chat-template` of llama.cpp's tests (`--no-common --json FILE --output FILE TEMPLATE`),
which runs the engine alone. A server (`http://127.0.0.1:8080`) renders its own template, so it must serve the
one that is judged; it prepares requests itself.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from chatlint.conversation import JSON
from chatlint.engines.engine import Engine, EngineAbsent, EngineFailed, Job, Outcome
from chatlint.engines.process import run_program
from chatlint.limits import ENGINE_ANSWER_BYTES, ENGINE_SECONDS

PLACE = "CHATLINT_LLAMA_CPP"
_MEMORY = 1024 * 1024 * 1024


def open_llama_cpp() -> Engine:
    """The program or the server. Raises EngineAbsent."""
    place = os.environ.get(PLACE, "")
    if not place:
        raise EngineAbsent(
            f"set {PLACE} to llama.cpp's test-chat-template, or to the address of a running llama-server"
        )
    if place.startswith(("http://", "https://")):
        from chatlint.engines.llama_server import LlamaServer

        return LlamaServer(place)
    return LlamaProgram(place)


class LlamaProgram:
    """Raises EngineAbsent where there is no such program."""

    name = "llama.cpp"
    version = ""
    host = ""

    def __init__(self, program: str) -> None:
        found = shutil.which(program)
        if found is None:
            raise EngineAbsent(f"{PLACE} names {program}, which is no program that can be run")
        self._program = found

    def render_all(self, source: str, jobs: Sequence[Job]) -> tuple[Outcome, ...]:
        """One process for each job, all within one time."""
        deadline = time.monotonic() + ENGINE_SECONDS
        with TemporaryDirectory(prefix="chatlint-") as folder:
            template = Path(folder, "template.jinja")
            template.write_bytes(source.encode("utf-8", "surrogatepass"))
            return tuple(self._rendered(template, job.passed, deadline) for job in jobs)

    def _rendered(self, template: Path, variables: dict[str, JSON], deadline: float) -> Outcome:
        given, made = template.with_name("input.json"), template.with_name("output.txt")
        given.write_text(json.dumps(variables), encoding="utf-8")
        made.unlink(missing_ok=True)
        command = (self._program, "--no-common", "--json", str(given), "--output", str(made), str(template))
        left = max(deadline - time.monotonic(), 0.01)
        ran = run_program(command, seconds=left, memory=_MEMORY, written=ENGINE_ANSWER_BYTES + 1)
        if ran.code or not made.is_file():
            words = ran.words or ran.answer[-2000:].decode("utf-8", "replace").strip()
            return Outcome(None, words.splitlines()[-1] if words else f"status {ran.code}")
        with made.open("rb") as stream:
            text = stream.read(ENGINE_ANSWER_BYTES + 1)
        if len(text) > ENGINE_ANSWER_BYTES:
            raise EngineFailed(f"it wrote more than {ENGINE_ANSWER_BYTES:,} bytes")
        return Outcome(text.decode("utf-8", "replace"))
