"""The real client against a fake Hub: in this process where that is cheap, in one of its own where the
environment must be read anew."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

from tests.conftest import ROOT
from tests.source.hub.fake_hub import FakeHub
from tests.source.model_files import decoder_entry, template_processing, tokenizer_json

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def model_files(**more):
    """The small files of a model, as the Hub has them."""
    config = {
        "bos_token": "<s>",
        "eos_token": "<|im_end|>",
        "tokenizer_class": "PreTrainedTokenizerFast",
        "added_tokens_decoder": {"1": decoder_entry("<s>"), "4": decoder_entry("<|im_end|>")},
        "chat_template": TEMPLATE,
    }
    files = {
        "config.json": {"model_type": "llama", "eos_token_id": 4},
        "generation_config.json": {"eos_token_id": 4},
        "tokenizer_config.json": config,
        "tokenizer.json": tokenizer_json(template_processing("<s>")),
        "README.md": "# A model",
        "model.safetensors": b"\0" * 4096,
    }
    return {path: _bytes(content) for path, content in {**files, **more}.items()}


def _bytes(content):
    return json.dumps(content).encode() if isinstance(content, dict) else content


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str
    seconds: float
    cpu: float

    @property
    def report(self):
        return json.loads(self.out)

    @property
    def target(self):
        return self.report["targets"][0]


@pytest.fixture
def hub():
    with FakeHub() as hub:
        yield hub


@pytest.fixture
def home(tmp_path):
    """An empty home of the client, and an empty store."""
    return tmp_path


@pytest.fixture
def run(hub, home):
    """`run("check", "org/model", HF_TOKEN="…")` in a process of its own, with an environment of its own."""

    def run(*arguments, text=False, code="", **more):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(home / "hf"),
            "CHATLINT_CACHE_DIR": str(home / "store"),
            "HF_HUB_DISABLE_XET": "1",
            "COLUMNS": "200",
            **more,
        }
        environment = {name: value for name, value in environment.items() if value is not None}
        start, used = time.monotonic(), os.times()
        command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "chatlint", *arguments]
        if arguments[:1] == ("check",) and not text:
            command += ["--format", "json", "--select", "double-bos"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, timeout=120)
        now = os.times()
        cpu = now.children_user + now.children_system - used.children_user - used.children_system
        return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - start, cpu)

    return run


@pytest.fixture
def load(hub, home, monkeypatch):
    """`load("org/model")` through the client in this process, its settings turned to the fake Hub."""
    constants = pytest.importorskip("huggingface_hub.constants")
    from huggingface_hub import hf_api, utils

    from chatlint.source.load import load as real

    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_HUB_CACHE", str(home / "hf" / "hub"))
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(home / "store"))
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(hf_api.api, "endpoint", hub.url)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hf" / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(home / "hf" / "token"))
    utils.close_session()
    yield real
    utils.close_session()
