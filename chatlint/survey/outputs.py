"""What a survey leaves beside its results: `survey.md`, `survey.html`, `metrics.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from chatlint import __version__
from chatlint.config import Settings
from chatlint.conversation import JSON
from chatlint.errors import UsageError
from chatlint.survey.folder import METRICS
from chatlint.survey.markdown import markdown
from chatlint.survey.page import page
from chatlint.survey.tally import Tally, tally_of

_SELECTION = ("select", "ignore", "per_target_ignores", "profile", "severities")


def write_outputs(results: Path, names: Iterable[str], title: str, settings: Settings) -> Tally:
    """Write the tables of a survey beside its results, of the targets with these names; gives the counts.

    Each file is there whole or as it was before. Raises UsageError where one cannot be written.
    """
    from chatlint.rules.catalogue import all_rules

    tally = tally_of(results, names)
    rules = all_rules()
    summaries = {rule.name: rule.summary for rule in rules}
    categories = {rule.name: rule.category for rule in rules}
    head = {
        "schema": METRICS,
        "version": __version__,
        "host": settings.host,
        "selection": _selection(settings),
    }
    metrics = json.dumps({**head, **tally.metrics()}, indent=2, ensure_ascii=True) + "\n"
    write_whole(results.with_name("metrics.json"), [metrics])
    write_whole(results.with_name("survey.md"), [markdown(tally, title, settings, summaries)])
    with open(results, "rb") as file:
        write_whole(
            results.with_name("survey.html"), page(tally, file, title, settings, summaries, categories)
        )
    return tally


def _selection(settings: Settings) -> JSON:
    """Which rules were asked, and how severe they were."""
    stated = settings.to_dict()
    return {name: stated[name] for name in _SELECTION}


def write_whole(path: Path, pieces: Iterable[str]) -> None:
    """A file of these pieces: it is there whole or as it was before. Raises UsageError where it cannot be."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            for piece in pieces:
                file.write(piece)
        os.replace(temporary, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
