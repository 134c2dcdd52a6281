"""`chatlint corpus list|show`: the templates that come with chatlint, one per published format."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from chatlint.cli import options
from chatlint.cli.plain import PlainCommand, PlainGroup

corpus_commands = typer.Typer(
    cls=PlainGroup, help="The bundled templates: one of our own per published format.", no_args_is_help=True
)


@corpus_commands.command("list", cls=PlainCommand)
def list_corpus(format_: options.Listing = "terminal") -> None:
    """List the names; check one with: chatlint check corpus:NAME"""
    from chatlint.source.bundled import corpus_names

    if options.listing(format_) == "json":
        options.print_json(list(corpus_names()))
    else:
        sys.stdout.write("".join(f"{name}\n" for name in corpus_names()))


@corpus_commands.command("show", cls=PlainCommand)
def show_corpus(name: Annotated[str, typer.Argument(metavar="NAME", help="An entry's name.")]) -> None:
    """Print the template of one entry."""
    from chatlint.source.load import load

    sys.stdout.write(load(f"corpus:{name}").templates[0].text + "\n")
