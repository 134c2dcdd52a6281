"""What a survey leaves beside its results: `survey.md`, `survey.html`, `metrics.json`, and reports."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from chatlint import __version__
from chatlint.config import Settings
from chatlint.errors import UsageError
from chatlint.lazy import regex
from chatlint.pipeline import check_target
from chatlint.records import replace
from chatlint.survey.folder import METRICS
from chatlint.survey.markdown import markdown
from chatlint.survey.page import page
from chatlint.survey.tally import Tally, tally_of
from chatlint.survey.targets import Named
from chatlint.verdict import Report

_NO_FILE_NAME = regex(r"[^A-Za-z0-9._-]+")


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
    _write(results.with_name("metrics.json"), [metrics])
    _write(results.with_name("survey.md"), [markdown(tally, title, host, summaries)])
    with open(results, "rb") as file:
        _write(results.with_name("survey.html"), page(tally, file, title, host, summaries, categories))
    return tally


def write_reports(targets: Iterable[Named], settings: Settings, directory: Path) -> None:
    """The JSON report of each target that was judged, in a file of its name.

    Raises UsageError where one cannot be written.
    """
    taken: set[str] = set()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{directory} cannot be made: {error.strerror}") from error
    for named in targets:
        judged = replace(check_target(named.target, settings), target=named.name)
        name = _NO_FILE_NAME.sub("_", named.name.removeprefix("corpus:")).strip("._")
        taken.add(file := name if name not in taken else f"{name}-{len(taken)}")
        report = Report(replace(settings, cache=True), (judged,))
        _write(directory / f"{file}.json", [json.dumps(report.to_dict(), indent=2) + "\n"])


def _write(path: Path, pieces: Iterable[str]) -> None:
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            for piece in pieces:
                file.write(piece)
        os.replace(temporary, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
