"""Commands import what they need and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "jinja2",
    "rich",
    "huggingface_hub",
    "gguf",
    "numpy",
    "deepdiff",
    "pydantic",
    "tokenizers",
    "transformers",
)

CODE = """
import sys
sys.argv[0] = "chatlint"
from chatlint.cli import main
try:
    main()
except SystemExit as leaving:
    status = leaving.code
print("status", status)
print("modules", *sys.modules)
"""


def imported(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, check=True
    )
    *_, status, modules = done.stdout.splitlines()
    return status, {name.split(".")[0] for name in modules.split()[1:]}


@pytest.mark.parametrize(
    "arguments",
    [["rules"], ["rule", "prefix-break"], ["corpus", "list"], ["schema", "report"], ["cache", "info"]],
)
def test_a_word_in_order_needs_neither_typer_nor_what_looks_at_code(arguments):
    status, modules = imported(*arguments)
    assert status == "status 0"
    assert modules.isdisjoint({*HEAVY, "typer", "click", "inspect", "dataclasses", "subprocess"})


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["check", "--help"], ["schema", "report"]])
def test_nothing_heavy_for_a_word(arguments):
    status, modules = imported(*arguments)
    assert status == "status 0"
    assert modules.isdisjoint(HEAVY)


def test_a_check_needs_jinja_and_little_more():
    _, modules = imported("check", "corpus:chatml", "--format", "concise", "--no-cache")
    assert "jinja2" in modules
    assert modules.isdisjoint(set(HEAVY) - {"jinja2"})
