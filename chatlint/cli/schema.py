"""`chatlint schema report`: the JSON Schema of what chatlint writes."""

from __future__ import annotations

import sys
from typing import Annotated

from chatlint.cli.declared import Argument

SCHEMAS = {
    "report": "chatlint.report",
    "config": "chatlint.config",
    "probe": "probes",
    "vector": "chatlint.export",
}
"""Name and room of each schema; that of probes lies among them."""


Name = Annotated[str, Argument(metavar="NAME", help="Which one: report, config, probe, vector.")]


def print_schema(name: Name) -> None:
    """Print the JSON Schema (draft 2020-12) of what chatlint writes, and of what it reads."""
    from importlib.resources import files

    from chatlint.config import nearest
    from chatlint.errors import UsageError
    from chatlint.source.bundled import bundled

    if name not in SCHEMAS:
        raise UsageError(f"no schema {name!r}", hint=nearest(name, SCHEMAS))
    file = f"{name}.schema.json"
    place = bundled("probes") / file if name == "probe" else files(SCHEMAS[name]).joinpath(file)
    sys.stdout.write(place.read_text(encoding="utf-8"))
