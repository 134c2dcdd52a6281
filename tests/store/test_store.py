"""Entries are whole or absent, whoever writes at the same time, and only ours are believed."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatlint.store import Store, disk

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs user ids")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cache")


def entry(store: Store) -> Path:
    (path,) = (store.root / "rooms").rglob("*.entry")
    return path


def test_what_was_written_is_read(store):
    assert store.read("compiled", "key") is None
    assert not store.root.exists()  # reading leaves nothing behind
    store.write("compiled", "key", b"content")
    store.write("compiled", "other", b"")
    store.write("results", "key", b"another room")
    assert store.read("compiled", "key") == b"content"
    assert store.read("compiled", "other") == b""
    assert store.read("results", "key") == b"another room"
    store.write("compiled", "key", b"newer")
    assert Store(store.root).read("compiled", "key") == b"newer"
    assert store.problem == ""


@given(key=st.text(), content=st.binary(max_size=200))
def test_any_key_and_content(key, content, tmp_path_factory):
    store = Store(tmp_path_factory.getbasetemp() / "any")
    store.write("room", key, content)
    assert store.read("room", key) == content
    assert store.read("room", key + "x") is None


@pytest.mark.parametrize("room", ["", "..", "a/b", "A b", ".x", "x" * 65])
def test_a_room_has_a_plain_name(room, store):
    with pytest.raises(ValueError, match="not a room's name"):
        store.read(room, "key")
    with pytest.raises(ValueError, match="not a room's name"):
        store.write(room, "key", b"")


def test_every_truncation_reads_as_absent(store):
    store.write("room", "key", b"some content")
    path, whole = entry(store), entry(store).read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert store.read("room", "key") is None
    path.write_bytes(whole)
    assert store.read("room", "key") == b"some content"


def test_every_changed_byte_reads_as_absent(store):
    store.write("room", "key", b"some content")
    path, whole = entry(store), entry(store).read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert store.read("room", "key") is None
    path.write_bytes(whole + b"x")
    assert store.read("room", "key") is None


def test_an_entry_moved_to_another_key_is_not_taken_for_it(store):
    store.write("room", "key", b"content")
    moved = entry(store)
    store.write("room", "other", b"x")
    (other,) = set((store.root / "rooms").rglob("*.entry")) - {moved}
    other.write_bytes(moved.read_bytes())
    assert store.read("room", "other") is None


@posix
@pytest.mark.parametrize("mode", [stat.S_IWGRP, stat.S_IWOTH])
@pytest.mark.parametrize("which", ["entry", "room", "rooms", "root"])
def test_what_others_can_write_is_not_read(which, mode, store):
    store.write("room", "key", b"content")
    path = {
        "entry": entry(store),
        "room": entry(store).parent,
        "rooms": store.root / "rooms",
        "root": store.root,
    }[which]
    path.chmod(path.stat().st_mode | mode)
    fresh = Store(store.root)
    assert fresh.read("room", "key") is None
    assert "other users can write" in fresh.problem
    if which != "entry":
        fresh.write("room", "key", b"new")
        path.chmod(path.stat().st_mode & ~mode)
        assert Store(store.root).read("room", "key") == b"content"


@posix
def test_what_others_own_is_not_read(store, monkeypatch):
    store.write("room", "key", b"content")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    fresh = Store(store.root)
    assert fresh.read("room", "key") is None
    fresh.write("room", "key", b"new")
    assert "belongs to another user" in fresh.problem


@posix
def test_a_link_in_place_of_an_entry_is_not_followed(store, tmp_path):
    store.write("room", "key", b"content")
    path = entry(store)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert store.read("room", "key") is None
    assert store.problem


@posix
def test_a_link_in_place_of_a_room_is_not_followed(store, tmp_path):
    store.write("room", "key", b"content")
    room = entry(store).parent
    room.rename(tmp_path / "elsewhere")
    room.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    fresh = Store(store.root)
    assert fresh.read("room", "key") is None
    assert fresh.problem


@posix
def test_files_are_for_their_owner_alone(store):
    previous = os.umask(0)
    try:
        store.write("room", "key", b"content")
    finally:
        os.umask(previous)
    for path in (store.root, *(store.root / "rooms").rglob("*"), store.root / "rooms"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_place_that_cannot_be_written_is_a_fact_not_an_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    store = Store(tmp_path / "file" / "cache")
    store.write("room", "key", b"content")
    assert store.read("room", "key") is None
    assert store.size() == 0
    store.clear()
    assert "Not a directory" in store.problem
    assert "\n" not in store.problem


def test_a_full_disk_leaves_the_old_entry(store, monkeypatch):
    store.write("room", "key", b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.os, "replace", full)
    store.write("room", "key", b"new")
    assert store.read("room", "key") == b"old"
    assert "No space left" in store.problem
    assert [path.suffix for path in entry(store).parent.iterdir()] == [".entry"]


def test_too_large_is_not_written(store, monkeypatch):
    monkeypatch.setattr(disk, "ENTRY_BYTES", 10)
    store.write("room", "key", b"x" * 11)
    assert store.read("room", "key") is None
    assert "too large" in store.problem


def test_clear_takes_only_what_is_ours(store):
    store.write("room", "key", b"content")
    left = entry(store).with_suffix(f".{'0' * 16}.tmp")
    left.write_bytes(b"of a killed run")
    mine = entry(store).parent / "notes.txt"
    mine.write_text("keep")
    size = entry(store).stat().st_size + len(b"of a killed run")
    assert store.size() == size
    assert store.clear() == (size, 0)
    assert mine.read_text() == "keep"
    assert list(mine.parent.iterdir()) == [mine]
    assert store.size() == 0
    assert store.read("room", "key") is None


def test_the_place_comes_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "named"))
    assert Store().root == tmp_path / "named"
    monkeypatch.delenv("CHATLINT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert "chatlint" in str(Store().root)


def test_a_store_goes_to_other_processes(store):
    store.write("room", "key", b"content")
    assert pickle.loads(pickle.dumps(store)).read("room", "key") == b"content"


def _write_for_ever(root: Path) -> None:
    store = Store(root)
    for number in range(1_000_000):
        store.write("room", "key", bytes([number % 256]) * 300_000)


def test_writers_that_are_killed_never_leave_half_an_entry(tmp_path):
    store = Store(tmp_path / "cache")
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_for_ever, args=(store.root,)) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        seen = 0
        deadline = time.monotonic() + 30
        while seen < 200 and time.monotonic() < deadline:
            content = store.read("room", "key")
            if content is not None:
                seen += 1
                assert len(content) == 300_000
                assert content.count(content[:1]) == len(content)
    finally:
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()
    assert seen == 200
    assert store.problem == ""
    content = store.read("room", "key")
    assert content is not None
    assert content.count(content[:1]) == len(content) == 300_000
