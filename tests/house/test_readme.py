"""The README's blocks run. `UPDATE_README=1 pytest tests/house/test_readme.py` writes the real output into it."""

from __future__ import annotations

import os
import re
import shlex
import tomllib

import pytest

from tests.conftest import ROOT

README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


def blocks(language):
    return [
        (name, body)
        for kind, name, body in BLOCK.findall(README.read_text(encoding="utf-8"))
        if kind == language
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, body in blocks("jinja"):
        (tmp_path / name).write_text(body, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("index", range(len(blocks("console"))))
def test_console_blocks_show_what_is_printed(chatlint, folder, monkeypatch, index):
    _, body = blocks("console")[index]
    command = body.partition("\n")[0].removeprefix("$ ")
    monkeypatch.chdir(folder)
    printed = chatlint(*shlex.split(command)[1:]).out
    printed = "".join(f"{line}\n" for line in printed.splitlines())
    expected = f"$ {command}\n{printed}"
    if os.environ.get("UPDATE_README"):
        README.write_text(README.read_text(encoding="utf-8").replace(body, expected), encoding="utf-8")
    else:
        assert body == expected, "if this is right: UPDATE_README=1 pytest tests/house/test_readme.py"


@pytest.mark.parametrize("index", range(len(blocks("python"))))
def test_python_blocks_run(folder, index):
    exec(compile(blocks("python")[index][1], "README.md", "exec"), {})


def test_toml_blocks_are_settings(folder):
    from chatlint.config import Settings
    from chatlint.config.file import read_config

    for _, body in blocks("toml"):
        assert tomllib.loads(body)
        (folder / "chatlint.toml").write_text(body, encoding="utf-8")
        assert read_config(folder / "chatlint.toml", Settings()) != Settings()


def test_there_are_exactly_two_set_up_commands():
    (_, main_job), (_, tests) = blocks("sh")
    assert main_job.count("\n") == tests.count("\n") == 1
    assert "&& chatlint check corpus:" in main_job
    assert "pytest" in tests
    assert f"<!-- test command -->\n```sh\n{tests}```" in README.read_text(encoding="utf-8")


def test_the_unrelated_project_is_named():
    assert "PyPI's `chatlint` is an unrelated project" in README.read_text(encoding="utf-8")
