"""Imports point down the data's path (the contracts stand in pyproject.toml)."""

from __future__ import annotations

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from tests.conftest import ROOT


def test_imports_point_down(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out
