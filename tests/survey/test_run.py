"""Surveys: one line for every target, one judgement for every template, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from chatlint.config import Settings
from chatlint.errors import UsageError
from chatlint.pipeline import check_target
from chatlint.source.bundled import corpus_names
from chatlint.survey import run as survey_run
from chatlint.survey import work
from chatlint.survey.crew import Here, open_crew
from chatlint.survey.record import keyed
from chatlint.survey.run import run_survey
from chatlint.survey.targets import Named

from .conftest import lines_of, needs_fork


def by_name(lines):
    assert len({line["target"] for line in lines}) == len(lines)
    return {line["target"]: line for line in lines}


def facts(lines):
    """What was found out, whoever had a template first."""
    results = {key: result for line in lines for key, result in keyed(line) if result is not None}
    return {
        name: [line["status"], line["failure"], [results[key] for key, _ in keyed(line)]]
        for name, line in by_name(lines).items()
    }


def test_every_target_has_a_line_and_every_template_one_result(templates, survey):
    lines = survey(templates)
    assert sorted(by_name(lines)) == sorted(named.name for named in templates)
    results = [result for line in lines for _, result in keyed(line) if result is not None]
    assert len(results) == 4
    assert by_name(lines)["missing"]["status"] == "failed"
    assert "there is no file" in by_name(lines)["missing"]["failure"]["message"]
    assert [finding["rule"] for finding in facts(lines)["broken"][2][0]["findings"]] == ["syntax"]
    assert facts(lines)["a"] == facts(lines)["e"]


def test_results_are_what_a_check_says(templates, survey):
    for name, (_, _, results) in facts(survey(templates)).items():
        target = next(named.target for named in templates if named.name == name)
        report = check_target(target, Settings()).to_dict()
        for result, template in zip(results, report["templates"], strict=True):
            same = [
                "capabilities",
                "format",
                "round_trips",
                "coverage",
                "limits",
                "tool_result",
                "not_evaluated",
            ]
            assert {key: result[key] for key in same} == json.loads(
                json.dumps({key: template[key] for key in same})
            )
            assert [one["fingerprint"] for one in result["findings"]] == [
                one["fingerprint"] for one in template["findings"]
            ]


def test_processes_say_the_same_as_this_one(templates, survey):
    alone = survey(templates, out="alone", settings=Settings(cache=False))
    assert facts(survey(templates, jobs=2, out="two", settings=Settings(cache=False))) == facts(alone)


def test_equal_templates_are_examined_once_without_a_cache_too(templates, survey, monkeypatch):
    seen = []
    real = work.examine
    monkeypatch.setattr(
        work, "examine", lambda asked, store: seen.append(asked.template.sha256) or real(asked, store)
    )
    survey(templates, settings=Settings(cache=False))
    assert len(seen) == len(set(seen)) == 4
    survey(templates, out="again")
    assert len(seen) == 8
    survey(templates, out="known")
    assert len(seen) == 8


def test_a_package_with_two_templates(survey):
    (line,) = survey([Named("corpus:command-r7b", "two")])
    assert [template["name"] for template in line["templates"]] == ["default", "rag"]
    assert all(result is not None for _, result in keyed(line))


def test_what_was_done_is_not_done_again(templates, survey, tmp_path, monkeypatch):
    class Killed(BaseException):
        pass

    done = []

    def stop(name, before):
        done.append(name)
        if len(done) == 3:
            raise Killed

    with pytest.raises(Killed):
        survey(templates, step=stop)
    results = tmp_path / "out" / "results.jsonl"
    before = results.read_bytes()
    results.write_bytes(before + b'{"target": "d", "sta')
    told = []
    monkeypatch.setattr(
        survey_run, "look", lambda target, settings: told.append(target) or work.look(target, settings)
    )
    lines = survey(templates)
    assert told == [named.target for named in templates if named.name not in done]
    assert results.read_bytes().startswith(before)
    assert sorted(by_name(lines)) == sorted(named.name for named in templates)


def test_other_settings_begin_another_survey(templates, survey, tmp_path):
    survey(templates)
    text = (tmp_path / "out" / "results.jsonl").read_text()
    (tmp_path / "out" / "results.jsonl").write_text("".join(text.splitlines(keepends=True)[:3]))
    lines = survey(templates, settings=Settings(select=("syntax",)))
    assert {
        one["rule"] for line in lines for _, result in keyed(line) if result for one in result["findings"]
    } == {"syntax"}


@needs_fork
def test_a_process_that_dies_costs_its_own_target(templates, survey, monkeypatch):
    real = work.read_target

    def deadly(target, settings, say):
        if target.endswith(("c.jinja", "missing.jinja")):
            os._exit(9)
        return real(target, settings, say)

    monkeypatch.setattr(work, "read_target", deadly)
    lines = by_name(survey(templates, jobs=2))
    died = [name for name, line in lines.items() if line["failure"]]
    assert sorted(died) == ["c", "missing"]
    assert lines["c"]["failure"]["message"] == "the process that judged this target died"
    assert sum(line["status"] == "checked" for line in lines.values()) == 5


@needs_fork
def test_all_who_wait_for_an_answer_that_never_comes_are_told(templates, survey, monkeypatch):
    real = work.examine

    def deadly(asked, store):
        if "upper" not in asked.template.text:
            os._exit(9)
        return real(asked, store)

    monkeypatch.setattr(work, "examine", deadly)
    lines = by_name(survey(templates, jobs=2))
    assert {name for name, line in lines.items() if line["status"] == "checked"} == {"d"}
    assert len(lines) == 7


def test_a_fault_of_ours_is_a_result(templates, survey, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(work, "examine", broken)
    lines = by_name(survey(templates))
    assert "a bug of ours" in lines["a"]["failure"]["message"]
    assert lines["a"]["failure"]["stage"] == "internal"


@needs_fork
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_fault_of_ours_shows_where_if_that_is_wanted(templates, survey, monkeypatch, jobs):
    def broken(*_):
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(work, "question", broken)
    monkeypatch.setenv("CHATLINT_DEBUG", "1")
    with pytest.raises(RuntimeError, match="a bug of ours") as raised:
        survey(templates, jobs=jobs)
    shown = "".join(traceback.format_exception(raised.value))
    assert f"in {broken.__name__}" in shown


def test_error_of_usage_ends_the_survey(templates, survey):
    with pytest.raises(UsageError, match="no rule fits"):
        survey(templates, settings=Settings(select=("nonsense",)))


def test_there_are_no_more_processes_than_targets(monkeypatch):
    asked = []
    monkeypatch.setattr("chatlint.survey.crew.Pool", asked.append)
    for jobs, targets in ((1000, 3), (2, 3), (0, 2)):
        open_crew("", jobs, targets).hire()
    assert asked == [3, 2, 2] or (os.cpu_count() == 1 and asked == [3, 2])
    assert isinstance(open_crew("", 1000, 1).hire(), Here)


def test_memory_does_not_grow_with_targets(templates, tmp_path):
    """At no time is more of a survey in memory than its crew works on."""
    many = [replace(templates[index % 6], name=str(index)) for index in range(300)]
    crew = open_crew("", 1)
    most = []
    run_survey(many, tmp_path / "many", Settings(), crew, step=lambda *_: most.append(len(crew._busy)))
    assert max(most) <= 4
    assert len(most) == 300


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for its processes in /proc")
def test_a_killed_command_goes_on(tmp_path):
    """SIGKILL in the middle: the lines so far stay, its processes end, the same command finishes."""
    out, targets = tmp_path / "killed", [f"corpus:{name}" for name in corpus_names()[::4]]
    (tmp_path / "list").write_text("\n".join(targets))
    options = ["--out", str(out), "--jobs", "2", "--no-cache"]
    command = [sys.executable, "-m", "chatlint", "survey", f"@{tmp_path / 'list'}", *options]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    results = out / "results.jsonl"
    deadline = time.monotonic() + 60
    while not results.exists() or results.read_bytes().count(b"\n") < 6:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    children = [
        int(pid) for pid in Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    ]
    running.send_signal(signal.SIGKILL)
    running.wait()
    before = results.read_bytes()
    before = before[: before.rindex(b"\n") + 1]
    assert 6 <= before.count(b"\n") <= len(targets)
    deadline = time.monotonic() + 10
    while any(map(_alive, children)):
        assert time.monotonic() < deadline, "a process outlived the survey"
        time.sleep(0.1)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert results.read_bytes().startswith(before)
    assert sorted(by_name(lines_of(results))) == sorted(targets)
    assert (out / "survey.html").exists()
