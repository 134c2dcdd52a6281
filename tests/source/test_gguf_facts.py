"""What a GGUF means for chat: templates, tokens, who adds BOS, stops; alone, split, and beside other files."""

from __future__ import annotations

import pytest

from chatlint.errors import TargetError
from chatlint.source.gguf_facts import first_part, is_side_file
from chatlint.source.load import load
from chatlint.source.package import AddedToken, TargetKind
from tests.source.gguf_files import TOKENS, TYPES, packed, pair, strings, text, write_gguf
from tests.source.model_files import write

pytest.importorskip("gguf")


def test_a_gguf_by_itself(tmp_path):
    path = write_gguf(tmp_path / "m.gguf", add_bos_token=True, eom_token_id=3)
    package = load(str(path))
    template = package.template()
    assert package.target.kind is TargetKind.GGUF
    assert (template.text, template.place.file, template.place.key) == (
        "{{ x }}",
        "m.gguf",
        "tokenizer.chat_template",
    )
    assert template.special_tokens == {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<unk>"}
    assert not template.special_tokens_assumed
    tokenizer = package.tokenizer
    assert (tokenizer.bos, tokenizer.eos, tokenizer.pad) == ("<s>", "</s>", "<unk>")
    assert (tokenizer.end_of_turn, tokenizer.end_of_message) == ("<|im_end|>", "<|im_start|>")
    assert (tokenizer.adds_bos, tokenizer.adds_eos) == (True, False)
    assert tokenizer.added_tokens == tuple(
        AddedToken(index, token, kind == 3)
        for index, (token, kind) in enumerate(zip(TOKENS, TYPES, strict=True))
        if kind in (3, 4)
    )
    assert dict(package.generation.eos_ids) == {
        "m.gguf#tokenizer.ggml.eos_token_id": (2,),
        "m.gguf#tokenizer.ggml.eot_token_id": (4,),
        "m.gguf#tokenizer.ggml.eom_token_id": (3,),
    }
    facts = package.ggufs[0]
    assert facts.general == {"architecture": "llama", "type": "model", "name": "tiny"}
    assert (facts.tokenizer_model, facts.pre, facts.version) == ("gpt2", "llama-bpe", 3)
    assert facts.kinds == {2: 1, 3: 4, 1: 2, 4: 1, 5: 1}
    assert facts.vocabulary.index("wörld") == 6
    assert package.files[0].bytes == path.stat().st_size


def test_named_templates(tmp_path):
    named = [{"name": n, "template": t} for n, t in (("rag", "R"), ("tool_use", "T"), ("default", "D"))]
    package = load(str(write_gguf(tmp_path / "m.gguf", template=named)))
    assert [(t.name, t.text, t.place.key) for t in package.templates] == [
        ("default", "D", "tokenizer.chat_template"),
        ("tool_use", "T", "tokenizer.chat_template.tool_use"),
        ("rag", "R", "tokenizer.chat_template.rag"),
    ]
    assert package.failures == ()


def test_what_is_named_and_missing_is_said(tmp_path):
    pairs = (
        pair("tokenizer.chat_templates", 9, strings(["rag", "gone"])),
        pair("tokenizer.chat_template", 8, text(b"bad \xff bytes")),
        pair("tokenizer.chat_template.rag", 8, text("R")),
    )
    (tmp_path / "m.gguf").write_bytes(packed(*pairs))
    package = load(str(tmp_path / "m.gguf"))
    assert [(failure.subject, failure.message[:20]) for failure in package.failures] == [
        ("m.gguf#tokenizer.chat_template", "the text is not UTF-"),
        ("m.gguf#tokenizer.chat_templates", "it names 'gone', whi"),
    ]
    assert package.template().text == "bad \udcff bytes"
    assert package.template().special_tokens_assumed  # no vocabulary to look ids up in


# llama.cpp, where the file does not say: by the kind of tokenizer and its splitting (facts of 2026-10).
@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"model": "llama"}, (True, False)),
        ({"model": "llama", "add_bos_token": False}, (False, False)),
        ({"model": "gpt2", "pre": "qwen2"}, (False, False)),
        ({"model": "gpt2", "pre": "llama-bpe"}, (True, False)),
        ({"model": "gpt2", "pre": "tekken"}, (True, False)),
        ({"model": "gpt2", "add_bos_token": True, "add_eos_token": True}, (True, True)),
        ({"model": "t5"}, (False, True)),
        ({"model": "bert"}, (True, None)),
        ({"model": "gemma4", "add_bos_token": False}, (True, None)),
        ({"model": "rwkv"}, (None, None)),
        ({}, (None, None)),
    ],
    ids=str,
)
def test_who_adds(keys, expected, tmp_path):
    pairs = [pair("tokenizer.chat_template", 8, text("x"))]
    for key, value in keys.items():
        kind, data = (7, bytes([value])) if isinstance(value, bool) else (8, text(value))
        pairs.append(pair(f"tokenizer.ggml.{key}", kind, data))
    (tmp_path / "m.gguf").write_bytes(packed(*pairs))
    tokenizer = load(str(tmp_path / "m.gguf")).tokenizer
    assert (tokenizer.adds_bos, tokenizer.adds_eos) == expected


def test_any_part_of_a_split_model_is_read_by_its_first(tmp_path):
    write_gguf(tmp_path / "m.gguf", shards=3)
    parts = sorted(path.name for path in tmp_path.glob("*.gguf"))
    assert len(parts) == 3
    for part in parts:
        package = load(str(tmp_path / part))
        assert package.template().place.file == parts[0]
    assert [file.path for file in load(str(tmp_path)).files] == [parts[0]]


def test_a_split_model_without_its_first_part(tmp_path):
    write_gguf(tmp_path / "m.gguf", shards=2)
    (tmp_path / first_part("m-00002-of-00002.gguf")).unlink()
    with pytest.raises(TargetError, match=r"m-00001-of-00002\.gguf is missing"):
        load(str(tmp_path / "m-00002-of-00002.gguf"))


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ((pair("general.architecture", 8, text("clip")),), "a projector"),
        ((pair("general.type", 8, text("mmproj")),), "a projector"),
        ((pair("general.type", 8, text("imatrix")),), "an importance matrix"),
        ((pair("general.type", 8, text("adapter")),), "an adapter"),
        ((pair("split.no", 2, b"\1\0"),), "part 1 of a split model"),
        ((pair("general.architecture", 8, text("llama")),), "has no chat template"),
    ],
)
def test_what_is_no_model_is_said(pairs, said, tmp_path):
    (tmp_path / "m.gguf").write_bytes(packed(*pairs))
    with pytest.raises(TargetError, match=said):
        load(str(tmp_path / "m.gguf"))


@pytest.mark.parametrize(
    "name", ["mmproj-model-f16.gguf", "x/model-mmproj.gguf", "imatrix.gguf", "a.imatrix.gguf"]
)
def test_side_files_by_name(name):
    assert is_side_file(name)
    assert not is_side_file("model-Q4_K_M.gguf")


def test_ggufs_of_a_directory_are_its_templates_where_nothing_else_has_one(tmp_path):
    write(tmp_path, {"config.json": {"eos_token_id": 9}, "mmproj-x.gguf": b"junk"})
    write_gguf(tmp_path / "b.gguf", template="B")
    write_gguf(tmp_path / "a.gguf", template="A")
    package = load(str(tmp_path))
    assert [(t.text, t.place.file) for t in package.templates] == [("A", "a.gguf")]
    assert [(t.text, t.place.file) for t in package.copies] == [("B", "b.gguf")]
    assert package.tokenizer.source == ("a.gguf",)
    assert package.failures == ()
    assert package.generation.eos_ids["config.json"] == (9,)


def test_ggufs_beside_a_template_are_copies_with_their_own_tokens(tmp_path):
    write(tmp_path, {"tokenizer_config.json": {"chat_template": "HF", "bos_token": "<b>"}})
    write_gguf(tmp_path / "a.gguf", template="A")
    package = load(str(tmp_path))
    assert package.template().text == "HF"
    assert package.template().special_tokens == {"bos_token": "<b>"}
    assert package.copies[0].special_tokens["bos_token"] == "<s>"
    assert package.tokenizer.bos == "<b>"


def test_a_broken_gguf_beside_a_template_is_said(tmp_path):
    write(tmp_path, {"chat_template.jinja": "x", "a.gguf": b"GGUF"})
    package = load(str(tmp_path))
    assert [failure.subject for failure in package.failures] == ["a.gguf"]


def test_beyond_the_limit_ggufs_are_named_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("chatlint.source.directory.GGUF_FILES", 2)
    content = packed(pair("tokenizer.chat_template", 8, text("x")))
    package = load(str(write(tmp_path, {f"{name}.gguf": content for name in "abc"})))
    assert len(package.ggufs) == 2
    assert [failure.subject for failure in package.failures] == ["c.gguf"]


def test_a_gguf_without_its_suffix_is_known_by_its_first_bytes(tmp_path):
    write_gguf(tmp_path / "m.gguf").rename(tmp_path / "0123abcd")
    assert load(str(tmp_path / "0123abcd")).target.kind is TargetKind.GGUF


def test_another_template_for_a_gguf(tmp_path):
    write_gguf(tmp_path / "m.gguf")
    write(tmp_path, {"new.jinja": "NEW"})
    package = load(str(tmp_path / "m.gguf"), template_file=str(tmp_path / "new.jinja"))
    assert package.template().text == "NEW"
    assert package.template().special_tokens["bos_token"] == "<s>"
    assert package.tokenizer.eos == "</s>"


def test_given_tokens_win_over_those_of_a_gguf(tmp_path):
    write_gguf(tmp_path / "m.gguf")
    write(tmp_path, {"tokens.json": {"bos_token": "<b>"}})
    tokens = (
        load(str(tmp_path / "m.gguf"), special_tokens_file=str(tmp_path / "tokens.json"))
        .template()
        .special_tokens
    )
    assert (tokens["bos_token"], tokens["eos_token"]) == ("<b>", "</s>")
