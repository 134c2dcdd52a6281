"""`chatlint schema report`: the JSON Schema of what chatlint writes."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

SCHEMAS = {"report": "chatlint.report", "vector": "chatlint.export"}
"""Name and room of each schema."""


Name = Annotated[str, typer.Argument(metavar="NAME", help="Which one: report, vector.")]


def print_schema(name: Name) -> None:
    """Print the JSON Schema (draft 2020-12) of chatlint's own files."""
    from importlib.resources import files

    from chatlint.config import nearest
    from chatlint.errors import UsageError

    if name not in SCHEMAS:
        raise UsageError(f"no schema {name!r}", hint=nearest(name, SCHEMAS))
    sys.stdout.write(files(SCHEMAS[name]).joinpath(f"{name}.schema.json").read_text(encoding="utf-8"))
