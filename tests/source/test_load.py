"""What cannot be loaded says why in one line; what can is bounded; the corpus is found by name."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from chatlint.errors import ChatlintError, NoTemplateError, TargetError, UsageError
from chatlint.source import bundled
from chatlint.source import folder as folder_module
from chatlint.source import load as load_module
from chatlint.source.load import load
from chatlint.source.package import TargetKind
from tests.conftest import ROOT
from tests.source.model_files import tokenizer_json, write

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"

# files of a directory (or one file), the target in it, what is said
FAULTS = {
    "missing": ({}, "gone.jinja", "there is no file or directory"),
    "empty": ({"t.jinja": b""}, "t.jinja", "is empty"),
    "only space": ({"t.jinja": b" \n"}, "t.jinja", "is empty"),
    "not UTF-8": ({"t.jinja": "grüß".encode("latin-1")}, "t.jinja", r"not UTF-8 text \(byte 2, line 1\)"),
    "UTF-16": ({"t.jinja": "x".encode("utf-16")}, "t.jinja", "not UTF-8"),
    "binary": ({"t.jinja": bytes(range(256))}, "t.jinja", "not UTF-8"),
    "zeros": ({"t.jinja": bytes(9)}, "t.jinja", "binary"),
    "LFS pointer": ({"t.jinja": LFS}, "t.jinja", "Git LFS pointer"),
    "LFS pointer to JSON": ({"tokenizer_config.json": LFS}, "tokenizer_config.json", "Git LFS pointer"),
    "web page": ({"t.jinja": b"<!DOCTYPE html>\n<html>"}, "t.jinja", "web page"),
    "GGUF on its way in": ({"t.json": b"GGUF\3\0\0\0"}, "t.json", "is a GGUF"),
    "not JSON": (
        {"tokenizer_config.json": b'{"a": 1,\n "b" 2}'},
        "tokenizer_config.json",
        "line 2, column 6",
    ),
    "JSON of another shape": (
        {"tokenizer_config.json": b"[1]"},
        "tokenizer_config.json",
        "Expecting a JSON object",
    ),
    "more after JSON": ({"tokenizer_config.json": b"{} {}"}, "tokenizer_config.json", "Extra data"),
    "truncated JSON": (
        {"tokenizer_config.json": b'{"chat_template": "a'},
        "tokenizer_config.json",
        "Unterminated",
    ),
    "deep JSON": ({"t.json": b'{"a": ' + b"[" * 100_000}, "t.json", "nested too deeply"),
    "digits": ({"t.json": b'{"a": ' + b"9" * 5_000 + b"}"}, "t.json", "not usable JSON"),
    "no template": ({"tokenizer_config.json": {}}, "tokenizer_config.json", "has no chat template"),
    "a JSON file of another kind": (
        {"special_tokens_map.json": {}},
        "special_tokens_map.json",
        "has no chat template",
    ),
    "the tokenizer alone": ({"tokenizer.json": tokenizer_json()}, "tokenizer.json", "has no chat template"),
    "directory without template": ({"d/tokenizer_config.json": {}}, "d", "has no chat template"),
    "directory with a broken file": (
        {"d/tokenizer_config.json": b"{"},
        "d",
        "no readable chat template: tokenizer_",
    ),
    "Python encoder": ({"d/config.json": {}, "d/encoding/e.py": ""}, "d", r"Python code \(encoding/e\.py\)"),
    "tekken": ({"d/tekken.json": b"{}", "d/params.json": {}}, "d", "mistral-common"),
    "no model": ({"d/notes.txt": "x", "d/e/config.json": {}}, "d", "holds no model files"),
    "empty directory": ({"d/e/x": ""}, "d", "holds no model files"),
    "weights only": ({"d/model.safetensors": b"x"}, "d", "has no chat template"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_said(name, tmp_path):
    files, target, said = FAULTS[name]
    write(tmp_path, files)
    with pytest.raises(TargetError, match=said) as caught:
        load(str(tmp_path / target))
    assert "\n" not in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "name", ["no template", "directory without template", "Python encoder", "tekken", "no model"]
)
def test_no_template_is_told_from_unreadable(name, tmp_path):
    write(tmp_path, FAULTS[name][0])
    with pytest.raises(NoTemplateError):
        load(str(tmp_path / FAULTS[name][1]))


def test_a_file_beyond_its_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(load_module, "TEMPLATE_FILE_BYTES", 10)
    write(tmp_path, {"t.jinja": "x" * 11, "d/chat_template.jinja": "ok"})
    with pytest.raises(TargetError, match="too large"):
        load(str(tmp_path / "t.jinja"))


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_a_device_is_read_only_so_far(monkeypatch):
    monkeypatch.setattr(load_module, "TEMPLATE_FILE_BYTES", 1000)
    with pytest.raises(TargetError, match="too large"):
        load("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_a_directory_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "chat_template.jinja")
    with pytest.raises(TargetError, match="not a regular file"):
        load(str(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_where_somebody_writes(tmp_path, monkeypatch):
    path = tmp_path / "t.jinja"
    os.mkfifo(path)
    with subprocess.Popen(["sh", "-c", f"sleep 0.3; printf hello > {path}"]):
        assert load(str(path)).template().text == "hello"
    monkeypatch.setattr(folder_module, "PIPE_SECONDS", 0.1)
    with pytest.raises(TargetError, match="nobody writes to the pipe"):
        load(str(path))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_closed_file(tmp_path):
    (write(tmp_path, {"t.jinja": "x"}) / "t.jinja").chmod(0)
    with pytest.raises(TargetError, match="may not be read"):
        load(str(tmp_path / "t.jinja"))


def test_a_closed_file_is_said_as_such(tmp_path, monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    write(tmp_path, {"t.jinja": "x"})
    monkeypatch.setattr("chatlint.source.folder.os.open", refused)
    with pytest.raises(TargetError, match="may not be read by this user"):
        load(str(tmp_path / "t.jinja"))


def test_a_link_that_leads_in_a_circle_is_named_and_the_rest_read(tmp_path):
    write(tmp_path, {"chat_template.jinja": "x", "additional_chat_templates/rag.jinja": "y"})
    circles = ("loop.jinja", "config.json", "additional_chat_templates/tool_use.jinja")
    for name in circles:
        (tmp_path / name).symlink_to(tmp_path / name)
    package = load(str(tmp_path))
    assert {one.name: one.text for one in package.templates} == {"default": "x", "rag": "y"}
    # What nobody reads is nobody's loss.
    assert sorted(failure.subject for failure in package.failures) == sorted(circles[1:])
    assert all(f"{one.subject} cannot be read: " in one.message for one in package.failures)


def test_a_linked_file_is_followed(tmp_path):
    # The Hub's cache is made of links.
    write(tmp_path, {"blobs/1": "x", "snapshot/config.json": {}})
    (tmp_path / "snapshot" / "chat_template.jinja").symlink_to(tmp_path / "blobs" / "1")
    assert load(str(tmp_path / "snapshot")).template().text == "x"


def test_a_dangling_link_is_said(tmp_path):
    write(tmp_path, {"config.json": {}})
    (tmp_path / "chat_template.jinja").symlink_to(tmp_path / "gone")
    with pytest.raises(TargetError, match="there is no file chat_template"):
        load(str(tmp_path))


def test_json_that_python_reads_is_read(tmp_path):
    text = '\ufeff{"model_max_length": NaN, "x": 1e999, "chat_template": "T", "y": "\\ud800"}'
    package = load(str(write(tmp_path, {"tokenizer_config.json": text.encode()})))
    assert package.template().text == "T"


@pytest.mark.parametrize("option", ["template_file", "special_tokens_file"])
@pytest.mark.parametrize("content", [None, b"", b"\xff"])
def test_a_file_given_beside_the_target_is_the_users(option, content, tmp_path):
    write(tmp_path, {"t.jinja": "x", **({} if content is None else {"given": content})})
    with pytest.raises(UsageError, match=r"--(template|special-tokens): "):
        load(str(tmp_path / "t.jinja"), **{option: str(tmp_path / "given")})


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"{{ bos_token }}\r\nx")))
    package = load("-")
    assert package.target.kind is TargetKind.STDIN
    assert package.template().text == "{{ bos_token }}\nx"
    assert package.template().place.file == "-"


def test_nothing_on_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\n")))
    with pytest.raises(TargetError, match="standard input is empty") as caught:
        load("-")
    assert "pipe" in caught.value.hint


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    entry = {"chat_template.jinja": "x", "tokenizer_config.json": {"bos_token": "<s>"}, "expected.json": {}}
    for name in ("chatml", "llama-3"):
        write(tmp_path / "corpus" / name, entry)
    write(tmp_path / "corpus" / "notes", {"README.md": ""})
    monkeypatch.setattr(bundled, "_PACKAGE", tmp_path / "chatlint")
    bundled.bundled.cache_clear()
    yield tmp_path
    bundled.bundled.cache_clear()


def test_a_corpus_entry(corpus):
    package = load("corpus:llama-3")
    assert package.target.kind is TargetKind.CORPUS
    assert package.template().special_tokens == {"bos_token": "<s>"}
    assert bundled.corpus_names() == ("chatml", "llama-3")


@pytest.mark.parametrize(
    ("name", "hint"), [("llama3", "did you mean llama-3?"), ("zzz", "corpus list"), ("../x", "list")]
)
def test_no_such_corpus_entry(name, hint, corpus):
    with pytest.raises(TargetError) as caught:
        load(f"corpus:{name}")
    assert hint in caught.value.hint


def test_the_wheel_carries_its_own(corpus):
    write(corpus / "chatlint" / "_corpus" / "inside", {"chat_template.jinja": "x"})
    bundled.bundled.cache_clear()
    assert bundled.corpus_names() == ("inside",)


def test_importing_is_cheap():
    heavy = (
        "gguf",
        "numpy",
        "huggingface_hub",
        "pydantic",
        "jinja2",
        "rich",
        "tokenizers",
        "platformdirs",
        "difflib",
    )
    script = (
        f"import sys, chatlint.source.load, chatlint.store; print([m for m in {heavy} if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.strip() == "[]"


def test_every_real_package_loads_or_says_why(shared):
    directories = [path for path in sorted((shared / "packages").iterdir()) if path.is_dir()]
    assert len(directories) > 100
    loaded = [package for directory in directories if (package := loads(directory)) is not None]
    assert len(loaded) > 100


def loads(directory):
    try:
        package = load(str(directory))
    except ChatlintError as error:
        if not error.hint:
            raise
        return None
    assert not any(template.special_tokens_assumed for template in package.templates)
    for template in (*package.templates, *package.copies):
        assert (directory / template.place.file).is_file()
    return package
