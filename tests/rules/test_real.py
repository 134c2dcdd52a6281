"""The rules on real templates: none breaks, and each finding is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatlint.rules.run import Judged, run
from tests.rules.subjects import subject_of


def judged(path: Path) -> Judged:
    with subject_of(path.read_text(encoding="utf-8")) as subject:
        return run(subject)


def complaints(path: Path) -> list[str]:
    result = judged(path)
    found = [f"{path.name}: {failure.subject} broke: {failure.message}" for failure in result.failures]
    fingerprints = [finding.fingerprint for finding in result.findings]
    if len(fingerprints) != len(set(fingerprints)):
        found.append(f"{path.name}: two findings have one fingerprint")
    for finding in result.findings:
        evidence = finding.evidence[0] if finding.evidence else None
        if not (finding.message and finding.consequence):
            found.append(f"{path.name}: {finding.rule} says too little")
        if evidence and not 0 <= evidence.start <= evidence.end <= len(evidence.text):
            found.append(f"{path.name}: {finding.rule} marks what is not there")
        if bool(finding.cases) != bool(evidence) or (finding.cases and evidence.case != finding.cases[0]):
            found.append(f"{path.name}: {finding.rule} does not show its smallest case")
    return found


def test_a_sample(shared: Path) -> None:
    paths = sorted((shared / "templates").glob("*.jinja"))[5::40]
    assert [line for path in paths for line in complaints(path)] == []


@pytest.mark.sweep
def test_all(shared: Path) -> None:
    paths = sorted((shared / "templates").glob("*.jinja"))
    assert len(paths) > 700
    assert [line for path in paths for line in complaints(path)] == []


def test_judging_twice_gives_the_same(shared: Path) -> None:
    path = sorted((shared / "templates").glob("*.jinja"))[100]
    assert judged(path) == judged(path)
