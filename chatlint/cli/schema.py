"""`chatlint schema report`: the JSON Schema of what chatlint writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from chatlint.cli.declared import Argument

SCHEMAS = {
    "report": "report",
    "config": "config",
    "probe": "probes",
    "vector": "export",
}
"""Name and room of each schema; that of probes lies among them."""


Name = Annotated[str, Argument(metavar="NAME", help="Which one: report, config, probe, vector.")]


def print_schema(name: Name) -> None:
    """Print the JSON Schema (draft 2020-12) of what chatlint writes, and of what it reads."""
    from chatlint.config import nearest
    from chatlint.errors import UsageError
    from chatlint.source.bundled import bundled

    if name not in SCHEMAS:
        raise UsageError(f"no schema {name!r}", hint=nearest(name, SCHEMAS))
    file = f"{name}.schema.json"
    place = bundled("probes") if name == "probe" else Path(__file__).parents[1] / SCHEMAS[name]
    sys.stdout.write((place / file).read_text(encoding="utf-8"))
