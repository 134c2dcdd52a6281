"""What a shell is told to complete."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from chatlint.report import REPORTERS
from chatlint.rules.catalogue import all_rules

SCRIPT = "import sys; sys.argv[0] = 'chatlint'; from chatlint.cli import main; main()"
"""As the installed command does it: the program's name is part of what shells are told."""


def run(*arguments, **env):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()


def completed(*words):
    return run(
        COMP_WORDS=" ".join(("chatlint", *words)),
        COMP_CWORD=str(len(words)),
        _CHATLINT_COMPLETE="complete_bash",
    )


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("che",), {"check"}),
        (("check", "--out"), {"--output"}),
        (("check", "--format", ""), set(REPORTERS)),
        (("rule", "tool-"), {rule.name for rule in all_rules() if rule.name.startswith("tool-")}),
    ],
)
def test_words_are_completed(words, wanted):
    assert set(completed(*words)) == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_how(shell):
    script = run("--show-completion", shell)
    assert any("_CHATLINT_COMPLETE" in word for word in script)
