"""`--baseline` and `--update-baseline`: findings that were there before do not count."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from chatlint.records import replace

if TYPE_CHECKING:
    from chatlint.config import Settings
    from chatlint.verdict import Report


def held_against_baseline(report: Report, *, update: bool) -> Report:
    """The report without what the baseline accepts; `update` accepts all that is found. Raises UsageError for
    a baseline that cannot be read or written."""
    settings = report.settings
    if not settings.baseline and not update:
        return report
    from chatlint.gate import against_baseline, update_baseline

    shown = settings.baseline or _default(settings)
    file = Path(shown).absolute()
    if update:
        now, gone = update_baseline(report, file)
        went = f", {gone} that fit nothing any more removed" if gone else ""
        sys.stderr.write(f"{shown}: {now} finding{'s' * (now != 1)} accepted{went}\n")
        report = replace(report, settings=replace(settings, baseline=shown))
    return against_baseline(report, file, shown)


def _default(settings: Settings) -> str:
    from chatlint.config.file import BASELINE_NAME

    return str(Path(settings.config).parent / BASELINE_NAME) if settings.config else BASELINE_NAME
