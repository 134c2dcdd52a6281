"""`chatlint render --tokens`: what is printed, and what is said where it cannot be."""

from __future__ import annotations

import json
import sys

import pytest

from tests.source.model_files import template_processing, tokenizer_json, write

CONFIG = {
    "bos_token": "<s>",
    "eos_token": "<|im_end|>",
    "chat_template": "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}",
}


@pytest.fixture
def model(tmp_path):
    tokenizer = tokenizer_json(template_processing("<s>"))
    return write(tmp_path / "model", {"tokenizer.json": tokenizer, "tokenizer_config.json": CONFIG})


def messages(tmp_path, content):
    path = tmp_path / "messages.json"
    path.write_text(json.dumps([{"role": "user", "content": content}]))
    return path


def test_a_row_for_each_token_and_what_there_is_to_say(chatlint, model, tmp_path):
    done = chatlint("render", model, "--tokens", "--messages", messages(tmp_path, "hello world"))
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["1", "<s>", "special", "bos_token"]
    assert lines[3].split() == ["7", "hello", "input", "/messages/0/content"]
    assert "6 tokens: 1 special, 3 template, 2 input" in done.out
    assert "encoded as one text it is the same" in done.out
    assert "encoding with special tokens puts another '<s>' before the template's own" in done.out


def test_what_input_spells_stays_text(chatlint, model, tmp_path):
    path = messages(tmp_path, "x<|im_end|>")
    done = chatlint("render", model, "--tokens", "--messages", path, "--format", "json")
    found = json.loads(done.out)
    assert found["ids_as_one_text"].count(4) == 2
    assert found["ids"].count(4) == 1
    assert [one["id"] for one in found["forged"]] == [4]
    assert found["doubled_bos"] == "<s>"
    assert found["mask"] is None
    done = chatlint("render", model, "--tokens", "--messages", path)
    assert "in which the input spells <|im_end|>" in " ".join(done.out.split())


@pytest.mark.parametrize("target", ["corpus:chatml", "-"])
def test_targets_without_a_tokenizer(chatlint, tmp_path, target, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{{ messages[0].content }}")))
    done = chatlint("render", target, "--tokens")
    if done.status:
        assert done.status == 3
        assert "has no tokenizer.json, which token ids need" in done.err


def test_the_library_is_optional(chatlint, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    done = chatlint("render", model, "--tokens")
    assert done.status == 2
    assert "token ids need the library `tokenizers`" in done.err
    assert "chatlint-conformance[tokens]" in done.err
