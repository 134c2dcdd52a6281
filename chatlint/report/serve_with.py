"""The block "serve with": what each engine is told, and what goes wrong all the same."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.export.serving import EngineServing, Serving
from chatlint.report.canvas import Piece
from chatlint.report.finding import words


def serving_rows(serving: Serving) -> Iterator[tuple[str, list[Piece]]]:
    """(engine, pieces): its flags, or what to do instead."""
    for engine in serving.engines.values():
        yield engine.name, _told(engine)
    if serving.why_not:
        yield "transformers", words(serving.why_not, "faint")


def caveat_rows(serving: Serving) -> Iterator[list[Piece]]:
    """What goes wrong all the same, that of several engines once."""
    said: dict[str, list[str]] = {}
    for engine in serving.engines.values():
        for caveat in engine.caveats:
            said.setdefault(caveat, []).append(engine.name)
    for caveat, names in said.items():
        yield [("!", "part"), *words(f"{', '.join(names)}: {caveat}", "faint")]


def _told(engine: EngineServing) -> list[Piece]:
    if not engine.flags:
        return words(engine.basis, "faint")
    told = words(" ".join(engine.flags))
    return (
        told
        if engine.tool_call_parser or engine.reasoning_parser
        else [*told, *words(f"({engine.basis})", "faint")]
    )
