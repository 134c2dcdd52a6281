"""Output that is closed, full or no longer read, and interrupts: the exit status still says what it should."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from chatlint.cli import app
from chatlint.config import Settings
from chatlint.pipeline import _Stages, contained
from chatlint.probe.trace import Trace
from chatlint.records import replace
from chatlint.render.rendered import RenderSettings
from chatlint.rules import run as rules_run
from chatlint.rules.selection import Selection
from chatlint.rules.subject import Subject
from chatlint.source.load import load

COMMAND = [sys.executable, "-m", "chatlint"]
BAD = "{% for m in messages %}{{ m.content }}{% endfor %}{{ 'x' * 10**9 }}"
SLOW = "{% set a = 'a' * 1000000 %}{% for i in range(99999) %}{% set b = a.upper() %}{% endfor %}"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX descriptors and signals")


@pytest.fixture
def bad(tmp_path):
    (tmp_path / "bad.jinja").write_text(BAD, encoding="utf-8")
    return tmp_path / "bad.jinja"


def run(*arguments, shell_tail=""):
    command = " ".join([*COMMAND, *map(str, arguments), shell_tail])
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("arguments", "status"), [(["rules"], 0), (["--version"], 0), (["--help"], 0), (["nonsense"], 2)]
)
def test_closed_streams(arguments, status):
    assert run(*arguments, shell_tail=">&-").returncode == status
    assert run(*arguments, shell_tail=">&- 2>&-").returncode == status


def test_findings_count_where_output_is_closed(bad):
    assert run("check", bad, shell_tail=">&-").returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["rules"], ["--version"], ["check", "corpus:chatml"]])
def test_error_where_there_is_no_room(arguments):
    done = run(*arguments, shell_tail=">/dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith("error: the output cannot be written: ")
    assert "Traceback" not in done.stderr
    assert "please report" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["rule", "nope"], 2),
        (["render", "nofile", "--probe", "x"], 3),
        (["serve-check", "http://127.0.0.1:1"], 3),
        (["nonsense"], 2),
        (["check", "--nonsense"], 2),
        (["export", "corpus:chatml", "--to", "gbnf"], 0),
        (["check", "corpus:nowhere"], 3),
    ],
)
@pytest.mark.parametrize("tail", ["2>/dev/full", "2>/dev/full >/dev/null"])
def test_complaints_that_nobody_can_hear_change_no_status(arguments, status, tail):
    assert run(*arguments, shell_tail=tail).returncode == status


def test_findings_count_where_nobody_reads_on(bad):
    process = subprocess.Popen(
        [*COMMAND, "check", *[str(bad)] * 12, "--jobs", "1", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == 1
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["vectors", "corpus:chatml"], 0),
        (["schema", "report"], 0),
        (["--help"], 0),
        (["--version"], 0),
        (["diff", "corpus:chatml", "corpus:qwen3", "--format", "json"], 1),
    ],
)
def test_a_reader_that_has_seen_enough(arguments, status):
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == status
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_ends_it_at_once(tmp_path, jobs):
    (tmp_path / "slow.jinja").write_text(SLOW, encoding="utf-8")
    process = subprocess.Popen(
        [*COMMAND, "check", *[str(tmp_path / "slow.jinja")] * 8, "--jobs", jobs, "--no-cache"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    began = time.monotonic()
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == b"interrupted\n"
    assert time.monotonic() - began < 5


def test_a_survey_that_is_interrupted_goes_on_where_it_was(tmp_path):
    targets = [f"corpus:{name}" for name in ("chatml", "qwen3", "glm-4.5", "kimi-k2", "harmony", "apertus")]
    command = [*COMMAND, "survey", *targets, "--jobs", "2", "--no-cache", "--out", str(tmp_path)]
    results = tmp_path / "results.jsonl"
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    while process.poll() is None and (not results.exists() or results.read_bytes().count(b"\n") < 2):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"interrupted: the same command goes on from here\n")
    first = results.read_bytes()
    done = subprocess.run(command, capture_output=True, timeout=120)
    assert done.returncode == 0
    assert results.read_bytes().startswith(first)
    assert {json.loads(line).get("target") for line in results.read_text().splitlines()[1:-1]} == set(targets)


def _interrupted(*_: object) -> None:
    """As Python 3.11 has it where classes are made."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as interrupt:
        raise RuntimeError("Error calling __set_name__") from interrupt


def _with_a_broken_rule():
    package = load("corpus:chatml")
    template = package.template()
    rule = replace(Selection(("mutates-input",)).rules()[0], check=_interrupted)
    with Trace(template, RenderSettings()) as trace:
        rules_run.run(Subject(package, template, trace, Settings()), SimpleNamespace(rules=lambda: (rule,)))


@pytest.mark.parametrize(
    "act",
    [
        app.run,
        lambda: contained("here", _interrupted),
        lambda: _Stages(True).run("a", _interrupted),
        _with_a_broken_rule,
    ],
    ids=["command", "target", "stage", "rule"],
)
def test_an_error_that_an_interrupt_became_is_an_interrupt(monkeypatch, act):
    monkeypatch.setattr(app, "_run", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        act()


FRAGILE = """
import os, signal, sys, time, weakref
from chatlint import cli
from chatlint.cli import app
from chatlint.config import Settings
from chatlint.pipeline import _Stages, contained
from chatlint.probe.trace import Trace
from chatlint.records import replace
from chatlint.render.rendered import RenderSettings
from chatlint.rules import run as rules_run
from chatlint.rules.selection import Selection
from chatlint.rules.subject import Subject
from chatlint.source.load import load

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

class Late:
    def __set_name__(self, owner, name):
        interrupt()

class Gone:
    def __del__(self):
        interrupt()

def made():
    class Owner:
        late = Late()

def evaluated():
    try:
        exec("interrupt()")
    finally:
        print("left")

def freed():
    Gone()

def work():
    try:
        globals()[sys.argv[1]]()
        time.sleep(9)
    except Exception as error:
        print("became", error)

app.run = work
cli.main()
"""


@pytest.mark.parametrize("place", ["made", "freed", "evaluated"])
def test_an_interrupt_waits_where_python_would_lose_it(place):
    done = subprocess.run([sys.executable, "-c", FRAGILE, place], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert "became" not in done.stdout


def test_a_working_directory_that_is_gone(tmp_path, bad):
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && {sys.executable} -m chatlint check {bad}"
    environment = {**os.environ, "PYTHONPATH": str(Path(app.__file__).parents[2])}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: the working directory is not there any more")
