"""Detection against what a person saw in the templates, and against what llama.cpp says of them.

`labels.json`: sixty templates drawn by lot (seed 20260314), read with their renders before detection was asked;
sha256 to six answers. `reasoning` is "yes" only where reasoning is kept in every turn. `llama_cpp.json`: the disagreements
with llama.cpp that its method does not foretell, by kind, each looked at.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.detect.detected import detected, traced

HERE = Path(__file__).parent
LABELS = json.loads((HERE / "labels.json").read_text(encoding="utf-8"))
KINDS = json.loads((HERE / "llama_cpp.json").read_text(encoding="utf-8"))
MOST_WRONG = 3


def source(shared: Path, sha256: str) -> str:
    return (shared / "templates" / f"{sha256[:12]}.jinja").read_bytes().decode("utf-8")


@pytest.fixture(scope="module")
def sixty(shared):
    return {sha256: traced(source(shared, sha256)) for sha256 in LABELS}


def test_labels_by_eye(sixty):
    assert len(LABELS) == 60
    wrong = []
    for sha256, answers in LABELS.items():
        found = sixty[sha256][1].capabilities
        wrong += [
            (sha256[:12], name, answer, found[name])
            for name, answer in answers.items()
            if found[name].support != answer
        ]
    assert len(wrong) <= MOST_WRONG, wrong


def test_renders_of_real_templates(sixty):
    """Detection alone, of the sixty: few renders, so that everything stays within ninety."""
    renders = sorted(trace.renders for trace, _ in sixty.values())
    assert renders[len(renders) // 2] <= 30
    assert renders[-1] <= 60


@pytest.mark.sweep
def test_disagreements_with_llama_cpp_are_known(shared):
    """Every other answer of the nine is llama.cpp's, or is foretold by `differs_from_llama_cpp`."""
    pinned = {
        (sha256, name)
        for kind in KINDS.values()
        for sha256, names in kind["templates"].items()
        for name in names
    }
    agreed, disagreed, foretold_wrongly = Counter(), set(), []
    rows = (shared / "templates" / "llama_cpp.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, rows):
        theirs = row["chat_template_caps"]
        found = detected(source(shared, row["sha256"]))
        foretold = {one.name: one.theirs for one in found.differs_from_llama_cpp}
        for name, there in (theirs or {}).items():
            ours = found.chat_template_caps[name]
            agreed[name] += ours is there
            if foretold.get(name, ours) is not there:
                disagreed.add((row["sha256"], name))
                foretold_wrongly += [(row["sha256"][:12], name)] if name in foretold else []
    assert not foretold_wrongly
    assert disagreed == pinned
    assert min(agreed.values()) > 440
