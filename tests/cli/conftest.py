"""The command, run in this process."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from chatlint.cli import main


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


@pytest.fixture
def chatlint(capsys, monkeypatch, tmp_path):
    """`chatlint("check", "corpus:chatml")` gives exit status, standard output and standard error. It runs in an
    empty directory: no configuration is found by accident."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    for name in ("NO_COLOR", "FORCE_COLOR", "CHATLINT_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["chatlint", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main()
        captured = capsys.readouterr()
        return Done(leaving.value.code or 0, captured.out, captured.err)

    return run
