"""Who adds BOS and EOS, and which tokens are added ones: compared with transformers and tokenizers."""

from __future__ import annotations

import json
import shutil

import pytest

from chatlint.source.affixes import affixes
from chatlint.source.load import load
from chatlint.source.package import GenerationFacts
from chatlint.source.tokenizer import TokenizerFiles, generation_facts, tokenizer_facts
from tests.source.model_files import BYTE_LEVEL, decoder_entry, template_processing, tokenizer_json, write

PROCESSORS = {
    "none": None,
    "byte level": BYTE_LEVEL,
    "nothing": template_processing(),
    "bos": template_processing("<s>"),
    "eos": template_processing(after=("</s>",)),
    "bos and eos": template_processing("<s>", after=("</s>",)),
    "another token": template_processing("<sep>"),
    "two": template_processing("<sep>", "<s>"),
    "bert": {"type": "BertProcessing", "cls": ["<s>", 1], "sep": ["</s>", 2]},
    "roberta": {
        "type": "RobertaProcessing",
        "cls": ["<s>", 1],
        "sep": ["</s>", 2],
        "trim_offsets": True,
        "add_prefix_space": True,
    },
    "sequence": {"type": "Sequence", "processors": [BYTE_LEVEL, template_processing("<s>")]},
}
FLAGS = [{}, {"add_bos_token": True}, {"add_bos_token": False, "add_eos_token": True}]
CLASSES = [
    "PreTrainedTokenizerFast",
    "LlamaTokenizer",
    "GemmaTokenizer",
    "CodeLlamaTokenizer",
    "GPTNeoXTokenizer",
]


def encoded(tokenizer) -> list[str]:
    return tokenizer.convert_ids_to_tokens(tokenizer("x")["input_ids"])


@pytest.mark.parametrize("name", PROCESSORS)
def test_affixes_are_those_of_tokenizers(name):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(PROCESSORS[name])))
    tokens = tokenizer.encode("x").tokens
    at = tokens.index("x")
    assert affixes(PROCESSORS[name]) == (tuple(tokens[:at]), tuple(tokens[at + 1 :]))


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "Unheard"},
        {"type": ["x"]},
        [],
        "ByteLevel",
        {"type": "TemplateProcessing"},
        {"type": "TemplateProcessing", "single": [{"Other": 1}]},
        {"type": "BertProcessing", "cls": [], "sep": ["x", 1]},
        {"type": "Sequence", "processors": [{"type": "Unheard"}]},
        {"type": "Sequence", "processors": [template_processing("<s>"), template_processing("<sep>")]},
    ],
)
def test_what_is_not_known_is_not_guessed(odd):
    assert affixes(odd) is None


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("name", ["byte level", "nothing", "bos", "bos and eos", "another token", "sequence"])
@pytest.mark.parametrize("class_name", CLASSES)
def test_who_adds_is_what_transformers_does(class_name, name, flags, tmp_path, transformers):
    config = {
        "tokenizer_class": class_name,
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        **flags,
    }
    bpe = class_name != "PreTrainedTokenizerFast"
    files = {"tokenizer.json": tokenizer_json(PROCESSORS[name], bpe=bpe), "tokenizer_config.json": config}
    facts = load(str(write(tmp_path, {"chat_template.jinja": "x", **files}))).tokenizer
    tokens = encoded(transformers.AutoTokenizer.from_pretrained(tmp_path))
    assert (facts.adds_bos, facts.adds_eos) == ("<s>" in tokens, "</s>" in tokens)


# Measured with transformers 4.57.6: the class that rebuilds the post-processor obeys the configuration.
@pytest.mark.parametrize(
    ("class_name", "flags", "expected"),
    [
        ("PreTrainedTokenizerFast", {"add_bos_token": True}, (False, False)),
        ("Qwen2TokenizerFast", {}, (False, False)),
        ("LlamaTokenizerFast", {}, (True, False)),
        ("LlamaTokenizer", {"add_bos_token": False, "add_eos_token": True}, (False, True)),
        ("GemmaTokenizer", {}, (True, False)),
        ("GPTNeoXTokenizer", {}, (False, False)),
        ("CohereTokenizerFast", {}, (True, False)),
        (None, {}, (None, None)),
    ],
)
def test_who_added_before_5(class_name, flags, expected):
    config = {"bos_token": "<s>", "eos_token": "</s>", **flags}
    if class_name:
        config["tokenizer_class"] = class_name
    files = TokenizerFiles(config, head={"post_processor": BYTE_LEVEL}, paths=frozenset({"tokenizer.json"}))
    facts = tokenizer_facts(files, {"bos_token": "<s>", "eos_token": "</s>"})
    assert (facts.adds_bos_before_5, facts.adds_eos_before_5) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tokenizer_config.json"}, (None, None)),
        ({"tokenizer_config.json", "vocab.json"}, (None, None)),
        ({"tokenizer_config.json", "tokenizer.model"}, (False, True)),
        ({"tokenizer_config.json", "tokenizer.json"}, (None, None)),
    ],
)
def test_no_verdict_where_a_needed_file_is_absent(files, expected):
    config = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>"}
    facts = tokenizer_facts(TokenizerFiles(config, paths=frozenset(files)), {"bos_token": "<s>"})
    assert (facts.adds_bos, facts.adds_bos_before_5 if "tokenizer.json" not in files else None) == expected


def test_added_tokens_of_both_files(tmp_path, transformers):
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "added_tokens_decoder": {
            "4": decoder_entry("<|im_end|>", special=False),
            "11": decoder_entry("<new>"),
        },
    }
    write(
        tmp_path,
        {"chat_template.jinja": "x", "tokenizer.json": tokenizer_json(), "tokenizer_config.json": config},
    )
    found = load(str(tmp_path)).tokenizer.added_tokens
    real = transformers.AutoTokenizer.from_pretrained(tmp_path).added_tokens_decoder
    assert {(token.id, token.text, token.special) for token in found} == {
        (number, token.content, token.special) for number, token in real.items()
    }


def test_added_tokens_json_where_nothing_else_lists_them(tmp_path):
    config = {"eos_token": "<|im_end|>", "chat_template": "x"}
    write(
        tmp_path,
        {"tokenizer_config.json": config, "added_tokens.json": {"<|im_end|>": 5, "<tool>": 3, "odd": "x"}},
    )
    found = load(str(tmp_path)).tokenizer.added_tokens
    assert [(token.id, token.text, token.special) for token in found] == [
        (3, "<tool>", False),
        (5, "<|im_end|>", True),
    ]


def test_no_file_lists_tokens_is_unknown_not_none_of_them(tmp_path):
    write(tmp_path, {"tokenizer_config.json": {"chat_template": "x"}})
    assert load(str(tmp_path)).tokenizer.added_tokens is None


@pytest.mark.parametrize(
    ("generation", "config", "expected", "listed"),
    [
        (None, None, {}, ()),
        (
            {"eos_token_id": 5},
            {"eos_token_id": [1, 2]},
            {"generation_config.json": (5,), "config.json": (1, 2)},
            ("config.json",),
        ),
        ({}, {"text_config": {"eos_token_id": 3}}, {"config.json#/text_config": (3,)}, ()),
        (
            {"eos_token_id": [1, True, "x", None]},
            {"eos_token_id": None},
            {"generation_config.json": (1,)},
            ("generation_config.json",),
        ),
        ({"eos_token_id": "5"}, {"text_config": [1]}, {}, ()),
    ],
)
def test_end_ids_by_file(generation, config, expected, listed):
    facts = generation_facts(generation, config)
    given = generation is not None
    assert facts == GenerationFacts(expected, has_generation_config=given, listed=frozenset(listed))


def real_tokenizers(shared):
    return sorted(path.parent for path in (shared / "packages").glob("*/tokenizer.json"))


def test_facts_of_real_tokenizers(shared, tmp_path, transformers):
    """Every tokenizer.json there is: the library, transformers on a copy, and our facts agree."""
    tokenizers = pytest.importorskip("tokenizers")
    directories = real_tokenizers(shared)
    assert directories
    for directory in directories:
        facts = load(
            str(directory), template_file=str(write(tmp_path, {"t.jinja": "x"}) / "t.jinja")
        ).tokenizer
        library = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
        plain, full = (
            library.encode("hello", add_special_tokens=special).tokens for special in (False, True)
        )
        at = next(i for i in range(len(full)) if full[i : i + len(plain)] == plain)
        assert (facts.added_before, facts.added_after) == (tuple(full[:at]), tuple(full[at + len(plain) :]))
        copy = shutil.copytree(directory, tmp_path / directory.name)
        (copy / "config.json").unlink(missing_ok=True)  # names models this transformers does not know
        real = transformers.AutoTokenizer.from_pretrained(copy)
        tokens = encoded(real)
        assert facts.adds_bos == (tokens[0] == real.bos_token), directory
        assert facts.adds_eos == (tokens[-1] == real.eos_token), directory
        assert (facts.bos, facts.eos, facts.pad) == (real.bos_token, real.eos_token, real.pad_token), (
            directory
        )
        assert {(t.id, t.text, t.special) for t in facts.added_tokens} <= {
            (number, token.content, token.special) for number, token in real.added_tokens_decoder.items()
        }, directory
