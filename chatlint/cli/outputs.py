"""`--output FORMAT=FILE`: where reports are written, and where not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chatlint.verdict import Report


def outputs_of(format_: str, outputs: Iterable[str]) -> list[tuple[str, str]]:
    """(format, file) of everything to write; file "" is standard output. Raises UsageError for a format that
    there is not, and a file that is none or is named twice."""
    from chatlint.config import nearest
    from chatlint.errors import UsageError
    from chatlint.report import REPORTERS

    pairs = [(format_, "")]
    for item in outputs:
        name, equals, file = item.partition("=")
        if not equals or not file:
            raise UsageError(f"--output {item} names no file", hint="like --output json=report.json")
        if file == "-":
            raise UsageError(f"--output {item} names no file", hint=f"--format {name} prints it")
        if any(file == other for _, other in pairs) and not _is_device(file):
            raise UsageError(f"--output names {file} twice", hint="one would overwrite the other")
        pairs.append((name, file))
    for name, _ in pairs:
        if name not in REPORTERS:
            raise UsageError(f"no format {name!r}", hint=nearest(name, REPORTERS))
    return pairs


def begin_outputs(pairs: Sequence[tuple[str, str]], read: Iterable[str]) -> None:
    """Raise UsageError for a file that cannot be written, rather now than after a long run, or that is one of
    those that are `read`. What stands in a file stays until there is a report."""
    from chatlint.errors import UsageError

    files = [file for _, file in pairs if file]
    for given in read if files else ():
        for file in files:
            if _is_same(file, given):
                raise UsageError(f"--output would overwrite {file}, which is read", hint="name another file")
    for file in files:
        write_file(file, "", mode="a")


def write_file(file: str, text: str, mode: str = "w") -> None:
    """Raises UsageError where that cannot be."""
    from chatlint.errors import UsageError

    try:
        with open(file, mode, encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def say_faults(report: Report, *, unloaded: bool) -> None:
    """On standard error, what makes the exit status 2: few formats have a place for it. With `unloaded`, also
    why a target could not be loaded."""
    from chatlint.text import visible
    from chatlint.verdict import INTERNAL, OWN_STAGES

    for target in report.targets:
        lost = target.failure
        said = [lost.message] if lost and (unloaded or lost.stage == INTERNAL) else []
        for template in target.templates:
            own = [one for one in template.failures if one.stage in OWN_STAGES]
            said += [" ".join(filter(None, (one.stage, one.subject))) + f": {one.message}" for one in own]
        for line in said:
            sys.stderr.write(f"{visible(f'{target.target}: failed: {line}')}\n")


def _is_same(file: str, other: str) -> bool:
    try:
        return os.path.samefile(file, other)
    except (OSError, ValueError):  # one is not there, or is no file at all
        return False


def _is_device(file: str) -> bool:
    """Something that is not overwritten, like `/dev/null`."""
    return os.path.exists(file) and not os.path.isfile(file)
