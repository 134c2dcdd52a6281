"""The folder of a survey: what of it a survey wrote, so that it replaces nobody else's file."""

from __future__ import annotations

from pathlib import Path

from chatlint.errors import UsageError

FILE = "results.jsonl"
SCHEMA = "chatlint.survey/1"
METRICS = "chatlint.survey.metrics/1"
SIGN = "Counts are of different templates, by content."
"""Stands near the beginning of every page of a survey."""

_HEAD_BYTES = 65_536
_BEGIN = b'{"schema":"chatlint.survey/'
_MARKS = {
    "metrics.json": b'"schema": "chatlint.survey.metrics/',
    "survey.md": SIGN.encode(),
    "survey.html": SIGN.encode(),
}
"""What the first bytes of each file hold that comes beside the results."""


def require_own(directory: Path) -> None:
    """Raises UsageError where a file that a survey would write there is somebody else's."""
    results = directory / FILE
    head = _head(results)
    if not _BEGIN.startswith(head[: len(_BEGIN)]):  # a kill may have left less than that, or nothing
        raise _refused(results)
    if head:
        return  # then what lies beside it is of the same survey
    for name, mark in _MARKS.items():
        head = _head(directory / name)
        if head and mark not in head:
            raise _refused(directory / name)


def _head(path: Path) -> bytes:
    """The beginning of a file; nothing where there is none."""
    try:
        if path.exists() and not path.is_file():
            raise _refused(path)
        with open(path, "rb") as file:
            return file.read(_HEAD_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint="give another --out") from error


def _refused(path: Path) -> UsageError:
    return UsageError(
        f"{path} was not written by a survey, and would be replaced", hint="give another --out, or move it"
    )
