"""`chatlint probes`: what a template is asked."""

from __future__ import annotations

from typing import Annotated

from chatlint.cli import options
from chatlint.cli.declared import Argument

Word = Annotated[str, Argument(metavar="WORD", help="Only probes whose id or title holds this word.")]


def list_probes(
    word: Word = "", format_: options.Listing = "terminal", color: options.Color = "auto"
) -> None:
    """List the probes: each asks one question. Show one with: chatlint render TARGET --probe ID"""
    from chatlint.errors import UsageError
    from chatlint.probe.catalogue import catalogue

    known = catalogue()
    probes = [probe for probe in known if word.lower() in f"{probe.id} {probe.title}".lower()]
    if not probes:
        raise UsageError(f"no probe's id or title holds {word!r}", hint=known.near(word))
    if options.listing(format_) == "json":
        options.print_json(
            [
                {"id": probe.id, "title": probe.title, "why": probe.why, "vary": list(probe.vary)}
                for probe in probes
            ]
        )
        return
    options.print_table([[(probe.id, "strong"), (probe.title, "")] for probe in probes], color)
