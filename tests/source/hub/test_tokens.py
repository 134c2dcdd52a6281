"""The user's token goes to the Hub that the user named, and nowhere else."""

from __future__ import annotations

import pytest

from chatlint.errors import TargetError
from tests.source.gguf_files import packed, pair, text
from tests.source.hub.conftest import model_files
from tests.source.hub.fake_hub import Large

TOKEN = "hf_vErYsEcReT0123456789"
GGUF = packed(pair("tokenizer.chat_template", 8, text("{{ messages[0].content }}")))


def add_private(hub):
    hub.tokens.add(TOKEN)
    files = model_files(
        **{"m.gguf": GGUF, "tokenizer.json": Large(b'{"model": {"x": "' + b"x" * (11 << 20) + b'"}}')}
    )
    hub.add("org/model", files, private=True, gated="auto", readers=frozenset({TOKEN}))


def tokens_by_origin(hub):
    return {(asked.origin, asked.token) for asked in hub.log}


def test_it_is_sent_to_the_hub_and_not_to_its_storage(hub, load, monkeypatch):
    add_private(hub)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert load("org/model").failures == ()
    origin, storage = hub.url.removeprefix("http://"), hub.cdn.removeprefix("http://")
    assert tokens_by_origin(hub) == {(origin, TOKEN), (storage, None)}


@pytest.mark.parametrize("where", ["GET /api/", "HEAD .*generation_config", "GET /org/.*gguf"])
def test_no_redirect_takes_it_elsewhere(hub, load, monkeypatch, where):
    add_private(hub)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.fault(where, 302, times=1, Location=f"{hub.cdn}/api/models/org/model")
    with pytest.raises(TargetError):
        load("org/model:m.gguf" if "gguf" in where else "org/model")
    storage = hub.cdn.removeprefix("http://")
    assert {token for origin, token in tokens_by_origin(hub) if origin == storage} <= {None}
    assert any(asked.origin == storage for asked in hub.log) or "HEAD" in where


def test_it_is_taken_from_the_clients_file(hub, run, home):
    add_private(hub)
    (home / "hf").mkdir()
    (home / "hf" / "token").write_text(TOKEN + "\n")
    assert run("render", "org/model").status == 0
    assert run("render", "org/model", HF_HUB_DISABLE_IMPLICIT_TOKEN="1").status == 3


@pytest.mark.parametrize(
    ("token", "fault"),
    [
        (TOKEN, ""),
        (TOKEN, "GET /api"),
        (TOKEN, "GET /cdn/"),
        ("hf_wrong_and_sEcReT", ""),
        ("hf_sEcReT\x01x", ""),
        ("hf_sEcReT\u0435", ""),
    ],
)
def test_it_is_never_printed(hub, run, token, fault):
    add_private(hub)
    if fault:
        hub.fault(fault, 500)
    done = run("check", "org/model", text=True, HF_TOKEN=token, HF_DEBUG="")
    assert "sEcReT" not in done.out + done.err
    assert "Signature" not in done.out + done.err
    assert "Traceback" not in done.err
