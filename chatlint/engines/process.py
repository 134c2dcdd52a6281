"""A program that is asked once: a job on its standard input, an answer on its standard output, both JSON.

Templates are hostile in other engines, too: the program has a time, and its answer a size. Nothing goes
through a shell.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from tempfile import TemporaryFile
from threading import Timer

from chatlint.conversation import JSON
from chatlint.engines.engine import EngineFailed
from chatlint.limits import ENGINE_ANSWER_BYTES, ENGINE_SECONDS

_SAID = 300


def ask_program(command: Sequence[str], job: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """What the program answers. Raises EngineFailed, in whose message are the program's last words."""
    with TemporaryFile() as given, TemporaryFile() as said:
        given.write(json.dumps(job).encode("ascii"))
        given.seek(0)
        answer, code = _run(command, given.fileno(), said.fileno())
        said.seek(0)
        words = said.read(1_000_000).decode("utf-8", "replace").strip()[-_SAID:]
    if len(answer) > ENGINE_ANSWER_BYTES:
        raise EngineFailed(f"it wrote more than {ENGINE_ANSWER_BYTES:,} bytes")
    if code < 0:
        raise EngineFailed(f"it did not finish within {ENGINE_SECONDS:g} seconds, or was ended")
    try:
        parsed = json.loads(answer)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise EngineFailed(f"it ended with status {code}{f': {words}' if words else ''}")
    return parsed


def _run(command: Sequence[str], stdin: int, stderr: int) -> tuple[bytes, int]:
    """What it wrote, and its exit status, negative where it was killed."""
    try:
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr)
    except OSError as error:
        raise EngineFailed(f"{command[0]} cannot be run: {error.strerror}") from error
    timer = Timer(ENGINE_SECONDS, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        answer = process.stdout.read(ENGINE_ANSWER_BYTES + 1)
        process.stdout.close()
        if len(answer) > ENGINE_ANSWER_BYTES:
            process.kill()
        return answer, process.wait()
    finally:
        timer.cancel()
        if process.poll() is None:
            process.kill()
            process.wait()
