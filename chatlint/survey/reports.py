"""`reports/`: the JSON report of each target of a survey, in a file of its name.

What an earlier survey left there is told by what it holds: one target, whose name is that of the file. So no
list of files need be kept, and nobody else's file is replaced or removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import count
from pathlib import Path

from chatlint.config import Settings
from chatlint.errors import UsageError
from chatlint.lazy import regex
from chatlint.pipeline import check_target
from chatlint.records import replace
from chatlint.survey.outputs import write_whole
from chatlint.survey.targets import Named
from chatlint.verdict import Report

FOLDER = "reports"

_NO_FILE_NAME = regex(r"[^A-Za-z0-9._-]+")
_LONGEST = 240
"""Bytes of a name: systems take 255, and a number and a suffix come behind it."""
_DIGEST = 12
_BEGIN = b'{\n  "schema": "chatlint.report/'


class Reports:
    """The reports of `targets` in `directory`, which need not be there yet; of none where none are wanted.

    Raises UsageError where a file that would be replaced is not a survey's.
    """

    def __init__(self, directory: Path, targets: Iterable[Named]) -> None:
        self.directory = directory
        self._targets = dict(zip(_files(targets := tuple(targets)), targets, strict=True))
        self._earlier = frozenset(_written(directory))
        for file in self._targets:
            path = directory / file
            if file not in self._earlier and path.exists():
                raise UsageError(
                    f"{path} was not written by a survey, and would be replaced",
                    hint="give another --out, or move it",
                )

    def write(self, settings: Settings) -> None:
        """Judge each target and write what is found. Raises UsageError where that cannot be."""
        if not self._targets:
            return
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{self.directory} cannot be made: {error.strerror}") from error
        for file, named in self._targets.items():
            judged = replace(check_target(named.target, settings), target=named.name)
            report = Report(replace(settings, cache=True), (judged,))
            write_whole(self.directory / file, [json.dumps(report.to_dict(), indent=2) + "\n"])

    def tidy(self) -> int:
        """Remove those of an earlier survey that this one did not write; gives how many there were. Raises
        UsageError where one cannot be removed."""
        old = sorted(self._earlier - self._targets.keys())
        for file in old:
            try:
                (self.directory / file).unlink(missing_ok=True)
            except OSError as error:
                raise UsageError(
                    f"{self.directory / file} is of an earlier survey and cannot be removed: {error.strerror}"
                ) from error
        if old:
            with suppress(OSError):  # something else is in it
                self.directory.rmdir()
        return len(old)


def _files(targets: Iterable[Named]) -> Iterator[str]:
    """A file for each target, no two the same where capitals do not count either."""
    taken: set[str] = set()
    for named in targets:
        name = _name(named.name)
        spelled = (name if number == 1 else f"{name}-{number}" for number in count(1))
        file = next(one for one in spelled if one.casefold() not in taken)
        taken.add(file.casefold())
        yield f"{file}.json"


def _name(target: str) -> str:
    """What is left of a target's name in that of a file."""
    name = _NO_FILE_NAME.sub("_", target.removeprefix("corpus:")).strip("._")
    if name and len(name) <= _LONGEST:
        return name
    digest = sha256(target.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{name[: _LONGEST - _DIGEST - 1]}-{digest}".removeprefix("-")


def _written(directory: Path) -> Iterator[str]:
    """The files of a survey there."""
    try:
        paths = sorted(directory.glob("*.json"))
    except OSError as error:
        raise UsageError(f"{directory} cannot be read: {error.strerror}") from error
    for path in paths:
        target = _target(path)
        if target is not None and _is_of(path.stem, _name(target)):
            yield path.name


def _is_of(stem: str, name: str) -> bool:
    return stem == name or (stem.startswith(f"{name}-") and stem.removeprefix(f"{name}-").isdecimal())


def _target(path: Path) -> str | None:
    """The target of a report; None for a file that is none, or one of several targets."""
    try:
        with open(path, "rb") as file:
            if file.read(len(_BEGIN)) != _BEGIN:
                return None
            report = json.loads(_BEGIN + file.read())
    except (OSError, ValueError, RecursionError):
        return None
    targets = report.get("targets")
    if not isinstance(targets, Sequence) or len(targets) != 1 or not isinstance(targets[0], Mapping):
        return None
    name = targets[0].get("target")
    return name if isinstance(name, str) else None
