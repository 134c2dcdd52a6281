"""`chatlint cache`."""

from __future__ import annotations

import json
import os

from chatlint.cli import cache
from chatlint.render import compiled
from chatlint.store.disk import Store


def test_what_is_kept_is_shown_and_removed(chatlint, tmp_path):
    empty = chatlint("cache", "info")
    assert (empty.status, empty.out) == (0, f"{tmp_path / 'store'}: 0 bytes\n")
    for known in (
        compiled._recent,
        compiled._ready,
    ):  # what this process has compiled, it does not store again
        known.clear()
    chatlint("check", "corpus:chatml", "corpus:llama-3", "--jobs", "1")
    facts = json.loads(chatlint("cache", "info", "--format", "json").out)
    assert facts["path"] == str(tmp_path / "store")
    assert facts["rooms"]["results"]["entries"] == facts["rooms"]["compiled"]["entries"] == 2
    assert facts["bytes"] == sum(room["bytes"] for room in facts["rooms"].values()) > 1000
    assert "what was found out about templates" in " ".join(chatlint("cache", "info").out.split())
    cleared = chatlint("cache", "clear")
    assert cleared.status == 0
    assert cleared.out.endswith("removed\n")
    assert json.loads(chatlint("cache", "info", "--format", "json").out)["rooms"] == {}


def test_a_second_check_is_known_and_says_the_same(chatlint, monkeypatch):
    first = chatlint("check", "corpus:qwen3", "--format", "json")
    monkeypatch.setattr("chatlint.pipeline.examine", None)
    assert chatlint("check", "corpus:qwen3", "--format", "json") == first
    assert chatlint("check", "corpus:qwen3", "--format", "json", "--no-cache").status == 2


def test_files_of_others_stay(chatlint, tmp_path):
    chatlint("check", "corpus:chatml")
    other = tmp_path / "store" / "rooms" / "results" / "notes.txt"
    other.write_text("mine")
    chatlint("cache", "clear")
    assert other.read_text() == "mine"


def test_everything_that_is_kept_is_explained(chatlint):
    chatlint("check", "corpus:chatml", "--fail-on", "never")
    chatlint("check", "corpus:qwen3", "--untrusted", "--fail-on", "never")
    rooms = json.loads(chatlint("cache", "info", "--format", "json").out)["rooms"]
    assert {"results"} <= set(rooms) <= set(cache._WHAT)


def test_what_is_written_meanwhile_is_no_failure(chatlint, monkeypatch):
    """Another run writes as soon as this one has removed something, and removes what this one is about to."""
    Store().write("results", "mine", b"x" * 100)
    Store().write("results", "theirs", b"y" * 100)
    before = set(Store()._files())
    removed = []

    def gone(path):
        if not path.exists():
            raise FileNotFoundError(path)
        os.unlink(path)
        removed.append(path)
        for one in before - {path}:
            if one.exists():
                os.unlink(one)
        Store().write("results", "new", b"z")

    monkeypatch.setattr("pathlib.Path.unlink", gone)
    done = chatlint("cache", "clear")
    assert done.status == 0
    assert len(removed) == 1
    assert Store().read("results", "new") == b"z"
