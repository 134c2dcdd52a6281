"""A lock holds templates to what they did."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chatlint.config import Settings
from chatlint.diff.lock import LockState, against_lock, lock_target, read_lock, write_lock
from chatlint.errors import UsageError
from tests.source.gguf_files import write_gguf

from .test_drift import ENDLESS, LOOPING, PLAIN


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


BROKEN = "{% for m in messages %}"
ENDED = PLAIN.replace("<|end|>", "<|fin|>")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (LOOPING, LOOPING.replace("<|end|>", "<|fin|>"), LockState.CHANGED),
        (PLAIN, LOOPING.replace("<|end|>", "<|fin|>"), LockState.CHANGED),
        (LOOPING, ENDED, LockState.CHANGED),
        (LOOPING, "{#- x -#}" + LOOPING, LockState.UNKNOWN),
        (LOOPING, PLAIN, LockState.UNKNOWN),
        (ENDLESS, ENDLESS + "y", LockState.UNKNOWN),
        (BROKEN, BROKEN + "x", LockState.UNKNOWN),
        (BROKEN, PLAIN, LockState.CHANGED),
        (PLAIN, BROKEN, LockState.CHANGED),
        (LOOPING, LOOPING, LockState.SAME),
    ],
)
def test_what_was_not_rendered_says_nothing(locked, before, after, expected):
    assert state(locked(before), locked(after)) is expected


def test_what_differs_is_said(locked):
    before = locked(PLAIN)
    (other_host,) = against_lock("t", before, locked(PLAIN, host="vllm"))
    assert (other_host.state, other_host.differs) == (LockState.OUTDATED, ("host",))
    assert other_host.message == "locked on transformers-5.24, asked on vllm"
    (unknown,) = against_lock("t", locked(LOOPING), locked("{#- x -#}" + LOOPING))
    assert unknown.differs == ("text",)
    assert unknown.unrendered == unknown_cases(locked(LOOPING)) > 300


def unknown_cases(locked):
    return locked["default"].marks.count("---")


def test_special_tokens_and_stops_are_behaviour(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))

    def model(*, end, text=PLAIN, ids=(2,)):
        config = {"bos_token": "<s>", "eos_token": end, "chat_template": text}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
        (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": list(ids)}))
        return lock_target(str(tmp_path), Settings())

    before = model(end="<|end|>")
    assert state(before, model(end="<|end|>")) is LockState.SAME
    for now, differs in (
        (model(end="<|x|>"), ("special tokens", "stops")),
        (model(end="<|end|>", ids=(2, 3)), ("stops",)),
        (model(end="<|x|>", text="{#- x -#}" + PLAIN), ("text", "special tokens", "stops")),
    ):
        (found,) = against_lock("t", before, now)
        assert (found.state, found.differs, found.holds) == (LockState.TOKENS, differs, False)
    printed = model(end="<|end|>", text=PLAIN + "{{ eos_token }}")
    assert state(printed, model(end="<|x|>", text=PLAIN + "{{ eos_token }}")) is LockState.CHANGED


def test_a_renamed_gguf_is_the_same(tmp_path, monkeypatch):
    pytest.importorskip("gguf")
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    path = write_gguf(tmp_path / "a.gguf", template=PLAIN)
    before = lock_target(str(path), Settings())
    assert state(before, lock_target(str(path.rename(tmp_path / "b.gguf")), Settings())) is LockState.SAME


def test_a_lock_without_what_is_kept_now_claims_nothing(locked):
    """Its signature is of other cases, and may be of none."""
    old = {"default": replace(locked(PLAIN)["default"], by_case="", stops="", cases="0" * 64)}
    assert state(old, locked(PLAIN)) is LockState.SAME
    assert state(old, locked("{#- x -#}" + PLAIN)) is LockState.OUTDATED
    cut = {"default": replace(locked(PLAIN)["default"], by_case="abc")}
    assert state(cut, locked("{#- x -#}" + PLAIN)) is LockState.UNKNOWN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"schema": "chatlint.lock/9", "targets": {}}', 'schema: expected "chatlint.lock/1", found "chatli'),
        ("[]", "is not a lock: expected an object, found a list"),
        ('{"schema": "chatlint.lock/1"}', "`targets` is missing"),
        ('{"schema": "chatlint.lock/1", "targets": []}', "targets: expected an object, found a list"),
        (
            '{"schema": "chatlint.lock/1", "targets": {"a": {"b": {}}}}',
            "targets › a › b: `sha256` is missing",
        ),
    ],
)
def test_what_is_wrong_with_a_lock_is_said(tmp_path, text, said):
    (tmp_path / "l").write_text(text)
    with pytest.raises(UsageError) as raised:
        read_lock(tmp_path / "l")
    assert said in raised.value.message


def test_digests_are_digests(locked, tmp_path):
    path = tmp_path / "l"
    write_lock(path, {"a": locked(PLAIN)})
    for name, value in (("host", 3), ("cases", "x"), ("by_case", "..."), ("stops", None)):
        content = json.loads(path.read_text())
        content["targets"]["a"]["default"][name] = value
        (tmp_path / "m").write_text(json.dumps(content))
        with pytest.raises(UsageError, match=f"targets › a › default › {name}: expected a text"):
            read_lock(tmp_path / "m")


def test_members_of_later_versions_are_left_out(locked, tmp_path):
    path = tmp_path / "l"
    write_lock(path, {"a": locked(PLAIN)})
    content = json.loads(path.read_text())
    content["targets"]["a"]["default"]["later"] = 1
    path.write_text(json.dumps(content))
    assert read_lock(path) == {"a": locked(PLAIN)}
