"""Regular expressions that are compiled when they are first used.

Modules name 160 of them. To compile all takes 25 ms, a third of what some commands take, and no command uses
half of them.
"""

from __future__ import annotations

import re
from typing import cast


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` makes, for the names of a module. A wrong pattern is told when it is first used."""
    return cast("re.Pattern[str]", _Waiting(pattern, flags))


class _Waiting:
    """Becomes its expression, method by method, when it is asked for one."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._said = (pattern, flags)

    def __getattr__(self, name: str) -> object:
        made: object = getattr(re.compile(*self._said), name)
        self.__dict__[name] = made
        return made
