"""The command line as typer has it: for help, complaints, completion, and what `words.py` leaves to it.

Parameters are taken as they are written. Recent typer builds a pydantic validator for every parameter, and
its import takes longer than to check a template; ours are flags, texts and lists of texts: there is nothing
to validate, and the commands say themselves what is wrong with a value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import FunctionType
from typing import Annotated, TypeAlias, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from chatlint import __version__
from chatlint.cli import INTERRUPTED, INTERRUPTION
from chatlint.cli.declared import Argument, Command, Group, Option, parameters

_Parameter: TypeAlias = TyperArgument | TyperOption
Value = TypeVar("Value")


def command_line(commands: Mapping[str, Command | Group], *, listed: bool = False) -> typer.Typer:
    """The command line with these commands. To make one takes longer than to run some of them, so that a run
    makes only the one that it needs, and only the first lines of those that are merely `listed`."""
    app = typer.Typer(
        name="chatlint",
        cls=PlainGroup,
        help="Judge chat templates: what they can express, what goes wrong, how to serve them.",
        epilog="TARGET is a .jinja file, a model directory, one of its JSON files, a .gguf, "
        "a model on the Hub (org/name[@revision][:quantization]), '-', or corpus:NAME.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_options)
    _add(app, commands, _first_lines if listed else _for_typer)
    return app


def _add(
    app: typer.Typer, commands: Mapping[str, Command | Group], spelled: Callable[[Command], Command]
) -> None:
    for name, found in commands.items():
        if isinstance(found, Group):
            group = typer.Typer(cls=PlainGroup, help=found.explained, no_args_is_help=True)
            _add(group, found.commands, spelled)
            app.add_typer(group, name=name)
        else:
            app.command(name, cls=PlainCommand)(spelled(found))


def _first_lines(command: Command) -> Command:
    """A function that explains itself in the same words, and takes nothing."""
    copy = FunctionType(_nothing.__code__, {}, command.__name__)
    copy.__doc__ = command.__doc__
    return copy


def _nothing() -> None:
    pass


def _for_typer(command: Command) -> Command:
    """The same function with typer's annotations."""
    copy = FunctionType(command.__code__, command.__globals__, command.__name__, command.__defaults__)
    copy.__doc__ = command.__doc__
    copy.__annotations__ = {one.name: Annotated[one.kind, _told(one.told)] for one in parameters(command)}
    return copy


def _told(told: Argument | Option) -> object:
    return (
        typer.Option(*told.names, **told.shown) if isinstance(told, Option) else typer.Argument(**told.shown)
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"chatlint {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


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
        if isinstance(parameter, _Parameter):
            setattr(parameter, "process_value", partial(_as_written, parameter))  # noqa: B010
        if isinstance(parameter, TyperArgument):
            setattr(parameter, "get_usage_pieces", partial(_in_usage, parameter))  # noqa: B010
            setattr(parameter, "display_type_rich", _untyped)  # noqa: B010


def _in_usage(argument: TyperArgument, ctx: typer.Context) -> list[str]:
    """As command lines are written everywhere: recent typer has braces around what must be given."""
    name = f"{argument.metavar or argument.name}{'...' * (argument.nargs != 1)}"
    return [name if argument.required else f"[{name}]"]


def _untyped(ctx: typer.Context) -> None:
    """Arguments are texts, all of them: their names say more."""


def _as_written(parameter: _Parameter, ctx: typer.Context, value: Value | None) -> Value | None:
    if parameter.required and not value:
        named = parameter.metavar or parameter.name
        ctx.fail(
            f"{f'{parameter.opts[0]} {named}' if isinstance(parameter, TyperOption) else named} is missing"
        )
    return parameter.callback(ctx, parameter, value) if parameter.callback else value
