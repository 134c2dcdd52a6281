"""Text up to a mark, against `str.find`."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.errors import UsageError
from chatlint.export.automaton import states_of
from chatlint.export.grammar import NOTHING, Rules, Scan, Text
from tests.export.judges import JUDGES

marks = st.lists(st.text("ab<", min_size=1, max_size=4), min_size=1, max_size=3, unique=True)


def first_mark(text, marks):
    """Where the first mark to be complete ends, the longest of those that end there."""
    for end in range(1, len(text) + 1):
        done = [mark for mark in marks if text[:end].endswith(mark)]
        if done:
            return end, max(done, key=len)
    return None


@given(marks, st.text("ab<c", max_size=12))
def test_the_first_mark_is_found(marks, text):
    states, at = states_of(marks), 0
    found = None
    for index, char in enumerate(text):
        completed = dict(states[at].completes).get(char)
        if completed:
            found = (index + 1, completed)
            break
        at = dict(states[at].moves).get(char, 0)
    assert found == first_mark(text, marks)


@settings(max_examples=60, deadline=None)
@given(st.text("ab<", min_size=1, max_size=4), st.text("ab<c", max_size=12))
def test_both_notations_stop_there(mark, text):
    found = first_mark(text, [mark])
    grammar = Rules().finish(Scan(((mark, Text("!")),)))
    for judge in JUDGES.values():
        assert judge(grammar, text + mark + "!") == (
            "accepted"
            if first_mark(text + mark, [mark])[0] == len(text + mark)
            else f"refused at {first_mark(text + mark, [mark])[0]}"
        )
        assert (judge(grammar, text) == "viable") is (found is None or found[0] == len(text))


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_exits_and_an_open_end(judge):
    grammar = Rules().finish(Scan((("<a>", Text("1")), ("<b>", NOTHING)), ends=True, without=("<c>",)))
    assert judge(grammar, "") == judge(grammar, "x < y <a") == judge(grammar, "x<a>1") == "accepted"
    assert judge(grammar, "x<b>") == "accepted"
    assert judge(grammar, "x<a>") == "viable"
    assert judge(grammar, "x<b>y").startswith("refused")
    assert judge(grammar, "x<c>").startswith("refused")


def test_marks_that_no_model_writes():
    with pytest.raises(UsageError, match="too long"):
        states_of(["<" * 6_000])
