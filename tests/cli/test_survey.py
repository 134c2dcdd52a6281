"""`chatlint survey`."""

from __future__ import annotations

import json

import pytest


def test_a_survey_of_a_list(chatlint, tmp_path):
    (tmp_path / "list").write_text("corpus:chatml\ncorpus:chatml\tthe same\nno/such/thing.jinja\n")
    done = chatlint("survey", "@list", "--out", "out", "--jobs", "1", "--title", "Mine", "--reports")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("3 targets hold 1 different template. 1 could not be judged.\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "metrics.json",
        "reports",
        "results.jsonl",
        "survey.html",
        "survey.md",
    ]
    assert (tmp_path / "out" / "survey.md").read_text().startswith("# Mine\n")
    assert len(list((tmp_path / "out" / "reports").iterdir())) == 3


def test_the_settings_of_a_survey(chatlint, tmp_path):
    (tmp_path / "chatlint.toml").write_text('select = ["CT3"]\n')
    done = chatlint("survey", "corpus:qwen3", "--jobs", "1")
    metrics = json.loads((tmp_path / "survey" / "metrics.json").read_text())
    assert metrics["selection"]["select"] == ["CT3"]
    assert "Rules: only CT3.\n" in done.out
    assert {rule["code"][:3] for rule in metrics["rules"].values()} == {"CT3"}


def test_the_files_of_others_are_left_alone(chatlint, tmp_path):
    (tmp_path / "results.jsonl").write_text("mine\n")
    done = chatlint("survey", "corpus:chatml", "--out", ".", "--jobs", "1")
    assert done.status == 2
    assert "results.jsonl was not written by a survey" in done.err
    assert [path.name for path in tmp_path.glob("*.*")] == ["results.jsonl"]
    assert (tmp_path / "results.jsonl").read_text() == "mine\n"


def test_unfinished_results_of_other_settings_are_kept(chatlint, tmp_path):
    command = ("survey", "corpus:chatml", "corpus:qwen3", "--jobs", "1")
    chatlint(*command)
    results = tmp_path / "survey" / "results.jsonl"
    killed = "".join(results.read_text().splitlines(keepends=True)[:2])
    results.write_text(killed)
    done = chatlint(*command, "--ignore", "CT9")
    assert done.status == 0
    assert "results.jsonl held 1 result of a survey that was not finished" in done.err
    assert (tmp_path / "survey" / "results-1.jsonl").read_text() == killed
    assert chatlint(*command).err == ""


@pytest.mark.parametrize("empty", ["", " "])
def test_error_for_an_empty_out(chatlint, tmp_path, empty):
    done = chatlint("survey", "corpus:chatml", "--out", empty)
    assert (done.status, done.out) == (2, "")
    assert "--out names no directory" in done.err
    assert list(tmp_path.iterdir()) == []


def test_reports_are_of_this_survey(chatlint, tmp_path):
    chatlint("survey", "corpus:chatml", "corpus:qwen3", "--jobs", "1", "--reports")
    done = chatlint("survey", "corpus:chatml", "--jobs", "1", "--reports")
    assert "1 report of an earlier survey removed" in done.err
    assert [path.name for path in (tmp_path / "survey" / "reports").iterdir()] == ["chatml.json"]


def test_facts_only_has_no_reports(chatlint, tmp_path):
    done = chatlint("survey", "corpus:chatml", "--facts-only", "--reports")
    assert (done.status, done.out) == (2, "")
    assert "a report says what templates say" in done.err
    assert list(tmp_path.iterdir()) == []


def test_error_of_usage(chatlint):
    assert "nothing to survey" in chatlint("survey").err
    assert chatlint("survey", "@missing").status == 2
    assert chatlint("survey", "corpus:chatml", "--executor", "http://x").status == 2
    assert chatlint("survey", "corpus:chatml", "--jobs", "many").status == 2
    for many in ("1001", "99999999", "9" * 5_000):
        done = chatlint("survey", "corpus:chatml", "--jobs", many)
        assert (done.status, done.out) == (2, "")
        assert "is more than 1000 processes" in " ".join(done.err.split())
