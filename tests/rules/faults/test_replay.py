"""Public reports of faults, replayed: the rule finds the fault, and not its mended twin.

pytest tests/rules/faults -k recall -s        prints how many kinds and reports are seen
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from chatlint.rules.catalogue import all_rules
from tests.rules.faults.pairs import Pair, findings, table, target_of

PAIRS, UNSEEN = table()
SEEN = [pair for pair in PAIRS if not pair.missed]
PARTS = {"limits", "no-template"}
"""Parts of the report that say it, where no rule does."""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What is found in a template with its files; each is judged once."""
    folder = tmp_path_factory.mktemp("faults")

    @cache
    def judged(template: str | None, files: str, base: str | None, profile: str):
        place = folder / f"{judged.cache_info().misses}"
        beside = target_of(place / "base", base, {}) if base is not None else None
        return findings(target_of(place / "t", template, json.loads(files)), beside, profile)

    def of(pair: Pair, good: bool):
        template = pair.good if good else None if pair.absent else pair.bad
        files = pair.good_files if good else pair.bad_files
        template = None if pair.only_files else template
        beside = pair.good if pair.base else None
        return judged(template, json.dumps(files, sort_keys=True), beside, pair.profile)

    return of


def hits(found, pair: Pair) -> list[str]:
    return [message for rule, _, message in found if rule == pair.rule and pair.says in message]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.id)
def test_the_fault_is_found_and_its_mended_twin_is_clean(pair: Pair, found) -> None:
    good = found(pair, True)
    assert hits(good, pair) == []
    assert [(rule, message) for rule, severity, message in good if severity == "error"] == []
    assert bool(hits(found(pair, False), pair)) is not pair.missed


def test_every_rule_of_the_table_is_one() -> None:
    assert {pair.rule for pair in SEEN} - {rule.name for rule in all_rules()} <= PARTS


def test_the_recall_is_what_is_said(capsys) -> None:
    """Kinds and reports that a check of a template and its files can show, and those it does."""
    visible = {pair.kind for pair in PAIRS if pair.reports}
    seen = {pair.kind for pair in SEEN if pair.reports}
    reports = sum(len(pair.reports) for pair in PAIRS)
    shown = sum(len(pair.reports) for pair in SEEN)
    hidden = sum(len(one.reports) for one in UNSEEN)
    with capsys.disabled():
        print(
            f"\nkinds {len(seen)} of {len(visible)}, reports {shown} of {reports}; not of a template {hidden}"
        )
    assert seen == visible
    assert shown >= 0.99 * reports


def test_every_report_is_in_the_table_once(shared: Path) -> None:
    lines = (shared / "facts" / "faults.jsonl").read_text(encoding="utf-8").splitlines()
    kinds = {row["id"]: row["kind"] for row in map(json.loads, lines)}
    listed = [(report, one.kind) for one in (*PAIRS, *UNSEEN) for report in one.reports]
    assert [report for report, count in Counter(report for report, _ in listed).items() if count > 1] == []
    assert dict(listed) == kinds
