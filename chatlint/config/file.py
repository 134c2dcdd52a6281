"""A configuration file: `chatlint.toml`, or `[tool.chatlint]` in `pyproject.toml`.

Read by hand: a library that validates would cost every run more than the whole check of a known template.
What is wrong is said with the file, the line where it can be told, the key and the nearest known one.
`config.schema.json` describes the same for editors; a test compares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from chatlint.config.settings import FailOn, Profile, Settings, nearest
from chatlint.detect.capability import CAPABILITIES, CHAT_TEMPLATE_CAPS
from chatlint.errors import UsageError
from chatlint.lazy import regex
from chatlint.limits import CONFIG_BYTES
from chatlint.records import replace

CONFIG_NAME = "chatlint.toml"
BASELINE_NAME = "chatlint.baseline.json"
SEVERITIES = ("error", "warning", "info")

Table: TypeAlias = Mapping[str, object]


class _File:
    """The tables of a file, and complaints about them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = _text(path)
        self.tables = _parsed(path, self.text)
        self.prefix: tuple[str, ...] = ()
        if path.name == "pyproject.toml":
            self.prefix = ("tool", "chatlint")

    def settings(self) -> Table:
        """The table with the settings."""
        if not self.prefix:
            return self.tables
        section = _tools(self.tables).get("chatlint", {})
        return self.table(self.prefix, section, 'fail-on = "error"')

    def fault(self, keys: Sequence[str], message: str, hint: str = "") -> UsageError:
        """What to raise about a key."""
        line = _line(self.text, (*self.prefix, *keys))
        return UsageError(f"{self.path}{f':{line}' if line else ''}: {message}", hint=hint)

    def known(self, keys: Sequence[str], table: Table, known: Iterable[str]) -> None:
        """Refuse what a table has beside the known keys."""
        known = tuple(known)
        for key in table:
            if key not in known:
                within = f" in [{'.'.join(keys)}]" if keys else ""
                raise self.fault((*keys, key), f"unknown key {key!r}{within}", nearest(key, known))

    def text_of(self, keys: Sequence[str], value: object) -> str:
        if isinstance(value, str):
            return value
        raise self.fault(keys, f"{keys[-1]} must be a string, not {value!r}")

    def texts(self, keys: Sequence[str], value: object, like: str) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise self.fault(keys, f"{keys[-1]} must be a list of strings, like {like}, not {value!r}")

    def table(self, keys: Sequence[str], value: object, like: str) -> Table:
        if isinstance(value, Mapping):
            return value
        raise self.fault(keys, f"{keys[-1]} must be a table, like {like}, not {value!r}")

    def one_of(self, keys: Sequence[str], value: object, known: Iterable[str], what: str) -> str:
        known = tuple(known)
        name = self.text_of(keys, value)
        if name not in known:
            raise self.fault(keys, f"no {what} {name!r}", nearest(name, known))
        return name

    def beside(self, keys: Sequence[str], value: object) -> str:
        """A path that is written relative to the file's folder."""
        return str(self.path.parent / self.text_of(keys, value))


_RULES = '["CT4", "prefix-break"]'


def _select(file: _File, value: object, settings: Settings) -> Settings:
    return replace(settings, select=file.texts(("select",), value, _RULES))


def _ignore(file: _File, value: object, settings: Settings) -> Settings:
    return replace(settings, ignore=file.texts(("ignore",), value, _RULES))


def _host(file: _File, value: object, settings: Settings) -> Settings:
    return replace(settings, host=file.text_of(("host",), value))


def _fail_on(file: _File, value: object, settings: Settings) -> Settings:
    name = file.one_of(("fail-on",), value, FailOn, "severity")
    return replace(settings, fail_on=FailOn(name))


def _profile(file: _File, value: object, settings: Settings) -> Settings:
    return replace(settings, profile=Profile(file.one_of(("profile",), value, Profile, "profile")))


def _rules(file: _File, value: object, settings: Settings) -> Settings:
    severities = {}
    for name, given in file.table(("rules",), value, '[rules.prefix-break] severity = "error"').items():
        keys = ("rules", name)
        table = file.table(keys, given, 'severity = "error"')
        file.known(keys, table, ("severity",))
        if "severity" in table:
            severities[name] = file.one_of((*keys, "severity"), table["severity"], SEVERITIES, "severity")
    return replace(settings, severities=severities)


def _per_target_ignores(file: _File, value: object, settings: Settings) -> Settings:
    key = "per-target-ignores"
    given = file.table((key,), value, f'"org/legacy-*" = {_RULES}')
    ignores = {glob: file.texts((key, glob), rules, _RULES) for glob, rules in given.items()}
    return replace(settings, per_target_ignores=ignores)


def _require(file: _File, value: object, settings: Settings) -> Settings:
    names = file.texts(("require",), value, '["tools", "parallel_tool_calls"]')
    try:
        return replace(settings, require=required(names))
    except UsageError as error:
        raise file.fault(("require",), error.message, error.hint) from None


def _expect(file: _File, value: object, settings: Settings) -> Settings:
    return replace(settings, expect=file.beside(("expect",), value))


def _probes(file: _File, value: object, settings: Settings) -> Settings:
    return replace(settings, probes=file.beside(("probes",), value))


def _baseline(file: _File, value: object, settings: Settings) -> Settings:
    return replace(settings, baseline=file.beside(("baseline",), value))


def _engines(file: _File, value: object, settings: Settings) -> Settings:
    from chatlint.engines.find import known

    names = file.texts(("engines",), value, '["minijinja", "huggingface-js"]')
    try:
        return replace(settings, engines=known(names))
    except UsageError as error:
        raise file.fault(("engines",), error.message, error.hint) from None


_KEYS: Mapping[str, Callable[[_File, object, Settings], Settings]] = {
    "baseline": _baseline,
    "engines": _engines,
    "expect": _expect,
    "fail-on": _fail_on,
    "host": _host,
    "ignore": _ignore,
    "per-target-ignores": _per_target_ignores,
    "probes": _probes,
    "profile": _profile,
    "require": _require,
    "rules": _rules,
    "select": _select,
}
FILE_KEYS = tuple(_KEYS)
"""What a configuration file may set; the rest belongs to one run."""


def find_config(folder: Path) -> Path | None:
    """The configuration that holds in `folder`: the nearest `chatlint.toml`, or `pyproject.toml` with
    `[tool.chatlint]`, in it or above it, not beyond the repository's root."""
    for place in (folder, *folder.parents):
        for path in (place / CONFIG_NAME, place / "pyproject.toml"):
            if path.is_file() and (path.name == CONFIG_NAME or _has_section(path)):
                return path
        if (place / ".git").exists():
            return None
    return None


def read_config(path: Path, settings: Settings) -> Settings:
    """`settings` with what the file at `path` sets. Paths in it are relative to its folder.

    Raises UsageError for an unreadable file, an unknown key (with the nearest known one) or a wrong type.
    """
    file = _File(path)
    table = file.settings()
    file.known((), table, FILE_KEYS)
    for key, value in table.items():
        settings = _KEYS[key](file, value, settings)
    return replace(settings, config=str(path))


def required(names: Iterable[str]) -> tuple[str, ...]:
    """Names of capabilities. Raises UsageError for one that there is not, with the nearest."""
    names = tuple(names)
    known = (*CAPABILITIES, *CHAT_TEMPLATE_CAPS)
    for name in names:
        if name not in known:
            raise UsageError(f"no capability {name!r} to require", hint=nearest(name, known))
    return names


def place_of(config: str, word: str) -> str:
    """Where a configuration file first says a word, as `file:line`; the file alone where that cannot be
    told."""
    try:
        lines = _text(Path(config)).splitlines()
    except UsageError:
        return config
    whole = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    number = next((at for at, line in enumerate(lines, start=1) if whole.search(line)), 0)
    return f"{config}:{number}" if number else config


_HEADER = regex(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
_BARE = regex(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*=""")
_NAME = regex(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*(?:\.|$)""")


_SECTION = regex(r"""tool["']?\s*(?:[]=]|\.\s*["']?chatlint)""")
"""What a pyproject.toml with `[tool.chatlint]` has, however it is written; to read TOML is dear."""
_KEY_PARTS = 100
_LONG_KEY = regex(
    r"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){%d}""" % _KEY_PARTS  # noqa: UP031
)


def _line(text: str, keys: Sequence[str]) -> int:
    """The line of a key, or of its table's header; 0 for keys that are written in another way."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = tuple(name.strip("\"'") for name in _NAME.findall(header.group(1)))
            if table == tuple(keys):
                return number
        elif (written := _BARE.match(line)) and (*table, written.group(1).strip("\"'")) == tuple(keys):
            return number
    return 0


def _text(path: Path) -> str:
    from chatlint.errors import TargetError
    from chatlint.source.folder import read_file

    try:
        return read_file(path, CONFIG_BYTES, regular=False).decode("utf-8-sig")
    except TargetError as error:
        raise UsageError(error.message, hint=error.hint) from error
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}", hint="--config takes the path of a TOML file"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not TOML: it is not UTF-8", hint="save it as UTF-8") from error


def _parsed(path: Path, text: str) -> Table:
    import tomllib

    if _LONG_KEY.search(text):  # reading one takes the square of its parts
        raise UsageError(f"{path}: a key of more than {_KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error


def _has_section(path: Path) -> bool:
    """Whether a pyproject.toml configures chatlint. One that cannot be read is another tool's trouble."""
    try:
        text = _text(path)
    except UsageError:
        return False
    return bool(_SECTION.search(text)) and "chatlint" in _tools(_parsed(path, text))


def _tools(tables: Table) -> Table:
    tools = tables.get("tool", {})
    return tools if isinstance(tools, Mapping) else {}
