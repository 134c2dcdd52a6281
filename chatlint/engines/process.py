"""A program that is asked once: a job on its standard input, an answer on its standard output, both JSON.

Templates are hostile in other engines, too: the program has a time, and its answer a size. Nothing goes
through a shell.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from threading import Thread, Timer
from typing import IO

from chatlint.conversation import JSON
from chatlint.engines.engine import EngineFailed
from chatlint.limits import ENGINE_ANSWER_BYTES, ENGINE_SECONDS
from chatlint.records import dataclass

_SAID = 300
_PART = 64 * 1024


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program wrote, its exit status, and the last words of its standard error."""

    answer: bytes
    code: int
    words: str


def ask_program(command: Sequence[str], job: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """What the program answers. Raises EngineFailed, in whose message are the program's last words."""
    ran = run_program(command, json.dumps(job).encode("ascii"))
    try:
        parsed = json.loads(ran.answer)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise EngineFailed(f"it ended with status {ran.code}{f': {ran.words}' if ran.words else ''}")
    return parsed


def run_program(
    command: Sequence[str], given: bytes = b"", *, seconds: float = 0, memory: int = 0, written: int = 0
) -> Ran:
    """Run it to its end, with `given` on its standard input, within `seconds` (0: those of an engine).
    `memory` bounds its address space and `written` its files, in bytes, where the system can.

    Raises EngineFailed where it cannot be run, does not end in time or writes too much.
    """
    with TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        process = _started(command, source, memory, written)
    assert process.stdout is not None
    said = bytearray()
    listener = Thread(target=_keep_last, args=(process.stderr, said), daemon=True)
    timer = Timer(seconds or ENGINE_SECONDS, _end, [process])
    timer.daemon = True
    listener.start()
    timer.start()
    try:
        answer = process.stdout.read(ENGINE_ANSWER_BYTES + 1)
        if len(answer) > ENGINE_ANSWER_BYTES:
            raise EngineFailed(f"it wrote more than {ENGINE_ANSWER_BYTES:,} bytes")
        code = process.wait()
        listener.join()
    finally:
        timer.cancel()
        _end(process)
        process.wait()
        process.stdout.close()
    if code < 0:
        raise EngineFailed(f"it did not finish within {ENGINE_SECONDS:g} seconds, or was ended")
    return Ran(answer, code, said.decode("utf-8", "replace").strip()[-_SAID:])


def _started(command: Sequence[str], source: IO[bytes], memory: int, written: int) -> subprocess.Popen[bytes]:
    """In a session of its own, so that what it starts ends with it."""
    try:
        process = subprocess.Popen(
            command,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) else error
        raise EngineFailed(f"{command[0]} cannot be run: {words}") from error
    _limit(process.pid, memory, written)
    return process


def _limit(pid: int, memory: int, written: int) -> None:
    try:
        from resource import RLIMIT_AS, RLIMIT_FSIZE, prlimit
    except ImportError:
        return
    for limit, most in ((RLIMIT_AS, memory), (RLIMIT_FSIZE, written)):
        if most:
            with suppress(OSError, ValueError):  # it has ended, or may have less
                prlimit(pid, limit, (most, most))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program, and what it started: as long as that holds its output open, it would be waited for."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()


def _keep_last(stream: IO[bytes], said: bytearray) -> None:
    """Read a stream to its end, and keep the last of it."""
    with stream:
        while part := stream.read(_PART):
            said += part
            del said[: -4 * _SAID]
