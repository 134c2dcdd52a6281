"""Options that several commands share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TypeAlias

from chatlint.cli.declared import Argument, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chatlint.conversation import JSON
    from chatlint.report.canvas import Line

Target: TypeAlias = Annotated[
    str,
    Argument(
        metavar="TARGET", help="A .jinja, a model directory, a .gguf, org/name on the Hub, -, or corpus:NAME."
    ),
]
Host: TypeAlias = Annotated[
    str | None, Option("--host", metavar="NAME", help="Who renders.", show_default="transformers-5.24")
]
Revision: TypeAlias = Annotated[
    str | None, Option("--revision", metavar="R", help="Branch, tag or commit of a Hub target.")
]
Offline: TypeAlias = Annotated[bool, Option("--offline", help="Use only what is on this machine.")]
TemplateFile: TypeAlias = Annotated[
    str | None, Option("--template", metavar="FILE", help="Another template, with the target's tokens.")
]
SpecialTokens: TypeAlias = Annotated[
    str | None, Option("--special-tokens", metavar="FILE", help="Special tokens of a bare template.")
]
Untrusted: TypeAlias = Annotated[
    bool, Option("--untrusted", help="Render in a worker process with memory and time limits.")
]
NoCache: TypeAlias = Annotated[bool, Option("--no-cache", help="Neither read nor write the store.")]
Color: TypeAlias = Annotated[
    str, Option("--color", metavar="WHEN", help="Colours: auto, always or never.", show_default=True)
]

Name: TypeAlias = Annotated[
    str | None,
    Option("--name", metavar="NAME", help="Which of several named templates.", show_default="default"),
]
Listing: TypeAlias = Annotated[str, Option("--format", metavar="F", help="What to print: terminal, json.")]


def colour_choice(name: str) -> str:
    """A valid `--color`. Raises UsageError with the nearest one."""
    from chatlint.config import nearest
    from chatlint.errors import UsageError

    if name not in ("auto", "always", "never"):
        raise UsageError(f"--color {name}?", hint=nearest(name, ("auto", "always", "never")))
    return name


def listing(name: str) -> str:
    """A valid `--format` of a list. Raises UsageError with the nearest one."""
    from chatlint.config import nearest
    from chatlint.errors import UsageError

    if name not in ("terminal", "json"):
        raise UsageError(f"no format {name!r}", hint=nearest(name, ("terminal", "json")))
    return name


def print_json(value: JSON) -> None:
    """Write JSON to standard output."""
    import json

    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_table(rows: Sequence[Line], color: str) -> None:
    """Write rows in columns; the last column is wrapped, below the others where it is narrow."""
    from chatlint.report.canvas import canvas_for
    from chatlint.report.table import table_lines

    canvas = canvas_for(sys.stdout, colour_choice(color))
    sys.stdout.write("".join(line + "\n" for line in table_lines(canvas, rows)))
