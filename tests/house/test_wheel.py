"""What users install: the wheel holds probes and corpus, and does the main job in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel in a fresh environment. Its requirements come from here: nothing is downloaded."""
    root = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    python = root / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel]
    subprocess.run(pip, check=True, capture_output=True)
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip())
    # They come after the environment's own, and .pth files are not followed there: an editable chatlint stays unseen.
    (packages / "requirements_from_the_tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_data_is_in_the_wheel(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, inside in (("probes", "_probes"), ("corpus", "_corpus")):
        files = [
            path.relative_to(ROOT / folder).as_posix()
            for path in (ROOT / folder).rglob("*")
            if path.is_file()
        ]
        assert files
        assert {f"chatlint/{inside}/{path}" for path in files} <= names
    assert "chatlint/report/report.schema.json" in names
    assert "chatlint/py.typed" in names


def test_the_main_job_runs_from_the_wheel(installed, tmp_path):
    def run(*arguments):
        return subprocess.run(
            [installed, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
        )

    where = run("-c", "import chatlint; print(chatlint.__file__)").stdout
    assert "environment" in where
    done = run("-m", "chatlint", "check", "corpus:chatml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "corpus:chatml" in done.stdout
    script = installed.parent / "chatlint"
    version = subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout
    assert version.startswith("chatlint ")
