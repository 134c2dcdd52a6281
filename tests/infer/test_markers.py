"""Atoms, common beginnings and endings, mirrors."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.infer.markers import (
    atoms,
    between,
    common_prefix,
    common_suffix,
    mirrored_end,
    mirrored_start,
    mirrors,
)

PIECES = st.lists(
    st.sampled_from(["<a>", "</a>", "<|b|>", "[C]", "word", "12", " ", "\n", '<x y="', ">", "{", "é"])
)


@given(PIECES)
def test_atoms_joined_are_the_text(pieces):
    text = "".join(pieces)
    assert "".join(atoms(text)) == text


@given(PIECES, PIECES, PIECES)
def test_a_common_prefix_begins_both_and_is_the_longest(shared, one, other):
    first, second = "".join([*shared, *one]), "".join([*shared, *other])
    prefix = common_prefix([first, second])
    assert first.startswith(prefix)
    assert second.startswith(prefix)
    assert len(prefix) in edges(first)
    assert len(prefix) in edges(second)
    following = edges(first)[len(prefix)], edges(second)[len(prefix)]
    assert following[0] != following[1] or following == ("", "")


def edges(text):
    """Where atoms begin, and the atom that does."""
    found = atoms(text)
    starts = accumulate(map(len, found), initial=0)
    return dict(zip(starts, [*found, ""], strict=True)) if text else {0: ""}


@pytest.mark.parametrize(
    ("texts", "prefix", "suffix"),
    [
        (["</a><b>", "</a><|e|>"], "</a>", ""),
        (["x</a>\n<a>", "y<a>"], "", "<a>"),
        (['\n<p n="', '</p>\n<p n="'], "", '\n<p n="'),
        (["same", "same"], "same", "same"),
        ([], "", ""),
    ],
)
def test_tags_are_never_cut(texts, prefix, suffix):
    assert common_prefix(texts) == prefix
    assert common_suffix(texts) == suffix


@pytest.mark.parametrize(
    ("opener", "closer", "is_mirror"),
    [
        ("<a>", "</a>", True),
        ("<|a>", "<a|>", True),
        ("<|a_begin|>", "<|a_end|>", True),
        ("<|START_A|>", "<|END_A|>", True),
        ("[A]", "[/A]", True),
        ("<|open|>", "<|close|>", True),
        ("<|in_prefix|>", "<|in_suffix|>", True),
        ('<a b="', "</a>", True),
        ("<a=", "</a>", True),
        ("<a>", "<a>", False),
        ("</a>", "<a>", False),
        ("<a>", "</b>", False),
        ("word", "word", False),
        ("<|message|>", "<|end|>", False),
    ],
)
def test_mirrors(opener, closer, is_mirror):
    assert mirrors(opener, closer) is is_mirror


@pytest.mark.parametrize(
    ("text", "closer", "opener", "opening", "parts"),
    [
        ("</x>\n<x>", "</x>\n", "\n<x>", "", ("</x>", "", "\n<x>")),
        ("</x>, <x>", "</x>", "<x>", "", ("</x>", ", ", "<x>")),
        ("</x><y><x>", "</x><y>", "<y><x>", "", ("</x><y>", "", "<x>")),
        ("</x><y><x>", "</x><y>", "<y><x>", "<x>", ("</x>", "", "<y><x>")),
    ],
)
def test_what_stands_between_two_slots(text, closer, opener, opening, parts):
    assert between(text, closer, opener, opening) == parts


def test_a_closer_runs_over_the_atoms_that_follow_in_both():
    text = "<|close|>think<|sep|><|open|>say<|sep|>"
    assert text[: mirrored_end("<|open|>think<|sep|>", text)] == "<|close|>think<|sep|>"


def test_a_bare_tag_mirrors_nothing_without_a_word():
    assert mirrored_end("<|open|>think<|sep|>", "<|close|>say<|sep|>") == -1


def test_the_last_opener_is_the_one_that_is_closed():
    header = '<|open|>message role="a"<|sep|><|open|>think<|sep|>'
    assert header[mirrored_start(header, "<|close|>think<|sep|>") :] == "<|open|>think<|sep|>"
