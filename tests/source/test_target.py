"""TARGET strings: what each names, and what is said where they name nothing."""

from __future__ import annotations

import pytest

from chatlint.errors import TargetError, UsageError
from chatlint.source.package import Target, TargetKind
from chatlint.source.target import parse_target
from tests.source.model_files import write


@pytest.mark.parametrize(
    ("text", "locator", "revision"),
    [
        ("org/name", "org/name", None),
        ("Org.2/na-me_1.5B", "Org.2/na-me_1.5B", None),
        ("org/name@v1.0", "org/name", "v1.0"),
        ("org/name@refs/pr/7", "org/name", "refs/pr/7"),
        ("org/name:Q4_K_M", "org/name:Q4_K_M", None),
        ("org/name:sub/file-Q8_0.gguf@main", "org/name:sub/file-Q8_0.gguf", "main"),
        ("org/name@v1.0:Q8_0", "org/name:Q8_0", "v1.0"),
    ],
)
def test_hub_targets(text, locator, revision):
    assert parse_target(text) == Target(TargetKind.HUB, locator, revision)


def test_the_revision_option():
    assert parse_target("org/name", revision="v2") == Target(TargetKind.HUB, "org/name", "v2")
    assert parse_target("org/name@v2", revision="v2").revision == "v2"
    for text in ("org/name@v1", "org/name:Q8_0@v1", "org/name@v1:Q8_0"):
        with pytest.raises(UsageError, match="and --revision v2 name two revisions"):
            parse_target(text, revision="v2")
    with pytest.raises(UsageError, match="names two revisions"):
        parse_target("org/name@v1:Q8_0@v2")


@pytest.mark.parametrize("text", ["-", "corpus:chatml", "."])
def test_only_the_hub_has_revisions(text):
    with pytest.raises(UsageError, match="not on the Hub"):
        parse_target(text, revision="v2")


def test_local_targets(tmp_path, monkeypatch):
    write(
        tmp_path,
        {"org/name/config.json": {}, "t.jinja": "", "m.gguf": b"", "tokenizer_config.json": {}, "odd": ""},
    )
    monkeypatch.chdir(tmp_path)
    kinds = {
        text: parse_target(text).kind
        for text in ("t.jinja", "m.gguf", "tokenizer_config.json", "odd", "org/name")
    }
    assert kinds == {
        "t.jinja": TargetKind.FILE,
        "m.gguf": TargetKind.GGUF,
        "tokenizer_config.json": TargetKind.FILE,
        "odd": TargetKind.FILE,
        "org/name": TargetKind.DIRECTORY,  # what exists wins over a Hub model of that name
    }
    assert parse_target("-") == Target(TargetKind.STDIN, "-")
    assert parse_target("corpus:chatml") == Target(TargetKind.CORPUS, "chatml")


@pytest.mark.parametrize(
    "text",
    [
        "name",
        "./org/name",
        "/org/name",
        "../x/y",
        "a/b/c",
        "dir/chat_template.jinja",
        "dir/m.gguf",
        "org/na me",
        "org/",
        "a" * 5000,
        "a\0b",
        "org/name@",
        "org/name:",
        "häuser/modell",
    ],
)
def test_what_is_neither_is_said(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError, match="there is no file or directory") as caught:
        parse_target(text)
    assert "org/name" in caught.value.hint
    assert len(caught.value.message) < 300
    assert "\0" not in caught.value.message


def test_a_near_miss_is_suggested(tmp_path, monkeypatch):
    write(tmp_path, {"chat_template.jinja": "x"})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TargetError) as caught:
        parse_target("chat_templat.jinja")
    assert caught.value.hint == "did you mean chat_template.jinja?"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("https://huggingface.co/org/name", "org/name"),
        ("https://huggingface.co/org/name/", "org/name"),
        ("https://huggingface.co/org/name/tree/main", "org/name"),
        ("https://hub.example/org/name/blob/v1/chat_template.jinja", "org/name:chat_template.jinja@v1"),
        ("https://huggingface.co/org/name/resolve/main/m-Q8_0.gguf?download=true", "org/name:m-Q8_0.gguf"),
        ("https://huggingface.co/org/name/blob/main/config.json", "org/name"),
        ("hf://org/name", "org/name"),
        ("hf:org/name", "org/name"),
    ],
)
def test_an_address_is_no_target_but_means_one(text, meant):
    with pytest.raises(TargetError) as caught:
        parse_target(text)
    assert caught.value.hint == f"did you mean {meant}?"
    assert parse_target(meant).kind is TargetKind.HUB


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_no_target(text):
    with pytest.raises(UsageError):
        parse_target(text)
