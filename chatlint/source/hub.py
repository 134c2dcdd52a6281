"""Targets on the Hub."""

from __future__ import annotations

from chatlint.errors import TargetError
from chatlint.source.package import Package, Target


def load_hub(target: Target, *, offline: bool, host: str) -> Package:
    """The package of a Hub repository. Raises TargetError."""
    raise TargetError(
        f"{target.locator}: reading from the Hub is not built yet",
        hint="download the model's files and name their directory",
    )
