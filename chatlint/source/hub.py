"""Targets on the Hub."""

from __future__ import annotations

from chatlint.errors import TargetError
from chatlint.source.directory import Reading
from chatlint.source.package import Target


def read_hub(target: Target, *, offline: bool) -> Reading:
    """What a Hub repository's files say; with `offline`, from the local cache alone. Raises TargetError."""
    raise TargetError(
        f"{target.locator}: reading from the Hub is not built yet",
        hint="download the model's files and name their directory",
    )
