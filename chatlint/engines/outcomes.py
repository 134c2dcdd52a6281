"""What an engine's program answered, as outcomes."""

from __future__ import annotations

from collections.abc import Mapping

from chatlint.conversation import JSON
from chatlint.engines.engine import EngineFailed, Outcome


def outcomes(answer: Mapping[str, JSON], count: int) -> tuple[Outcome, ...]:
    """One for each result. Raises EngineFailed for an answer of another shape."""
    results = answer.get("results")
    if not isinstance(results, list) or len(results) != count:
        raise EngineFailed("its answer has another shape than was asked for")
    return tuple(map(_outcome, results))


def _outcome(result: JSON) -> Outcome:
    if isinstance(result, dict):
        if isinstance(text := result.get("text"), str):
            return Outcome(text)
        if isinstance(error := result.get("error"), str):
            return Outcome(None, error)
    raise EngineFailed("its answer has another shape than was asked for")
