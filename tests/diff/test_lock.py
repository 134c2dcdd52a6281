"""A lock holds templates to what they did."""

from __future__ import annotations

import json

import pytest

from chatlint.config import Settings
from chatlint.diff.lock import LockState, against_lock, lock_target, read_lock, write_lock
from chatlint.errors import UsageError

from .test_drift import PLAIN


@pytest.fixture
def locked(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))

    def lock(text, **settings):
        (tmp_path / "t.jinja").write_text(text)
        return lock_target(str(tmp_path / "t.jinja"), Settings(**settings))

    return lock


def state(before, now):
    (result,) = against_lock("t", before, now)
    assert result.holds == (result.state in ("same", "cosmetic"))
    return result.state


def test_states(locked):
    before = locked(PLAIN)
    assert state(before, locked(PLAIN)) is LockState.SAME
    assert state(before, locked("{#- a remark -#}" + PLAIN)) is LockState.COSMETIC
    assert state(before, locked(PLAIN.replace("<call>", "<do>"))) is LockState.CHANGED
    assert state(before, {}) is LockState.GONE
    assert state({}, before) is LockState.NEW
    assert state(before, locked(PLAIN, host="transformers-4.57")) is LockState.OUTDATED


def test_a_worker_renders_the_same(locked):
    assert locked(PLAIN) == locked(PLAIN, untrusted=True)


def test_a_file_keeps_it(locked, tmp_path):
    path = tmp_path / "chatlint.lock"
    targets = {"b": locked(PLAIN), "a": locked(PLAIN + "x")}
    write_lock(path, targets)
    assert read_lock(path) == targets
    assert list(json.loads(path.read_text())["targets"]) == ["a", "b"]
    first = path.read_bytes()
    write_lock(path, dict(reversed(targets.items())))
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": "chatlint.lock/1"}',
        '{"schema": "chatlint.lock/1", "targets": {"a": {"b": {}}}}',
    ],
)
def test_error_for_what_is_no_lock(tmp_path, text):
    (tmp_path / "l").write_text(text)
    with pytest.raises(UsageError, match="is not a lock"):
        read_lock(tmp_path / "l")
    with pytest.raises(UsageError, match="cannot be read"):
        read_lock(tmp_path / "missing")
