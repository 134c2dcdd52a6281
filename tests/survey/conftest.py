"""Small surveys: templates written in the test, results read back."""

from __future__ import annotations

import json
import sys

import pytest

from chatlint.config import Settings
from chatlint.survey.crew import open_crew
from chatlint.survey.run import run_survey
from chatlint.survey.targets import Named

CHATTY = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"

needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="patches reach workers by fork")


def lines_of(path):
    head, *lines, last = [json.loads(line) for line in path.read_text().splitlines()]
    assert head["schema"] == "chatlint.survey/1"
    assert last["complete"] is True
    return lines


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))


@pytest.fixture
def templates(tmp_path):
    """Six targets with four different templates, one that does not compile and one that is not there."""
    folder = tmp_path / "templates"
    folder.mkdir()
    texts = {
        "a": CHATTY,
        "b": CHATTY,
        "c": CHATTY + "{% if add_generation_prompt %}<|assistant|>{% endif %}",
        "d": CHATTY.replace("m.content", "m.content | upper"),
        "e": CHATTY,
        "broken": "{% for m in messages %}",
    }
    for name, text in texts.items():
        (folder / f"{name}.jinja").write_text(text)
    paths = [folder / f"{name}.jinja" for name in (*texts, "missing")]
    return [Named(str(path), path.stem) for path in paths]


@pytest.fixture
def survey(tmp_path):
    """`survey(targets, jobs=1)` gives the result lines."""

    def run(targets, *, jobs=1, out="out", settings=None, **options):
        path = run_survey(targets, tmp_path / out, settings or Settings(), open_crew("", jobs), **options)
        return lines_of(path)

    return run
