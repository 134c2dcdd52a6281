"""What a survey is asked to judge."""

from __future__ import annotations

import codecs
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
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    assert named_targets(["@-"]) == (Named("one", "one"), Named("two", "two"))


def test_error_for_what_is_no_list(tmp_path):
    (tmp_path / "two.txt").write_text("a\tsame\nb\tsame\n")
    (tmp_path / "latin.txt").write_bytes(b"a/b.jinja\r\nabc\xe9\r\n")
    cases = {
        (): "nothing to survey",
        (f"@{tmp_path}/two.txt",): "a and b are both named same",
        (f"@{tmp_path}/latin.txt",): "line 2 of the list .*latin.txt is not UTF-8, at byte 4",
        (f"@{tmp_path}/none.txt",): "there is no file",
        ("-",): "standard input",
    }
    for arguments, said in cases.items():
        with pytest.raises(UsageError, match=said):
            named_targets(arguments)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_byte_order_mark_is_no_part_of_a_target(tmp_path, monkeypatch, end):
    content = codecs.BOM_UTF8 + f"a.jinja{end}b\u2028ü.jinja{end}".encode()
    (tmp_path / "list").write_bytes(content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    for argument in (f"@{tmp_path}/list", "@-"):
        assert [one.target for one in named_targets([argument])] == ["a.jinja", "b\u2028ü.jinja"]


@pytest.mark.parametrize("said", [b"y\n", b"\r", b"\0"])
def test_error_for_a_list_without_end(monkeypatch, said):
    class Endless(io.RawIOBase):
        asked = 0

        def readable(self):
            return True

        def readinto(self, buffer):
            self.asked += len(buffer)
            assert self.asked < 100_000_000
            buffer[:] = (said * len(buffer))[: len(buffer)]
            return len(buffer)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    with pytest.raises(UsageError, match="too large"):
        named_targets(["@-"])


def test_error_for_a_list_of_too_many_lines(tmp_path):
    (tmp_path / "list").write_text("y\n" * 1_000_001)
    with pytest.raises(UsageError, match="more than 1,000,000 lines"):
        named_targets([f"@{tmp_path}/list"])


def test_error_for_a_closed_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input is closed"):
        named_targets(["@-"])
