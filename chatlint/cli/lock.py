"""`chatlint lock`: hold models to what they do now."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import check, options
from chatlint.cli.app import EXIT_FAULT, EXIT_FINDINGS, EXIT_TARGET
from chatlint.cli.declared import Argument, Option
from chatlint.cli.streams import print_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from chatlint.config import Settings
    from chatlint.conversation import JSON
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

    Exit status: 0 every template does what it did, 1 one does not, has other special tokens or stops, or
    nobody knows (it changed, and not every case could be rendered then and now), 2 usage or internal error,
    or a lock that holds nothing, 3 a target could not be loaded. Over several targets 2 comes before 3 before
    1; all are checked.
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
    _say_unrendered(locked)


def _known(path: Path) -> Mapping[str, Mapping[str, Locked]]:
    from chatlint.diff.lock import read_lock

    return read_lock(path)


def _locked(target: str, settings: Settings) -> Mapping[str, Locked]:
    from chatlint.cli.progress import Progress
    from chatlint.diff.lock import lock_target

    with Progress(1) as progress:
        return lock_target(target, settings, progress.say)


def _say_unrendered(locked: Mapping[str, Mapping[str, Locked]]) -> None:
    """What the lock does not hold a template to."""
    from chatlint.text import visible

    for target, templates in locked.items():
        for name, one in templates.items():
            if one.unrendered:
                part = f"{one.unrendered} of {len(one.marks)} cases could not be rendered, and are not held"
                sys.stderr.write(f"note: {visible(f'{target} ({name})')}: {part}\n")


def _checked(path: Path, targets: list[str], settings: Settings, format_: str, color: str) -> int:
    from chatlint.config import nearest
    from chatlint.diff.lock import LockResult, LockState, against_lock
    from chatlint.errors import InternalError, TargetError, UsageError

    lock = _known(path)
    for target in targets:
        if target not in lock:
            raise UsageError(f"{target} is not in {path}", hint=nearest(target, lock))
    if not lock:
        raise UsageError(f"{path} holds no target", hint="`chatlint lock TARGET…` puts one into it")
    results: list[LockResult] = []
    statuses = {0}
    for target in targets or lock:
        try:
            found = list(against_lock(target, lock[target], _locked(target, settings)))
            statuses.add(int(not all(result.holds for result in found)))
        except (TargetError, InternalError) as error:
            found = [LockResult(target, "", LockState.FAILED, message=error.message)]
            statuses.add(EXIT_TARGET if isinstance(error, TargetError) else EXIT_FAULT)
        results += found
    _show(results, format_, color)
    return next(status for status in (EXIT_FAULT, EXIT_TARGET, EXIT_FINDINGS, 0) if status in statuses)


def _show(results: list[LockResult], format_: str, color: str) -> None:
    if format_ == "json":
        options.print_json([_facts(one) for one in results])
        return
    rows = [
        [
            (one.target, "strong"),
            (one.template, ""),
            (f"{one.state}{_words(one)}", "good" if one.holds else "bad"),
        ]
        for one in results
    ]
    options.print_table(rows, color)


def _facts(result: LockResult) -> dict[str, JSON]:
    return {
        "target": result.target,
        "template": result.template,
        "state": result.state,
        "differs": list(result.differs),
        "unrendered": result.unrendered,
        "message": result.message,
    }


def _words(result: LockResult) -> str:
    """What to say behind a state."""
    unrendered = f"{result.unrendered} case{'s' if result.unrendered != 1 else ''} could not be rendered"
    match result.state:
        case "failed":
            return f": {result.message}"
        case "tokens":
            return f": {_tokens(result)}"
        case "unknown":
            return f": another text, and {unrendered}; nobody knows whether it does the same"
        case "outdated" if result.message:
            text = "its text changed, and it was" if "text" in result.differs else "the same text,"
            return f": {text} {result.message}; lock it again, or name the host"
    return _HINTS.get(result.state, "")


def _tokens(result: LockResult) -> str:
    """Which of them changed, and what is known beside that."""
    names = {"special tokens": "its special tokens", "stops": "the stops that its files declare"}
    said = " and ".join(words for name, words in names.items() if name in result.differs) + " changed"
    if "text" not in result.differs:
        return said
    if result.unrendered or "cases" in result.differs:
        return f"{said}, and so did its text; nobody knows whether it renders the same"
    return f"{said}; its text did, too, and renders the same"


_HINTS = {
    "cosmetic": ": another text that renders the same",
    "changed": ": it renders something else (chatlint diff shows what)",
    "outdated": ": its text changed, and the lock was made with other cases; lock it again",
    "new": ": not in the lock",
    "gone": ": only in the lock",
}
