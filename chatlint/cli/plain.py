"""Commands whose parameters are taken as they are written.

Recent typer builds a pydantic validator for every parameter, and its import takes longer than to check
a template. Ours are flags, texts and lists of texts: there is nothing to validate, and the commands say
themselves what is wrong with a value.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from typing import TypeAlias, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from chatlint.cli import INTERRUPTED, INTERRUPTION

Parameter: TypeAlias = TyperArgument | TyperOption
Value = TypeVar("Value")


class PlainCommand(TyperCommand):
    """A command that does not convert its parameters."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line into `ctx.params`."""
        _take_as_written(self.get_params(ctx))
        return super().parse_args(ctx, args)


class PlainGroup(TyperGroup):
    """A group of commands that does not convert its parameters."""

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Run the command; where it is interrupted, say so."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.stderr.write(f"{INTERRUPTION}\n")
            raise typer.Exit(INTERRUPTED) from None

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the command line into `ctx.params`."""
        _take_as_written(self.get_params(ctx))
        return super().parse_args(ctx, args)


def _take_as_written(parameters: Iterable[object]) -> None:
    for parameter in parameters:
        if isinstance(parameter, Parameter):
            setattr(parameter, "process_value", partial(_as_written, parameter))  # noqa: B010


def _as_written(parameter: Parameter, ctx: typer.Context, value: Value | None) -> Value | None:
    if parameter.required and not value:
        ctx.fail(f"{parameter.metavar or parameter.name} is missing")
    return parameter.callback(ctx, parameter, value) if parameter.callback else value
