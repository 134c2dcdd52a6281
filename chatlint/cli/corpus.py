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
def list_corpus(format_: options.Listing = "terminal", color: options.Color = "auto") -> None:
    """List the entries; check one with: chatlint check corpus:NAME"""
    from chatlint.source.bundled import corpus_names

    entries = [(name, _title(name)) for name in corpus_names()]
    if options.listing(format_) == "json":
        options.print_json([{"name": name, "title": title} for name, title in entries])
    else:
        options.print_table([[(name, "strong"), (title, "")] for name, title in entries], color)


def _title(name: str) -> str:
    """What an entry's `expected.json` calls it."""
    import json

    from chatlint.source.bundled import bundled

    expected = bundled("corpus") / name / "expected.json"
    return str(json.loads(expected.read_text(encoding="utf-8"))["title"]) if expected.is_file() else ""


@corpus_commands.command("show", cls=PlainCommand)
def show_corpus(name: Annotated[str, typer.Argument(metavar="NAME", help="An entry's name.")]) -> None:
    """Print the template of one entry."""
    from chatlint.source.load import load

    sys.stdout.write(load(f"corpus:{name}").templates[0].text + "\n")
