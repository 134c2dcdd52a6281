"""Whose fault an error is: the type says it.

    ChatlintError
    ├── TemplateError   the template's author: it does not compile, or breaks while rendering
    ├── TargetError     the target: missing, unreadable, the network (exit 3)
    │   └── NoTemplateError   it was read, and holds no template
    ├── UsageError      the command line, a configuration or an input file of the user (exit 2)
    └── InternalError   chatlint itself (exit 2)

Every message says what was expected and, in `hint`, what to do about it.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


class ChatlintError(Exception):
    """Base of everything chatlint raises on purpose.

    `message` is one line for a person; `hint` says what to do ("" if nothing can be done).
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class TemplateError(ChatlintError):
    """The template is at fault. `line` and `column` are one-based places in it, 0 when unknown."""

    def __init__(self, message: str, *, hint: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.line = line
        self.column = column


class TargetError(ChatlintError):
    """The target could not be loaded."""


class NoTemplateError(TargetError):
    """The target was read, and holds no template."""


class UsageError(ChatlintError):
    """The command line, a configuration or an input file is at fault."""


class InternalError(ChatlintError):
    """chatlint is at fault; please report it."""


def obey_interrupts(error: BaseException) -> None:
    """For who catches every Exception. Raises KeyboardInterrupt if the error comes of one: where classes are
    made, Python 3.11 turns an interrupt into a RuntimeError."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    if cause is not None:
        raise KeyboardInterrupt from None


def require(value: object, kind: type[T], name: str, *, hint: str = "") -> T:
    """`value`, if it is what a caller's argument `name` must be; else UsageError."""
    if isinstance(value, kind):
        return value
    found = "None" if value is None else type(value).__name__
    raise UsageError(f"{name}: expected {kind.__name__}, found {found}", hint=hint)
