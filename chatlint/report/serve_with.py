"""The block "serve with": what each engine is told, what that rests on, and what goes wrong all the same."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.export.serving import EngineServing, Serving
from chatlint.report.canvas import Piece
from chatlint.report.finding import words
from chatlint.text import listed

_ENGINE = "\0"
"""Stands for an engine and its version where several are to be named in one sentence."""


def serving_rows(serving: Serving) -> Iterator[tuple[str, list[Piece]]]:
    """(engine, pieces): its flags. Engines that are told nothing, for the same reason, are in one row."""
    told: dict[tuple[str, str], list[str]] = {}
    for engine in serving.engines.values():
        if engine.flags:
            told[engine.name, " ".join(engine.flags)] = [engine.name]
        else:
            told.setdefault(("", engine.basis if engine.fits else "no flags"), []).append(engine.name)
    for (flagged, said), names in told.items():
        yield ", ".join(names), words(said, "" if flagged else "faint")


def basis_rows(serving: Serving, *, verbose: bool = False) -> Iterator[list[Piece]]:
    """What to do where no parser fits, that of several engines once; `verbose`: what all flags rest on."""
    said: dict[tuple[str, str], list[str]] = {}
    for engine in serving.engines.values():
        if not engine.fits or (verbose and engine.flags):
            last = "and" if engine.fits else "or"
            said.setdefault((_unnamed(engine), last), []).append(f"{engine.name} {engine.version}")
    for (basis, last), names in said.items():
        yield [("·", "faint"), *words(_named(basis, names, last), "faint")]
    if serving.why_not:
        yield [("·", "faint"), *words(f"transformers: {serving.why_not}", "faint")]


def caveat_rows(serving: Serving) -> Iterator[list[Piece]]:
    """What goes wrong all the same, that of several engines once."""
    said: dict[str, list[str]] = {}
    for engine in serving.engines.values():
        for caveat in engine.caveats:
            said.setdefault(caveat, []).append(engine.name)
    for caveat, names in said.items():
        yield [("!", "part"), *words(f"{', '.join(names)}: {caveat}", "faint")]


def _unnamed(engine: EngineServing) -> str:
    return engine.basis.replace(f"{engine.name} {engine.version}", _ENGINE)


def _named(basis: str, engines: list[str], last: str) -> str:
    if _ENGINE in basis:
        return basis.replace(_ENGINE, listed(engines, last))
    return f"{listed((name.rpartition(' ')[0] for name in engines), last)}: {basis}"
