"""The real Hub, where there is a network: `pytest -m live`. Small public repositories only."""

from __future__ import annotations

import socket

import pytest

from chatlint.errors import TargetError
from chatlint.source.load import load

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def hub_in_reach(monkeypatch, tmp_path):
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    try:
        socket.create_connection(("huggingface.co", 443), timeout=5).close()
    except OSError:
        pytest.skip("needs huggingface.co")


def test_a_model():
    package = load("Qwen/Qwen2.5-0.5B-Instruct")
    assert package.template().text
    assert package.tokenizer.adds_bos is False
    assert len(package.target.revision) == 40
    assert load("Qwen/Qwen2.5-0.5B-Instruct", offline=True).templates == package.templates


def test_a_gguf():
    package = load("Qwen/Qwen2.5-0.5B-Instruct-GGUF:q8_0")
    assert package.template().place.key == "tokenizer.chat_template"


def test_none():
    with pytest.raises(TargetError, match="does not exist"):
        load("chatlint-conformance/there-is-no-such-model")
