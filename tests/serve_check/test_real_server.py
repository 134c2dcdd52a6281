"""Against a real server: vLLM's Rust front end, which renders without a model. It is a program inside the
wheel of vLLM (`vllm/vllm-rs`); CHATLINT_TEST_VLLM_RS says where it was put. Skipped where it is not."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from contextlib import contextmanager

import pytest

from chatlint.engines.server import Server, ServerSilent
from chatlint.serve_check import check_server
from chatlint.serve_check.run import CASES, Outcome
from chatlint.source.encoder import Encoder
from chatlint.source.load import load
from tests.conftest import ROOT

PROGRAM = os.environ.get("CHATLINT_TEST_VLLM_RS", "")
ENTRIES = sorted(path.parent.name for path in (ROOT / "corpus").glob("*/chat_template.jinja"))[::8]
MARKS = ("<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>")

pytestmark = pytest.mark.skipif(not PROGRAM, reason="CHATLINT_TEST_VLLM_RS names no vllm-rs")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A directory that looks like a model: a tokenizer of bytes, and a few special tokens."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("model")
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={sign: number for number, sign in enumerate(signs)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in MARKS])
    tokenizer.save(str(folder / "tokenizer.json"))
    facts = {"bos_token": MARKS[0], "eos_token": MARKS[1], "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(facts))
    config = {
        "model_type": "qwen3",
        "architectures": ["Qwen3ForCausalLM"],
        "vocab_size": tokenizer.get_vocab_size(),
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@contextmanager
def running(model, template, log):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [PROGRAM, "render", str(model), "--port", str(port), "--chat-template", str(template)]
    command += ["--tool-call-parser", "hermes", "--reasoning-parser", "none"]
    process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        server = Server(f"http://127.0.0.1:{port}")
        for _ in range(100):
            time.sleep(0.1)
            try:
                server.get("/v1/models")
                break
            except ServerSilent:
                assert process.poll() is None
        yield server.url
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("entry", ENTRIES)
def test_it_makes_the_prompts_that_we_say(model, entry, tmp_path):
    template = ROOT / "corpus" / entry / "chat_template.jinja"
    (model / "chat_template.jinja").write_bytes(template.read_bytes())
    ours = load(str(model)).template("default")
    with (tmp_path / "log").open("wb") as log, running(model, template, log) as url:
        report = check_server(url, ours, encoder=Encoder(model / "tokenizer.json"))
    assert report.server.kind == "vllm-rs"
    assert len(report.comparisons) == len(CASES)
    assert [one for one in report.comparisons if one.outcome is not Outcome.SAME] == []
