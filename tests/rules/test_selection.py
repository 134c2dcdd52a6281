"""Which rules a selection means."""

from __future__ import annotations

import pytest

from chatlint.rules.names import headings
from chatlint.rules.selection import Selection


def chosen(*select, ignore=()):
    return {rule.code for rule in Selection(select, ignore).rules()}


@pytest.mark.parametrize(
    ("wanted", "code"), [("tools", "CT4"), ("ct4", "CT4"), ("round-trips", "CT7"), ("round_trips", "CT7")]
)
def test_a_heading_selects_what_stands_under_it(wanted, code):
    every = {one for one in chosen() if one.startswith(code)}
    assert every
    assert chosen(wanted) == every
    assert chosen(ignore=(wanted,)) == chosen() - every


def test_what_is_said_more_closely_wins_over_a_heading():
    assert chosen("tools", ignore=("CT40",)) == chosen("CT4", ignore=("CT40",))
    assert chosen("ct401", ignore=("tools",)) == {"CT401"}


def test_no_heading_is_a_rule(chatlint):
    shown = chatlint("rules").out.splitlines()
    assert {line for line in shown if not line.startswith(" ")} == headings()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--select", ""), "a selection of rules is empty"),
        (("--select", ","), "a selection of rules is empty"),
        (("--select", "tools", "--ignore", ""), "a selection of rules is empty"),
        (("--ignore", "nonsense"), "no rule fits 'nonsense' = help `chatlint rules` lists them"),
        (("--select", "tool"), "no rule fits 'tool' = help did you mean 'tools'?"),
        (("--select", "ct4999"), "no rule fits 'ct4999'"),
    ],
)
def test_a_selection_that_selects_nothing_is_refused(chatlint, arguments, said):
    done = chatlint("check", "corpus:chatml", *arguments)
    assert done.status == 2
    assert said in " ".join(done.err.split())


def test_headings_and_codes_in_any_case_in_a_configuration(chatlint, tmp_path):
    (tmp_path / "chatlint.toml").write_text('select = ["tools", "ct1"]', encoding="utf-8")
    assert chatlint("check", "corpus:chatml").status == 0
