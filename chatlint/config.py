"""What a check depends on beside its targets: one `Settings`, from `chatlint.toml` and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from chatlint.errors import UsageError
from chatlint.records import dataclass
from chatlint.render.rendered import DEFAULT_HOST

CONFIG_NAME = "chatlint.toml"


class FailOn(StrEnum):
    """The least severity that makes a check fail (exit 1); `never` silences only that."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NEVER = "never"


class Profile(StrEnum):
    """What a template is judged for. The rules are the same in every profile; some of their findings weigh
    more or less."""

    SERVING = "serving"
    """A server that talks to the model."""
    TRAINING = "training"
    """Prompts that a model is trained on: stable prefixes, masks, padding."""
    SECURITY = "security"
    """Templates and input of strangers."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to check. `select` and `ignore` hold names of rules or code prefixes (`CT4`); none selected is all.

    `template` is the path of another template to judge with the target's tokens, `special_tokens` the path of
    a JSON file with the tokens of a bare template, `base` a target of which this one ought to be a copy.
    `untrusted` renders local files in a worker process, too. `profile` says what for.
    """

    host: str = DEFAULT_HOST
    fail_on: FailOn = FailOn.ERROR
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    revision: str | None = None
    offline: bool = False
    template: str | None = None
    special_tokens: str | None = None
    base: str | None = None
    untrusted: bool = False
    cache: bool = True
    profile: Profile = Profile.SERVING

    def to_dict(self) -> dict[str, str | bool | list[str] | None]:
        """As the report states them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


FILE_KEYS = ("fail-on", "host", "ignore", "profile", "select")
"""What a configuration file may set; the rest belongs to one run."""

_Table: TypeAlias = Mapping[str, object]


def find_config(folder: Path) -> Path | None:
    """The configuration that holds in `folder`: the nearest `chatlint.toml`, or `pyproject.toml` with
    `[tool.chatlint]`, in it or above it, not beyond the repository's root."""
    for place in (folder, *folder.parents):
        for path in (place / CONFIG_NAME, place / "pyproject.toml"):
            if path.is_file() and (path.name == CONFIG_NAME or "chatlint" in _tools(_parsed(path))):
                return path
        if (place / ".git").exists():
            return None
    return None


def read_config(path: Path, settings: Settings) -> Settings:
    """`settings` with what the file at `path` sets.

    Raises UsageError for an unreadable file, an unknown key (with the nearest known one) or a wrong type.
    """
    table = _parsed(path)
    if path.name == "pyproject.toml":
        section = _tools(table).get("chatlint", {})
        table = section if isinstance(section, Mapping) else {}
    for key in table:
        if key not in FILE_KEYS:
            raise UsageError(f"{path}: unknown key {key!r}", hint=nearest(key, FILE_KEYS))
    if "select" in table:
        settings = replace(settings, select=_strings(path, "select", table["select"]))
    if "ignore" in table:
        settings = replace(settings, ignore=_strings(path, "ignore", table["ignore"]))
    if "host" in table:
        settings = replace(settings, host=_string(path, "host", table["host"]))
    if "fail-on" in table:
        settings = replace(settings, fail_on=fail_on(_string(path, "fail-on", table["fail-on"])))
    if "profile" in table:
        settings = replace(settings, profile=profile(_string(path, "profile", table["profile"])))
    return settings


def fail_on(name: str) -> FailOn:
    """The threshold of that name. Raises UsageError with the names there are."""
    try:
        return FailOn(name)
    except ValueError:
        raise UsageError(f"no severity {name!r} to fail on", hint=nearest(name, tuple(FailOn))) from None


def profile(name: str) -> Profile:
    """The profile of that name. Raises UsageError with the names there are."""
    try:
        return Profile(name)
    except ValueError:
        raise UsageError(f"no profile {name!r}", hint=nearest(name, tuple(Profile))) from None


def nearest(name: str, known: Iterable[str]) -> str:
    """What to say to somebody who wrote `name` and may have meant one of `known`."""
    import difflib

    known = [str(one) for one in known]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"


def _parsed(path: Path) -> _Table:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}", hint="--config takes the path of a TOML file"
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error


def _tools(table: _Table) -> _Table:
    tools = table.get("tool", {})
    return tools if isinstance(tools, Mapping) else {}


def _string(path: Path, key: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise UsageError(f"{path}: {key} must be a string, not {value!r}")


def _strings(path: Path, key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise UsageError(f'{path}: {key} must be a list of strings, like ["CT4", "prefix-break"], not {value!r}')
