"""The Action's steps, run by hand: what `action.yml` says is what is tested."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

yaml = pytest.importorskip("yaml", reason="reads action.yml")
pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="the Action's steps are for bash")

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step.get("name", step.get("uses")): step for step in ACTION["runs"]["steps"]}
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")
EVIL = "::error::x\n::set-output name=a::b"


@pytest.fixture
def runner(tmp_path):
    """`run(step, **inputs)` runs a step's shell as a runner does, with an environment of our own for chatlint."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    # A script per interpreter, as in a virtual environment. The installing step has a test of its own.
    (scripts / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (scripts / "chatlint").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m chatlint "$@"\n')
    for script in scripts.iterdir():
        script.chmod(0o755)
    (tmp_path / "work").mkdir()
    places = {
        name: tmp_path / name.lower() for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
    }
    for place in places.values():
        place.touch()

    def run(name, outputs=None, **inputs):
        given = {key: str(one.get("default", "")) for key, one in ACTION["inputs"].items()} | {
            key.replace("_", "-"): value for key, value in inputs.items()
        }
        known = {f"inputs.{key}": value for key, value in given.items()}
        known |= {f"steps.check.outputs.{key}": value for key, value in (outputs or {}).items()}
        known |= {"github.action_path": str(ROOT)}
        step = STEPS[name]
        env = {
            key: EXPRESSION.sub(lambda match: known[match[1]], value)
            for key, value in step.get("env", {}).items()
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "RUNNER_TEMP": str(tmp_path),
                "CHATLINT_SCRIPTS": str(scripts),
                "CHATLINT_CACHE_DIR": str(tmp_path / "store"),
                **{key: str(place) for key, place in places.items()},
                **env,
            },
            cwd=tmp_path / "work",
            capture_output=True,
            text=True,
            check=False,
        )
        written = dict(line.split("=", 1) for line in places["GITHUB_OUTPUT"].read_text().splitlines())
        return done, written, places["GITHUB_STEP_SUMMARY"].read_text()

    return run


def template(tmp_path, text, name="t.jinja"):
    path = tmp_path / "work" / name
    path.write_text(text)
    return name


def test_no_step_has_an_expression_in_its_shell():
    """What a caller writes into an input reaches the shell as a variable, never as its text."""
    for step in STEPS.values():
        assert "${{" not in step.get("run", "")


def test_a_clean_target_passes(runner):
    done, written, summary = runner("Check", targets="corpus:chatml")
    assert (done.returncode, written["exit-status"]) == (0, "0"), done.stderr
    assert summary.startswith("## chatlint: 0 errors")
    log = json.loads(Path(written["sarif"]).read_text())
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is True
    assert runner("Verdict", outputs=written)[0].returncode == 0


def test_findings_fail_the_last_step_after_all_is_written(runner, tmp_path):
    name = template(tmp_path, "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")
    done, written, summary = runner("Check", targets=f"{name}\ncorpus:chatml\n")
    assert (done.returncode, written["exit-status"]) == (0, "1")
    assert "::error file=t.jinja,line=" in done.stdout
    assert "generation-prompt" in summary
    assert runner("Verdict", outputs=written)[0].returncode == 1


def test_inputs_are_arguments_and_nothing_else(runner, tmp_path):
    evil = '$(touch hacked); `touch hacked`; "; touch hacked'
    _, written, _ = runner("Check", targets=evil, arguments="--select\nno-bos\n", fail_on="never")
    assert written["exit-status"] == "3"
    assert not (tmp_path / "work" / "hacked").exists()
    _, written, _ = runner("Check", targets="--help", fail_on="--version")
    assert written["exit-status"] == "2", "an option in place of a target is a target that there is not"


def test_a_template_gives_the_runner_no_orders(runner, tmp_path):
    name = template(tmp_path, "{{ raise_exception('" + EVIL.replace("\n", "\\n") + "') }}" + EVIL)
    done, _, _ = runner("Check", targets=name)
    first, *rest = [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
    pause = first.removeprefix("::stop-commands::")
    assert re.fullmatch(r"[0-9a-f]{32}", pause)
    heard = rest[rest.index(f"::{pause}::") + 1 :]
    assert all(re.match(r"::(error|warning|notice) (file|title)=", line) for line in heard)


def test_a_fault_of_usage_is_its_status(runner):
    done, written, _ = runner("Check", targets="corpus:chatml", arguments="--select\nno-such-rule")
    assert (done.returncode, written["exit-status"]) == (0, "2")
    assert "sarif" not in written
    assert runner("Verdict", outputs=written)[0].returncode == 2


def test_the_summary_can_be_left_out(runner):
    assert runner("Check", targets="corpus:chatml", summary="false")[2] == ""


def test_the_steps_in_order():
    names = list(STEPS)
    assert names == [
        "actions/setup-python@v5",
        "Install chatlint",
        "Check",
        "Upload to code scanning",
        "Verdict",
    ]
    assert "steps.check.outputs.sarif" in STEPS["Upload to code scanning"]["with"]["sarif_file"]


def test_the_container_copies_what_the_wheel_is_made_of():
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    copied = set(re.findall(r"^COPY (?!--)(.*) \S+$", text, re.M))
    sources = {source for line in copied for source in line.split()}
    assert sources == {"pyproject.toml", "README.md", "LICENSE", "chatlint", "probes", "corpus"}
    assert all((ROOT / source).exists() for source in sources)
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept == sources
    assert "torch" not in text.replace("no torch", "")
