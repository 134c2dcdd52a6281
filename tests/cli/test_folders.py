"""`check --folders`: hooks are given files, and models are judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chatlint.cli.folders import folders_of
from tests.conftest import ROOT


@pytest.fixture
def model(tmp_path):
    for name in ("tokenizer_config.json", "chat_template.jinja", "notes.txt"):
        (tmp_path / "m" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "m" / name).write_text("{}" if name.endswith("json") else "{{ messages[0].content }}")
    return tmp_path / "m"


def test_a_model_is_judged_once(model):
    files = [str(model / name) for name in ("tokenizer_config.json", "chat_template.jinja")]
    assert folders_of([*files, "org/name", "corpus:qwen3", "-"]) == [
        str(model),
        "org/name",
        "corpus:qwen3",
        "-",
    ]
    assert folders_of([str(model / "additional_chat_templates" / "rag.jinja")]) == [str(model)]
    assert folders_of(["x.gguf", str(model / "notes.txt"), str(model / "config.json")]) == [
        "x.gguf",
        str(model / "notes.txt"),
        str(model / "config.json"),
    ]


def test_a_tokenizer_file_without_a_template_is_no_fault_of_a_hook(chatlint, model):
    file = str(model / "tokenizer_config.json")
    assert chatlint("check", file).status == 3
    done = chatlint("check", "--folders", "--fail-on", "never", file, str(model / "chat_template.jinja"))
    assert (done.status, done.err) == (0, "")
    assert done.out.count("── ") == 1


def hook():
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    return dict(re.findall(r"^[- ] (\w+): (.*)$", text, re.M))


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("chat_template.jinja", True),
        ("models/a/chat_template.jinja", True),
        ("tokenizer_config.json", True),
        ("m/chat_template.json", True),
        ("m-Q4_K_M.gguf", True),
        ("m/additional_chat_templates/tool_use.jinja", True),
        ("web/index.jinja", False),
        ("my_chat_template.jinja", False),
        ("tokenizer_config.json.bak", False),
        ("config.json", False),
    ],
)
def test_the_hook_is_given_what_holds_templates(path, wanted):
    assert bool(re.search(hook()["files"], path)) == wanted


def test_the_hook_runs_a_command_that_there_is(chatlint, model, monkeypatch):
    program, *arguments = hook()["entry"].split()
    assert program == "chatlint"
    monkeypatch.chdir(model)
    done = chatlint(*arguments, "--fail-on", "never", str(Path("chat_template.jinja")))
    assert (done.status, done.err) == (0, "")
    assert "chat_template.jinja: info[tools-not-rendered]" in done.out
