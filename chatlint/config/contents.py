"""What stands in the files that settings name."""

from __future__ import annotations

from chatlint.config.settings import Settings
from chatlint.records import replace


def with_contents(settings: Settings) -> Settings:
    """Settings with the report that is expected and the own conversations. Raises UsageError for files that
    are not what they ought to be."""
    if settings.expect:
        from chatlint.config.expected import read_expected

        settings = replace(settings, expected=read_expected(settings.expect))
    if settings.probes:
        from chatlint.probe.own import read_own

        settings = replace(settings, conversations=read_own(settings.probes))
    return settings
