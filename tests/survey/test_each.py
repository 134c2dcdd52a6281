"""Many targets on several processes: in order, and none spoils the others."""

from __future__ import annotations

import os

import pytest

from chatlint.config import Settings
from chatlint.survey.each import judge_each
from chatlint.verdict import Status, TargetReport


def judged(target, settings, say=None):
    """What stands in for a check: the target named `die` takes its process with it."""
    if target.startswith("die"):
        os._exit(9)
    return TargetReport(target)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("chatlint.survey.each.check_target", judged)


def test_verdicts_come_in_the_order_of_the_targets():
    names = [f"t{number}" for number in range(20)]
    assert [one.target for one in judge_each(names, Settings(), 3)] == names


def test_a_process_that_dies_costs_its_own_target_only():
    verdicts = list(judge_each(["a", "die", "b", "c", "die too", "d"], Settings(), 2))
    assert [one.target for one in verdicts] == ["a", "die", "b", "c", "die too", "d"]
    failed = [one for one in verdicts if one.status is Status.FAILED]
    assert [one.target for one in failed] == ["die", "die too"]
    assert all(one.internal and "died" in one.failure.message for one in failed)


@pytest.mark.parametrize(("targets", "jobs"), [(["a"], 0), (["a", "b"], 0), (["a", "b", "c"], 1)])
def test_few_targets_start_no_process(monkeypatch, targets, jobs):
    def refuse(*_):
        raise AssertionError("a process was started")

    monkeypatch.setattr("chatlint.survey.pool.Pool", refuse)
    assert [one.target for one in judge_each(targets, Settings(), jobs)] == targets
