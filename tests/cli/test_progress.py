"""Progress is for a person who waits: on standard error, on a terminal, and gone when it is over."""

from __future__ import annotations

import io
import sys

import pytest

from chatlint.cli.progress import Progress


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def stderr(monkeypatch):
    def use(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return use


def test_it_counts_and_clears(stderr, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    stream = stderr(Terminal())
    with Progress(2) as progress:
        assert progress.step(7, "a/very/long/name/of/a/target/that\x1b[31mdoes/not/fit") == 7
    written = stream.getvalue()
    assert written.startswith("\r\x1b[Kchecked 1 of 2  a/very")
    assert "\x1b[31m" not in written
    assert len(written.split("\r")[1].removeprefix("\x1b[K")) < 40
    assert written.endswith("\r\x1b[K")


@pytest.mark.parametrize(("stream", "total"), [(io.StringIO(), 5), (Terminal(), 1)])
def test_it_is_silent_where_nobody_waits(stderr, stream, total):
    stderr(stream)
    with Progress(total) as progress:
        progress.step(1, "x")
    assert stream.getvalue() == ""
