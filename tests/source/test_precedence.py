"""Which template wins: the same directory is given to transformers and to load()."""

from __future__ import annotations

import pytest

from chatlint.errors import NoTemplateError
from chatlint.limits import TEMPLATES
from chatlint.source.load import load
from chatlint.source.place import file_position
from tests.source.model_files import tokenizer_json, write

CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
}


def listed(*entries):
    return {"chat_template": [{"name": name, "template": text} for name, text in entries]}


# name: (files beside tokenizer.json, keys of tokenizer_config.json)
CASES = {
    "jinja file": ({"chat_template.jinja": "FILE"}, {}),
    "config string": ({}, {"chat_template": "CONFIG"}),
    "config list": ({}, listed(("default", "D"), ("tool_use", "T"))),
    "config list without default": ({}, listed(("tool_use", "T"), ("rag", "R"))),
    "config list of one": ({}, listed(("default", "D"))),
    "config list with duplicates": ({}, listed(("default", "D1"), ("default", "D2"), ("rag", "R"))),
    "config object": ({}, {"chat_template": {"default": "D", "rag": "R"}}),
    "file hides config string": ({"chat_template.jinja": "FILE"}, {"chat_template": "CONFIG"}),
    "file hides config list": ({"chat_template.jinja": "FILE"}, listed(("default", "D"), ("tool_use", "T"))),
    "empty file wins": ({"chat_template.jinja": ""}, {"chat_template": "CONFIG"}),
    "additional": ({"chat_template.jinja": "FILE", "additional_chat_templates/rag.jinja": "RAG"}, {}),
    "additional alone hides config": (
        {"additional_chat_templates/rag.jinja": "RAG"},
        {"chat_template": "CONFIG"},
    ),
    "additional default wins": (
        {"chat_template.jinja": "FILE", "additional_chat_templates/default.jinja": "ADD"},
        {},
    ),
    "additional with dots": ({"additional_chat_templates/a.b.jinja": "AB"}, {}),
    "additional of another kind": ({"additional_chat_templates/a.txt": "A"}, {"chat_template": "CONFIG"}),
    "carriage returns in a file": ({"chat_template.jinja": b"a\r\nb\rc\n"}, {}),
    "carriage returns in JSON": ({}, {"chat_template": "a\r\nb\rc\n"}),
    "byte order mark in a file": ({"chat_template.jinja": b"\xef\xbb\xbfFILE"}, {}),
    "processor files beside config": (
        {
            "chat_template.json": {"chat_template": "LEGACY"},
            "processor_config.json": {"chat_template": "PROC"},
        },
        {"chat_template": "CONFIG"},
    ),
    "null and files": ({"chat_template.jinja": "FILE"}, {"chat_template": None}),
}


def load_both(tmp_path, transformers, files, config):
    write(
        tmp_path, {"tokenizer.json": tokenizer_json(), "tokenizer_config.json": {**CONFIG, **config}, **files}
    )
    return load(str(tmp_path)), transformers.AutoTokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_templates_are_those_of_transformers(name, tmp_path, transformers):
    package, tokenizer = load_both(tmp_path, transformers, *CASES[name])
    real = tokenizer.chat_template
    assert {template.name: template.text for template in package.templates} == (
        real if isinstance(real, dict) else {"default": real}
    )
    assert package.failures == ()


def test_duplicate_names_in_json(tmp_path, transformers):
    config = '{"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": "ONE", "chat_template": "TWO"}'
    write(tmp_path, {"tokenizer_config.json": config, "tokenizer.json": tokenizer_json()})
    package = load(str(tmp_path))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert package.template().text == tokenizer.chat_template == "TWO"
    assert [copy.text for copy in package.copies] == ["ONE"]


def test_nothing_is_lost(tmp_path):
    files = {
        "chat_template.jinja": "FILE",
        "additional_chat_templates/default.jinja": "ADD",
        "tokenizer_config.json": {**CONFIG, **listed(("default", "D1"), ("default", "D2"), ("rag", "R"))},
        "processor_config.json": {"chat_template": "PROC"},
        "chat_template.json": {"chat_template": "LEGACY"},
    }
    package = load(str(write(tmp_path, files)))
    assert [template.text for template in package.templates] == ["ADD"]
    assert {(c.text, c.place.file, c.place.json_pointer) for c in package.copies} == {
        ("FILE", "chat_template.jinja", ""),
        ("D1", "tokenizer_config.json", "/chat_template/0/template"),
        ("D2", "tokenizer_config.json", "/chat_template/1/template"),
        ("R", "tokenizer_config.json", "/chat_template/2/template"),
        ("PROC", "processor_config.json", "/chat_template"),
        ("LEGACY", "chat_template.json", "/chat_template"),
    }


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"chat_template.json": {"chat_template": "L"}, "processor_config.json": {"chat_template": "P"}},
            "P",
        ),
        ({"chat_template.json": {"chat_template": "L"}}, "L"),
    ],
)
def test_processor_files_count_where_the_tokenizer_has_none(files, expected, tmp_path):
    package = load(str(write(tmp_path, {"tokenizer_config.json": CONFIG, **files})))
    assert package.template().text == expected
    assert package.template().special_tokens["bos_token"] == "<s>"


def test_default_comes_first(tmp_path):
    config = listed(("rag", "R"), ("tool_use", "T"), ("default", "D"))
    package = load(str(write(tmp_path, {"tokenizer_config.json": config})))
    assert [template.name for template in package.templates] == ["default", "tool_use", "rag"]


@pytest.mark.parametrize(
    "broken", [[{"name": "default"}], [{"name": 1, "template": "x"}], ["x"], 7, {"default": None}, True]
)
def test_unusable_entries_are_said(broken, tmp_path):
    write(tmp_path, {"tokenizer_config.json": {"chat_template": broken}})
    with pytest.raises(Exception, match="a template's text"):
        load(str(tmp_path))
    package = load(str(write(tmp_path, {"chat_template.jinja": "FILE"})))
    assert [failure.stage for failure in package.failures] == ["source"]
    assert package.failures[0].subject.startswith("tokenizer_config.json#/chat_template")


def test_templates_without_number_are_cut_off_and_said(tmp_path):
    many = listed(*((f"t{number}", "x") for number in range(2_000)))
    package = load(str(write(tmp_path, {"tokenizer_config.json": many})))
    assert len(package.templates) == TEMPLATES
    assert package.failures[0].message == f"only {TEMPLATES} of its 2000 templates are read"


def test_a_broken_side_file_does_not_hide_the_template(tmp_path):
    files = {"chat_template.jinja": "x", "generation_config.json": "{", "special_tokens_map.json": b"\xff"}
    package = load(str(write(tmp_path, files)))
    assert package.template().text == "x"
    assert {failure.subject for failure in package.failures} == {
        "generation_config.json",
        "special_tokens_map.json",
    }


def test_template_option_keeps_the_tokens_and_the_old_template(tmp_path):
    write(tmp_path / "model", {"tokenizer_config.json": {**CONFIG, "chat_template": "OLD"}})
    write(tmp_path, {"new.jinja": "NEW"})
    package = load(str(tmp_path / "model"), template_file=str(tmp_path / "new.jinja"))
    assert package.template().text == "NEW"
    assert package.template().place.file == "new.jinja"
    assert package.template().special_tokens["bos_token"] == "<s>"
    assert not package.template().special_tokens_assumed
    assert [copy.text for copy in package.copies] == ["OLD"]


def test_template_option_gives_a_base_model_one(tmp_path):
    write(tmp_path / "model", {"tokenizer_config.json": CONFIG})
    write(tmp_path, {"new.jinja": "NEW"})
    with pytest.raises(NoTemplateError):
        load(str(tmp_path / "model"))
    assert load(str(tmp_path / "model"), template_file=str(tmp_path / "new.jinja")).template().text == "NEW"


@pytest.mark.parametrize(
    ("name", "content", "tokens"),
    [
        ("tokenizer_config.json", {**CONFIG, "chat_template": "ab\ncd"}, True),
        ("chat_template.json", {"chat_template": "ab\ncd"}, False),
        ("processor_config.json", {"chat_template": "ab\ncd"}, False),
        ("renamed.json", {**CONFIG, "chat_template": "ab\ncd"}, True),
        ("plain.json", {"chat_template": "ab\ncd"}, False),
    ],
)
def test_a_json_file_by_itself(name, content, tokens, tmp_path):
    package = load(str(write(tmp_path, {name: content}) / name))
    template = package.template()
    assert template.text == "ab\ncd"
    assert template.special_tokens_assumed is not tokens
    assert [file.path for file in package.files] == [name]
    text = (tmp_path / name).read_text()
    line, column = file_position(template.place, 2, 1)
    assert line == 1
    assert text[column - 1 :].startswith("cd")
