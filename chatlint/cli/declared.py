"""How commands declare what they take: a function whose parameters are annotated.

    def list_probes(word: Annotated[str, Argument(help="…")] = "", color: options.Color = "auto") -> None: ...

`words.py` reads a command line by this, and `plain.py` has typer read and explain it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, TypeAlias, get_args, get_type_hints

if TYPE_CHECKING:
    from typing import Required, TypedDict, Unpack

    class Shown(TypedDict, total=False):
        """What help and completion show of a parameter, in typer's words."""

        help: Required[str]
        metavar: str
        show_default: bool | str
        autocompletion: Callable[[], list[str]]


Value: TypeAlias = "str | bool | list[str] | None"
Command: TypeAlias = FunctionType


class Argument:
    """A parameter that is told by its place."""

    def __init__(self, **shown: Unpack[Shown]) -> None:
        self.shown = shown


class Option:
    """A parameter that is told by one of its names."""

    def __init__(self, *names: str, **shown: Unpack[Shown]) -> None:
        self.names = names
        self.shown = shown


class Group:
    """Commands below a name."""

    def __init__(self, explained: str, **commands: object) -> None:
        self.explained = explained
        self.commands = {name: one for name, one in commands.items() if isinstance(one, Command)}


class Parameter:
    """One parameter of a command: a flag, a text, or a list of texts."""

    def __init__(self, name: str, kind: object, told: Argument | Option) -> None:
        self.name = name
        self.kind = kind
        self.told = told

    @property
    def is_flag(self) -> bool:
        return self.kind is bool

    @property
    def is_list(self) -> bool:
        return list[str] in (self.kind, *get_args(self.kind))


def parameters(command: Command) -> list[Parameter]:
    """What a command takes, in order."""
    hints = get_type_hints(command, include_extras=True)
    del hints["return"]
    return [Parameter(name, *get_args(hint)) for name, hint in hints.items()]


def defaults(command: Command) -> dict[str, Value]:
    """The values of those parameters that need not be given."""
    code, values = command.__code__, command.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    return dict(zip(names[len(names) - len(values) :], values, strict=True))
