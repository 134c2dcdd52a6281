"""What `--help` says of every command, pinned: the words, not typer's layout of them."""

from __future__ import annotations

import itertools

import typer.main

from chatlint.cli.app import COMMANDS, found
from chatlint.cli.plain import command_line


def described(command, name="chatlint"):
    yield f"## {name}\n{(command.help or '').strip()}"
    for parameter in command.params:
        if "completion" not in parameter.name:  # typer's own
            yield f"{' '.join([*parameter.opts, parameter.metavar or '']).strip()}\n    {parameter.help or ''}"
    for child, below in getattr(command, "commands", {}).items():
        yield from described(below, f"{name} {child}")


def everything():
    return "\n".join(
        described(typer.main.get_command(command_line({name: found(name) for name in COMMANDS})))
    )


def test_the_help_of_every_command(snapshot):
    assert everything() == snapshot


def test_every_option_is_explained():
    entries = everything().split("\n")
    assert [entry for entry, text in itertools.pairwise(entries) if text == "    "] == []
