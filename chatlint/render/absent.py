"""What is not there, and was printed all the same.

Jinja prints an undefined value as nothing, which hides a wrong name. Here it prints nothing as well, and
says so: `printed` has the line and what was missing.
"""

from __future__ import annotations

from jinja2.runtime import Undefined
from jinja2.utils import Namespace

from chatlint.render.trace import computed_here
from chatlint.render.trace_containers import containers
from chatlint.text import Computed, pointer_token

printed: dict[tuple[int, str], None] = {}
"""Places where this render printed an undefined value: the line, and the variable's name, a pointer with
`*` for positions (`/messages/*/nmae`), or `.name` for a member of something else."""


class Absent(Undefined):
    """Jinja's `Undefined`, which notes that it is printed."""

    __slots__ = ()

    def __str__(self) -> str:
        if self._undefined_hint is None and self._undefined_name is not None:
            origin = computed_here().origin(0)
            line = origin.line if isinstance(origin, Computed) else 0
            printed[line, _missing(self._undefined_obj, str(self._undefined_name))] = None
        return ""

    # As if there were one class: the value of an `if` without `else` is Jinja's own.

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Undefined)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, Undefined)

    def __hash__(self) -> int:
        return id(Undefined)


Absent.__name__ = Absent.__qualname__ = "Undefined"
Absent.__module__ = "jinja2.runtime"


def _missing(owner: object, name: str) -> str:
    if type(owner) is dict or type(owner) is list:
        source = containers.get(id(owner))
        if source is not None:
            steps = (*source.pointer.split("/"), pointer_token(name))
            return "/".join("*" if step.isdigit() else step for step in steps)
    elif not isinstance(owner, Namespace) and type(owner) is _NOTHING:
        return name
    return f".{name}"


_NOTHING = type(Undefined()._undefined_obj)
