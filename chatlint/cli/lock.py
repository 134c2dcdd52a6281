"""`chatlint lock`: hold models to what they do now."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import check, options
from chatlint.cli.declared import Argument, Option
from chatlint.cli.streams import print_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from chatlint.config import Settings
    from chatlint.diff.lock import Locked, LockResult

Targets = Annotated[
    list[str] | None,
    Argument(metavar="TARGET", help="Targets; with --check those in the lock, if none."),
]
Check = Annotated[bool, Option("--check", help="Compare with the lock instead of writing it.")]
File = Annotated[str, Option("--file", metavar="FILE", help="The lock.", show_default=True)]


def lock_targets(
    targets: Targets = None,
    check_: Check = False,
    file: File = "chatlint.lock",
    host: options.Host = None,
    offline: options.Offline = False,
    untrusted: options.Untrusted = False,
    no_cache: options.NoCache = False,
    config: check.Config = None,
    format_: options.Listing = "terminal",
    color: options.Color = "auto",
) -> None:
    """Write chatlint.lock: hashes of templates and of what they render; --check holds them to it.

    Exit status: 0 every template does what it did, 1 one does not, 2 usage or internal error, 3 a target
    could not be loaded.
    """
    from pathlib import Path

    from chatlint.cli.configured import settings_of
    from chatlint.diff.lock import write_lock
    from chatlint.errors import UsageError
    from chatlint.records import replace

    options.listing(format_)
    settings = settings_of(config, host=host)
    settings = replace(settings, offline=offline, untrusted=untrusted, cache=not no_cache)
    path = Path(file)
    if check_:
        sys.exit(_checked(path, targets or [], settings, format_, color))
    if not targets:
        raise UsageError("there is nothing to lock", hint="name one or more targets")
    known = _known(path) if path.exists() else {}
    locked = {target: _locked(target, settings) for target in dict.fromkeys(targets)}
    write_lock(path, {**known, **locked})
    count = sum(map(len, locked.values()))
    print_whole(f"{file}: {count} template{'s' if count > 1 else ''} locked\n")


def _known(path: Path) -> Mapping[str, Mapping[str, Locked]]:
    from chatlint.diff.lock import read_lock

    return read_lock(path)


def _locked(target: str, settings: Settings) -> Mapping[str, Locked]:
    from chatlint.cli.progress import Progress
    from chatlint.diff.lock import lock_target

    with Progress(1) as progress:
        return lock_target(target, settings, progress.say)


def _checked(path: Path, targets: list[str], settings: Settings, format_: str, color: str) -> int:
    from chatlint.config import nearest
    from chatlint.diff.lock import against_lock
    from chatlint.errors import UsageError

    lock = _known(path)
    for target in targets:
        if target not in lock:
            raise UsageError(f"{target} is not in {path}", hint=nearest(target, lock))
    results: list[LockResult] = []
    for target in targets or lock:
        results += against_lock(target, lock[target], _locked(target, settings))
    _show(results, format_, color)
    return int(not all(result.holds for result in results))


def _show(results: list[LockResult], format_: str, color: str) -> None:
    if format_ == "json":
        options.print_json(
            [{"target": one.target, "template": one.template, "state": one.state} for one in results]
        )
        return
    rows = [
        [
            (one.target, "strong"),
            (one.template, ""),
            (f"{one.state}{_HINTS.get(one.state, '')}", "good" if one.holds else "bad"),
        ]
        for one in results
    ]
    options.print_table(rows, color)


_HINTS = {
    "cosmetic": ": another text that renders the same",
    "changed": ": it renders something else (chatlint diff shows what)",
    "outdated": ": its text changed, and the lock was made with other cases; lock it again",
    "new": ": not in the lock",
    "gone": ": only in the lock",
}
