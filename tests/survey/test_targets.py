"""What a survey is asked to judge."""

from __future__ import annotations

import io
import sys

import pytest

from chatlint.errors import UsageError
from chatlint.source.bundled import corpus_names
from chatlint.survey.targets import Named, named_targets


def test_targets_lists_and_the_corpus(tmp_path, monkeypatch):
    listed = tmp_path / "list.txt"
    listed.write_text("# mine\n\norg/model\n  a/b.jinja\tA name \n")
    named = named_targets(["x.jinja", f"@{listed}", "x.jinja"])
    assert named == (
        Named("x.jinja", "x.jinja"),
        Named("org/model", "org/model"),
        Named("a/b.jinja", "A name"),
    )
    assert [one.name for one in named_targets([], corpus=True)] == [
        f"corpus:{name}" for name in corpus_names()
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("one\ntwo\n"))
    assert named_targets(["@-"]) == (Named("one", "one"), Named("two", "two"))


def test_error_for_what_is_no_list(tmp_path):
    (tmp_path / "two.txt").write_text("a\tsame\nb\tsame\n")
    (tmp_path / "latin.txt").write_bytes(b"\xe9")
    cases = {
        (): "nothing to survey",
        (f"@{tmp_path}/two.txt",): "a and b are both named same",
        (f"@{tmp_path}/latin.txt",): "not UTF-8",
        (f"@{tmp_path}/none.txt",): "No such file",
        ("-",): "standard input",
    }
    for arguments, said in cases.items():
        with pytest.raises(UsageError, match=said):
            named_targets(arguments)
