"""The settings that hold here: the configuration's, overruled by the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chatlint import config as configuration
from chatlint.config import Settings
from chatlint.config.contents import with_contents
from chatlint.config.file import BASELINE_NAME, find_config, place_of, read_config, required
from chatlint.config.settings import glob_fits
from chatlint.errors import UsageError
from chatlint.records import replace
from chatlint.text import visible

if TYPE_CHECKING:
    from chatlint.verdict import Report

_ALIKE = 0.8


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
    if settings.select and settings.ignore:
        from chatlint.rules.selection import require_rules

        require_rules(settings.select, settings.ignore)
    return with_contents(settings)


def printed_settings(settings: Settings) -> str:
    """The settings as JSON, as a report states them."""
    return json.dumps(settings.to_dict(), indent=2) + "\n"


def say_misfits(report: Report) -> None:
    """Say which globs of `per-target-ignores` fit no target, where one is so like them that it may be meant:
    others are for targets of other runs."""
    import difflib

    named = [one.target for one in report.targets]
    files = [
        (one.target, template.template.place.file) for one in report.targets for template in one.templates
    ]
    for glob in report.settings.per_target_ignores:
        if any(glob_fits(glob, target) for target in named) or any(glob_fits(glob, *one) for one in files):
            continue
        near = difflib.get_close_matches(glob, named, n=1, cutoff=_ALIKE)
        if near:
            where = report.settings.config or "the settings"
            meant = f"did you mean {visible(near[0])!r}?"
            sys.stderr.write(f"{where}: per-target-ignores {visible(glob)!r} fits no target: {meant}\n")


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
    from chatlint.rules.names import fits_a_rule, rule_names, unknown_rule

    for name in named:
        if not fits_a_rule(name):
            raise unknown_rule(name, place_of(path, name))
    for name in settings.severities:
        if name not in rule_names():
            hint = "severities are given by name: `chatlint rule CODE` tells it"
            raise UsageError(f"{place_of(path, name)}: {name!r} is no rule's name", hint=hint)


def _engines(names: Sequence[str] | None) -> tuple[str, ...]:
    if not names:
        return ()
    from chatlint.engines.find import known

    return known(_split(names))


def _rules(names: Sequence[str] | None) -> tuple[str, ...]:
    """Names of rules, prefixes of their codes, and headings: what fits none is said before any target is
    read."""
    given = _split(names)
    if names and not all(_split([item]) for item in names):
        raise UsageError("a selection of rules is empty", hint="leave the option out, or name a rule")
    if given:
        from chatlint.rules.names import may_select, near_rule

        for name in given:
            if not may_select(name):
                raise UsageError(f"no rule fits {name!r}", hint=near_rule(name))
    return given


def _split(names: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for item in names or () for name in item.split(",") if name.strip())
