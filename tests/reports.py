"""Make everything in `reports/` anew: `python -m tests.reports [--only corpus]`.

`reports/corpus` is the survey of our own templates, with a JSON report of each. `reports/templates` is the survey of
the real templates in `../shared`, facts only: names, hashes, marks and counts, and nothing that a template or prompt
says. What both show in short goes into `reports/README.md`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from chatlint.config import Settings
from chatlint.report.markup import md_code, md_text
from chatlint.survey.crew import open_crew
from chatlint.survey.outputs import write_outputs
from chatlint.survey.reports import Reports
from chatlint.survey.run import run_survey
from chatlint.survey.summary import Mark, sentences
from chatlint.survey.targets import Named, named_targets
from tests.conftest import ROOT, SHARED

REPORTS = ROOT / "reports"
PARTS = ("survey.md", "survey.html", "metrics.json")
TITLES = {"corpus": "The corpus of chatlint", "templates": "The state of chat templates"}
_NAME = re.compile(r"[\w.-]+/[\w.-]+")


def make(part: str, targets: tuple[Named, ...], out: Path, *, jobs: int = 0) -> list[str]:
    """One survey in `out`; gives its sentences as Markdown."""
    settings = Settings()
    with tempfile.TemporaryDirectory() as folder:
        results = run_survey(targets, Path(folder), settings, open_crew("", jobs), texts=part == "corpus")
        tally = write_outputs(results, [one.name for one in targets], TITLES[part], settings)
        out.mkdir(parents=True, exist_ok=True)
        for name in PARTS:
            (out / name).write_bytes((Path(folder) / name).read_bytes())
    if part == "corpus":
        reports = Reports(out / "reports", targets)
        reports.write(settings)
        reports.tidy()
    return [
        "".join(md_code(piece) if isinstance(piece, Mark) else md_text(piece) for piece in sentence)
        for sentence in sentences(tally)
    ]


def corpus() -> tuple[Named, ...]:
    return named_targets([], corpus=True)


def real_templates(folder: Path) -> tuple[Named, ...]:
    """Every real template under the names of the models that have it, or else under its hash."""
    return tuple(dict.fromkeys(_real(folder)))


def _real(folder: Path) -> Iterator[Named]:
    taken: dict[str, str] = {}
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        digest = entry["sha256"][:12]
        names = [name for name in (*entry["names"], *entry["repos"]) if _NAME.fullmatch(name)]
        for name in names or [f"{entry['kind']} {digest}"]:
            if taken.setdefault(name, digest) != digest:
                name = f"{name} {digest}"  # the same model, another revision
            yield Named(str(folder / entry["file"]), name)


def quote(part: str, said: list[str]) -> None:
    """Put the sentences between their marks in the README."""
    readme = REPORTS / "README.md"
    begin, end = f"<!-- {part}: in short -->\n", f"<!-- end of {part} -->\n"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    readme.write_text(
        before + begin + "".join(f"- {line}\n" for line in said) + end + rest.split(end)[1], encoding="utf-8"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=tuple(TITLES))
    parser.add_argument("--jobs", type=int, default=0)
    options = parser.parse_args()
    if options.only != "templates":
        quote("corpus", make("corpus", corpus(), REPORTS / "corpus", jobs=options.jobs))
    if options.only != "corpus":
        folder = SHARED / "templates"
        if not folder.is_dir():
            sys.exit(f"the real templates are not at {folder}")
        quote(
            "templates", make("templates", real_templates(folder), REPORTS / "templates", jobs=options.jobs)
        )


if __name__ == "__main__":
    main()
