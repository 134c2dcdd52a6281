"""What the user named: one string, and the kind of thing it is."""

from __future__ import annotations

import os
import re
from pathlib import Path

from chatlint.errors import TargetError, UsageError, require
from chatlint.lazy import regex
from chatlint.source.package import Target, TargetKind
from chatlint.text import visible

# huggingface_hub.utils.validate_repo_id; then, in either order, a revision and a file or quantization.
_HUB = regex(
    r"(?P<repo>[A-Za-z0-9_][\w.-]*/[\w.-]+|[A-Za-z0-9_][\w.-]*)"
    r"(?:@(?P<first>[^:@\s]+)(?=:))?(?::(?P<file>[^@]+?))?(?:@(?P<revision>[^:@\s]+))?",
    re.ASCII,
)
_ADDRESS = regex(
    r"(?:https?://[^/]+/|hf:(?://)?)(?P<repo>[\w.-]+/[\w.-]+)"
    r"(?:/(?:tree|blob|resolve)/(?P<revision>[^/?#]+)(?:/(?P<file>[^?#]+\.(?:gguf|jinja)))?.*|/?)",
    re.ASCII,
)
"""A model's page, as it is copied from a browser."""
_LOCAL = (".jinja", ".jinja2", ".j2", ".json", ".gguf", ".txt")
_SHOWN = 200
_PATTERN = regex(r"[*?]|\[[^\]]*\]")
"""What a shell leaves as it is where no file fits."""
_PATHLIKE = ("./", "../", "/", "~")


def path_text(value: object, name: str) -> str:
    """A path, or its text, that a caller gave as `name`. Raises UsageError for anything else."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    return require(text, str, name, hint="a str or a pathlib.Path was expected")


def target_text(target: str | os.PathLike[str]) -> str:
    """A target as the command line has it. What is given as a path means a path, whatever its text could
    mean: a Hub model, `-`. Raises UsageError for what is neither text nor path."""
    text = path_text(target, "target")
    if target is text or (_exists(Path(text)) and not _is_word(text)):
        return text
    return os.path.join(os.curdir, text)


def parse_target(text: str, *, revision: str | None = None) -> Target:
    """Read a TARGET. What exists on disk wins over a Hub id of the same spelling.

    Raises UsageError for what can be no target, TargetError for a path that does not exist.
    """
    require(revision or "", str, "revision", hint="a branch, a tag or a commit was expected")
    if not text.strip():
        raise UsageError("a target was expected, got nothing", hint="name a file, a directory or a Hub model")
    if text == "-":
        return _local(TargetKind.STDIN, text, revision)
    if text.startswith("corpus:"):
        return _local(TargetKind.CORPUS, text.removeprefix("corpus:"), revision)
    path = Path(text).expanduser() if text.startswith("~") else Path(text)
    if _exists(path):
        kind = TargetKind.DIRECTORY if path.is_dir() else TargetKind.FILE
        return _local(
            TargetKind.GGUF if path.suffix.lower() == ".gguf" and kind is TargetKind.FILE else kind,
            str(path),
            revision,
        )
    return _hub(text, revision)


def _is_word(text: str) -> bool:
    return text == "-" or text.startswith("corpus:")


def _local(kind: TargetKind, locator: str, revision: str | None) -> Target:
    if revision is not None:
        raise UsageError(
            f"{locator} is not on the Hub and has no revision {revision!r}", hint="leave out --revision"
        )
    return Target(kind, locator)


def _hub(text: str, revision: str | None) -> Target:
    match = _HUB.fullmatch(text)
    if match is None or "/" not in match["repo"] or _looks_local(text, match["repo"]):
        raise _missing(text)
    named = {one for one in (match["first"], match["revision"], revision) if one}
    if len(named) > 1:
        where = f"{text} and --revision {revision} name" if revision else f"{text} names"
        raise UsageError(f"{where} two revisions", hint="give one of them")
    locator = match["repo"] + (f":{match['file']}" if match["file"] else "")
    return Target(TargetKind.HUB, locator, next(iter(named), None))


def _looks_local(text: str, repo: str) -> bool:
    return text.startswith(_PATHLIKE) or repo.endswith(_LOCAL)


def _missing(text: str) -> TargetError:
    near = _of_address(text) or _near(Path(text))
    shown = visible(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
    return TargetError(
        f"there is no file or directory {shown}",
        hint=f"did you mean {near}?"
        if near
        else "no file here fits the pattern"
        if _PATTERN.search(text)
        else "a target is a path, a Hub model (org/name), corpus:NAME, or - for standard input",
    )


def _of_address(text: str) -> str:
    """The target that an address of a model's page or file means; "" for other texts."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return ""
    revision = "" if match["revision"] in (None, "main") else f"@{match['revision']}"
    return visible(match["repo"] + (f":{match['file']}" if match["file"] else "") + revision)


def _near(path: Path) -> str:
    """The sibling whose name is most like the missing one's; "" if none is."""
    try:
        siblings = [entry.name for entry in path.parent.iterdir()][:1000]
    except (OSError, ValueError):
        return ""
    import difflib  # only to explain

    close = difflib.get_close_matches(path.name, siblings, n=1, cutoff=0.7)
    return str(path.parent / close[0]) if close else ""


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long for a path, or a NUL in it
        return False
