"""What a survey leaves beside its results: `survey.md`, `survey.html`, `metrics.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from chatlint import __version__
from chatlint.errors import UsageError
from chatlint.survey.folder import METRICS
from chatlint.survey.markdown import markdown
from chatlint.survey.page import page
from chatlint.survey.tally import Tally, tally_of


def write_outputs(results: Path, names: Iterable[str], title: str, host: str) -> Tally:
    """Write the tables of a survey beside its results, of the targets with these names; gives the counts.

    Each file is there whole or as it was before. Raises UsageError where one cannot be written.
    """
    from chatlint.rules.catalogue import all_rules

    tally = tally_of(results, names)
    rules = all_rules()
    summaries = {rule.name: rule.summary for rule in rules}
    categories = {rule.name: rule.category for rule in rules}
    head = {"schema": METRICS, "version": __version__, "host": host}
    metrics = json.dumps({**head, **tally.metrics()}, indent=2, ensure_ascii=True) + "\n"
    write_whole(results.with_name("metrics.json"), [metrics])
    write_whole(results.with_name("survey.md"), [markdown(tally, title, host, summaries)])
    with open(results, "rb") as file:
        write_whole(results.with_name("survey.html"), page(tally, file, title, host, summaries, categories))
    return tally


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
