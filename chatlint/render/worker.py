"""Rendering in a worker process, for templates that are not trusted.

The worker compiles and renders with the same code as `local`, and with its memory limited by the system.
Every request has `WORKER_SECONDS`; a worker that does not answer in time, or dies, is replaced, and the
request that it was asked has a failure of kind `bound` with the template line that ran. Workers are used
again for the next template.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import select
import subprocess
import sys
import weakref
from base64 import b64decode
from collections.abc import Mapping, Sequence
from time import monotonic

from chatlint.errors import InternalError
from chatlint.lazy import regex
from chatlint.limits import RENDER_OUTPUT_CHARACTERS, WORKER_FAILURES, WORKER_SECONDS
from chatlint.records import replace
from chatlint.render.compiled import FILE_NAME, Store, code_key, template_line
from chatlint.render.hosts import host_named
from chatlint.render.rendered import FailureKind, Rendered, RenderFailure, RenderRequest, RenderSettings
from chatlint.render.shaping import Manners
from chatlint.render.wire import Fields, asked, opening, read, rendered_of, written
from chatlint.render.worker_process import SIGNAL_FOR_A_TRACEBACK
from chatlint.source.package import Template

ROOM = "compiled-untrusted"
"""Code that a worker made; it is only ever given to a worker."""

_START_SECONDS = 60.0
_ANSWER_BYTES = 14 * RENDER_OUTPUT_CHARACTERS
_TRACE_BYTES = 65_536
_IN_TEMPLATE = regex(rf'File "{re.escape(FILE_NAME)}", line (\d+)')
_PROGRAM = "import sys; sys.path[:] = {path!r}; from chatlint.render.worker_process import main; main()"


class WorkerEnded(Exception):
    """A worker did not answer: `lines` of the template's code that it was at, innermost first."""

    def __init__(self, message: str, lines: Sequence[int]) -> None:
        super().__init__(message)
        self.message = message
        self.lines = lines


class _Process:
    """A worker process: `ask` it, or `kill` it."""

    def __init__(self) -> None:
        environment = {
            name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ
        }
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-c", _PROGRAM.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self._pending = b""
        self._owner = os.getpid()
        self._line(monotonic() + _START_SECONDS)

    def ask(self, fields: Mapping[str, object]) -> Fields:
        """The answer to one line. Raises WorkerEnded where there is none; the process is gone then."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(written(fields))
            self._process.stdin.flush()
            return read(self._line(monotonic() + WORKER_SECONDS))
        except BrokenPipeError:
            raise self._ended("the worker process ended") from None
        except ValueError:
            raise self._ended("the worker process gave no proper answer") from None
        except BaseException:
            self.kill()
            raise

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        chunks = [self._pending]
        size = 0
        while b"\n" not in chunks[-1]:
            left = deadline - monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise self._ended(f"more than {WORKER_SECONDS:g} seconds in a worker process")
            chunk = os.read(descriptor, 1 << 20)
            size += len(chunk)
            if not chunk:
                raise self._ended(f"the worker process ended{self._signal()}")
            if size > _ANSWER_BYTES:
                raise self._ended("more output than a worker process may give")
            chunks.append(chunk)
        line, _, self._pending = b"".join(chunks).partition(b"\n")
        return line

    def _signal(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(1.0)
            return f" (signal {-code})" if code < 0 else f" (status {code})"
        return ""

    def _ended(self, message: str) -> WorkerEnded:
        lines = self._lines_at()
        self.kill()
        return WorkerEnded(message, lines)

    def _lines_at(self) -> list[int]:
        """Where in the template's code the process is: it is asked for its traceback, unless it is dead and
        has left one."""
        assert self._process.stderr is not None
        if self._process.poll() is None and SIGNAL_FOR_A_TRACEBACK is not None:
            self._process.send_signal(SIGNAL_FOR_A_TRACEBACK)
        descriptor = self._process.stderr.fileno()
        text = b""
        while len(text) < _TRACE_BYTES and select.select([descriptor], [], [], 0.2)[0]:
            chunk = os.read(descriptor, _TRACE_BYTES)
            if not chunk:
                break
            text += chunk
        return [int(number) for number in _IN_TEMPLATE.findall(text.decode("utf-8", "replace"))]

    def kill(self) -> None:
        """End it, if it is this process's own."""
        if not self.mine():
            return
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def mine(self) -> bool:
        """Whether this process started it."""
        return self._owner == os.getpid()

    def alive(self) -> bool:
        """Whether it can be asked: after a fork it is still the parent's."""
        return self.mine() and self._process.poll() is None


_idle: list[_Process] = []


def _taken() -> _Process:
    while _idle:
        process = _idle.pop()
        if process.alive():
            return process
    return _Process()


@atexit.register
def end_idle_workers() -> None:
    """End the workers that wait for a template."""
    while _idle:
        _idle.pop().kill()


class WorkerRenderer:
    """A template compiled for one host in a worker process."""

    def __init__(
        self,
        template: Template,
        settings: RenderSettings,
        store: Store | None = None,
        manners: Manners | None = None,
    ) -> None:
        host_named(settings.host)
        self._template = template
        self._settings = settings
        self._store = store
        self._manners = manners
        self._process: _Process | None = None
        self._coverable: frozenset[int] = frozenset()
        self._debug: list[tuple[int, int]] = []
        self._ended: list[RenderFailure] = []
        self._at_end: weakref.finalize[[], WorkerRenderer] | None = None

    def render(self, request: RenderRequest) -> Rendered:
        """The prompt of one request, or why there is none."""
        if len(self._ended) >= WORKER_FAILURES:
            last = self._ended[-1]
            message = f"not rendered, as {WORKER_FAILURES} cases before had to be ended: {last.message}"
            return Rendered(None, replace(last, message=message))
        try:
            fields = asked(request)
        except RecursionError:
            return Rendered(
                None, RenderFailure(FailureKind.BOUND, "", "a conversation that is nested too deep")
            )
        started = monotonic()
        try:
            return rendered_of(self._checked(self._opened().ask(fields)))
        except WorkerEnded as error:
            failure = RenderFailure(FailureKind.BOUND, "", error.message, self._line(error))
            self._drop()
        except ValueError as error:
            self._drop()
            raise InternalError(f"a worker process answered with {error}") from error
        self._ended.append(failure)
        return Rendered(None, failure, seconds=monotonic() - started)

    def render_all(self, requests: Sequence[RenderRequest]) -> tuple[Rendered, ...]:
        """One result for each request, in order."""
        return tuple(self.render(request) for request in requests)

    def coverable_lines(self) -> frozenset[int]:
        """The template lines that can run."""
        with contextlib.suppress(WorkerEnded):
            self._opened()
        return self._coverable

    def close(self) -> None:
        """Give the worker back."""
        process = self._let_go()
        if process is not None and process.mine():
            _idle.append(process)

    def _let_go(self) -> _Process | None:
        process, self._process = self._process, None
        if self._at_end is not None:
            self._at_end.detach()
        return process

    def _opened(self) -> _Process:
        if self._process is None or not self._process.mine():
            process = self._process = _taken()
            # A renderer that nobody closes takes its worker with it.
            self._at_end = weakref.finalize(self, process.kill)
            key = code_key(self._template.text) if self._store is not None else ""
            code = self._store.read(ROOM, key) if self._store is not None else None
            answer = self._checked(process.ask(opening(self._template, self._settings, code, self._manners)))
            self._coverable = frozenset(answer.get("lines") or ())  # type: ignore[arg-type]
            self._debug = [tuple(pair) for pair in answer.get("debug") or ()]  # type: ignore[union-attr, arg-type]
            made = answer.get("code")
            if isinstance(made, str) and self._store is not None:
                self._store.write(ROOM, key, b64decode(made))
        return self._process

    def _checked(self, answer: Fields) -> Fields:
        if "broken" in answer:
            self._drop()
            raise InternalError(f"a worker process failed: {answer['broken']}")
        if "ended" in answer:
            self._drop()
            raise WorkerEnded(str(answer["ended"]), ())
        return answer

    def _drop(self) -> None:
        process = self._let_go()
        if process is not None:
            process.kill()

    def _line(self, error: WorkerEnded) -> int:
        return template_line(self._debug, error.lines[0]) if error.lines and self._debug else 0
