"""The settings that hold here: the configuration's, overruled by the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chatlint import config as configuration
from chatlint.config import Settings
from chatlint.config.contents import with_contents
from chatlint.config.file import BASELINE_NAME, find_config, place_of, read_config, required
from chatlint.errors import UsageError


def settings_of(
    config: str | None = None,
    fail_on: str | None = None,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    host: str | None = None,
    profile: str | None = None,
    baseline: str | None = None,
    engines: Sequence[str] | None = None,
    *,
    require: Sequence[str] = (),
    isolated: bool = False,
    targets: Sequence[str] = (),
) -> Settings:
    """The configuration that holds here, or in the directory that is the only target (but not where that is
    judged for security: it would judge itself), overruled by what was given. None was not given; `ignore` and
    `require` add to what the file has.

    Raises UsageError for what means nothing, with the file and line where a file says it.
    """
    own = () if profile == configuration.Profile.SECURITY else targets
    settings = _configured(config, own, isolated=isolated)
    if not baseline and not settings.baseline and not isolated:
        baseline = _baseline_beside(settings)
    settings = replace(
        settings,
        fail_on=configuration.fail_on(fail_on) if fail_on else settings.fail_on,
        select=_rules(select) or settings.select,
        ignore=settings.ignore + _rules(ignore),
        host=host or settings.host,
        profile=configuration.profile(profile) if profile else settings.profile,
        baseline=baseline or settings.baseline,
        engines=_engines(engines) or settings.engines,
        require=settings.require + required(require),
    )
    return with_contents(settings)


def printed_settings(settings: Settings) -> str:
    """The settings as JSON, as a report states them."""
    return json.dumps(settings.to_dict(), indent=2) + "\n"


def _configured(config: str | None, targets: Sequence[str], *, isolated: bool) -> Settings:
    here = _here()
    path = Path(config) if config else None if isolated else _nearest(targets, here)
    if path is None:
        return Settings()
    path = path.relative_to(here) if path.is_relative_to(here) else path
    settings = read_config(path, Settings())
    _refuse_unknown(settings, str(path))
    return settings


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        hint = "change into one that is there"
        raise UsageError("the working directory is not there any more", hint=hint) from error


def _nearest(targets: Sequence[str], here: Path) -> Path | None:
    """The configuration of a model's directory, where that is all that is judged; else that of this one."""
    if len(targets) == 1 and Path(targets[0]).is_dir():
        own = find_config(Path(targets[0]).absolute())
        if own:
            return own
    return find_config(here)


def _baseline_beside(settings: Settings) -> str | None:
    """A baseline of the usual name beside the configuration, or here."""
    file = Path(settings.config).parent / BASELINE_NAME if settings.config else Path(BASELINE_NAME)
    return str(file) if file.is_file() else None


def _refuse_unknown(settings: Settings, path: str) -> None:
    """Names of rules in a configuration count for some targets, or for some findings: a name that there is
    not would not be noticed by any of them."""
    ignored = (rule for rules in settings.per_target_ignores.values() for rule in rules)
    named = (*settings.select, *settings.ignore, *settings.severities, *ignored)
    if not named:
        return
    from chatlint.rules.names import is_rule, unknown_rule

    for name in named:
        if not is_rule(name):
            raise unknown_rule(name, place_of(path, name))


def _engines(names: Sequence[str] | None) -> tuple[str, ...]:
    if not names:
        return ()
    from chatlint.engines.find import known

    return known(_split(names))


def _rules(names: Sequence[str] | None) -> tuple[str, ...]:
    """Names of rules and prefixes of their codes: what fits none is said before any target is read."""
    given = _split(names)
    if given:
        from chatlint.rules.names import is_rule, rule_names

        for name in given:
            if not is_rule(name):
                hint = configuration.nearest(name, sorted(rule_names()))
                raise UsageError(f"no rule fits {name!r}", hint=hint)
    return given


def _split(names: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for item in names or () for name in item.split(",") if name.strip())
