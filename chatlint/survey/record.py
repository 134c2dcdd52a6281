"""`results.jsonl`: a survey's results as they come, one line per target, so that a killed survey goes on.

The first line says what judged, the last that the survey is complete; between them is one object per target.
Lines are only ever added. What a kill left half-written at the end is cut off: its target is judged again.

A template is judged once however many targets have it: the first line with it holds what was found out, later
ones the same `key` and null.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from chatlint.conversation import JSON
from chatlint.errors import UsageError
from chatlint.survey.folder import FILE, SCHEMA, require_own
from chatlint.survey.words import counted

Line = Mapping[str, JSON]


class Record:
    """The results of the survey in `directory`. If an earlier run with the same head did not come to its end,
    this one goes on with it; else it begins anew. What an unfinished run with another head has found out is
    moved aside, and `say` is told.

    `done` are the names of targets that have a line, `known` the keys of templates whose results are in some
    line. Raises UsageError where the file cannot be written or another run is writing it, and where something
    in the directory that a survey would replace is not a survey's.
    """

    def __init__(self, directory: Path, head: Line, say: Callable[[str], None] = lambda _: None) -> None:
        self.path = directory / FILE
        self.done: set[str] = set()
        self.known: set[str] = set()
        self._head = {"schema": SCHEMA, **head}
        require_own(directory)
        self._file = _opened(self.path)
        end = self._resume()
        if not end and self.done:
            self._begin_anew(say)
        self._file.seek(end)
        self._file.truncate()
        if not self._file.tell():
            self._write(self._head)

    def _resume(self) -> int:
        """Where to go on writing: behind the last whole line, or at 0. What is `done` then was another's."""
        lines = _lines(self._file)
        _, head, end = next(lines, (0, None, 0))
        for _, line, behind in lines:
            if "complete" in line:
                self.done.clear()
                self.known.clear()
                return 0
            if "target" in line:
                self._note(line)
            end = behind
        return end if head == self._head else 0

    def _begin_anew(self, say: Callable[[str], None]) -> None:
        """Leave the unfinished results of another survey under another name: they may have taken days."""
        aside = _set_aside(self._file, self.path)
        say(
            f"{self.path} held {counted(len(self.done), 'result')} of a survey that was not finished, with "
            f"other settings or another chatlint: moved to {aside}, and begun anew"
        )
        self.done.clear()
        self.known.clear()
        self._file = _opened(self.path)

    def _note(self, line: Line) -> None:
        self.done.add(str(line["target"]))
        self.known.update(key for key, result in keyed(line) if result is not None)

    def add(self, line: Line) -> None:
        """One more target. It is in the file when this returns."""
        self._write(line)
        self._note(line)

    def complete(self, facts: Line) -> None:
        """The last line."""
        self._write({"complete": True, **facts})

    def _write(self, line: Line) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> Record:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_lines(path: Path) -> Iterator[tuple[int, Line]]:
    """(offset, line) of every target's line, in the order in which they were added."""
    with open(path, "rb") as file:
        for start, line, _ in _lines(file):
            if "target" in line:
                yield start, line


def result_at(file: BinaryIO, offset: int, key: str) -> Mapping[str, JSON] | None:
    """The result under `key` in the line that begins at `offset`; None if it is in another."""
    file.seek(offset)
    return dict(keyed(json.loads(file.readline()))).get(key)


def keyed(line: Line) -> list[tuple[str, Mapping[str, JSON] | None]]:
    """Key and result of each template of a line; None where an earlier line has it."""
    templates = line.get("templates")
    return [(one["key"], one["result"]) for one in templates] if isinstance(templates, list) else []


def _lines(file: BinaryIO) -> Iterator[tuple[int, Line, int]]:
    """Begin, value and end of each whole line; none after one that is not whole."""
    file.seek(0)
    start = 0
    for text in file:
        end = start + len(text)
        try:
            line = json.loads(text) if text.endswith(b"\n") else None
        except ValueError:
            line = None
        if not isinstance(line, dict):
            return
        yield start, line, end
        start = end


def _opened(path: Path) -> BinaryIO:
    """The file, new or as it is, for this process alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "r+b" if path.exists() else "w+b")  # noqa: SIM115
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    _lock(file, path)
    return file


def _set_aside(file: BinaryIO, path: Path) -> Path:
    """Give it the first name that is free, and close it: some systems rename no open file."""
    numbered = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(1))
    aside = next(one for one in numbered if not one.exists())
    file.close()
    try:
        os.rename(path, aside)
    except OSError as error:
        raise UsageError(f"{path} cannot be moved aside: {error.strerror}") from error
    return aside


def _lock(file: BinaryIO, path: Path) -> None:
    """One writer at a time, as far as the system can say so."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        with suppress(OSError):
            file.close()
        raise UsageError(
            f"another survey is writing {path}", hint="wait for it, or give another --out"
        ) from error
