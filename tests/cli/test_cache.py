"""`chatlint cache`."""

from __future__ import annotations

import json


def test_what_is_kept_is_shown_and_removed(chatlint, tmp_path):
    empty = chatlint("cache", "info")
    assert (empty.status, empty.out) == (0, f"{tmp_path / 'store'}: 0 bytes\n")
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
