"""Special token variables, compared with what transformers gives for the same files."""

from __future__ import annotations

import pytest

from chatlint.source.class_tokens import class_tokens
from chatlint.source.load import load
from chatlint.source.special import NAMED, special_tokens
from tests.source.model_files import BYTE_LEVEL, tokenizer_json, write
from tests.source.special_cases import CASES

# What transformers 4.57.6 gave for these files (it cannot be installed beside 5.24); where it refused them: absent.
BEFORE_5 = {
    "plain": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"},
    "absent": {"eos_token": "</s>"},
    "empty": {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"},
    "other keys": {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "sep_token": "<sep>",
        "pad_token": "<pad>",
    },
    "extra dict": {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "image_token": "<image>",
        "odd": "<sep>",
    },
    "additional list": {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "additional_special_tokens": ("<image>", "<sep>"),
    },
    "map with other keys": {
        "bos_token": "<sep>",
        "eos_token": "<|im_end|>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "additional_special_tokens": ("<sep>",),
    },
    "map hidden by decoder": {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
    },
    "defaults of GemmaTokenizer": {
        "bos_token": "<bos>",
        "eos_token": "<eos>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
    },
    "defaults of GPTNeoXTokenizer": dict.fromkeys(("bos_token", "eos_token", "unk_token"), "<|endoftext|>"),
}


def files(name: str) -> dict[str, object]:
    config, special_map = CASES[name]
    # Classes with their own __init__ rebuild the tokenizer from a BPE model.
    built: dict[str, object] = {
        "tokenizer_config.json": config,
        "tokenizer.json": tokenizer_json(bpe=config["tokenizer_class"] != "PreTrainedTokenizerFast"),
    }
    return built if special_map is None else {**built, "special_tokens_map.json": special_map}


@pytest.mark.parametrize("name", CASES)
def test_variables_are_those_of_transformers(name, tmp_path, transformers):
    directory = write(tmp_path, {"chat_template.jinja": "x", **files(name)})
    real = transformers.AutoTokenizer.from_pretrained(directory).special_tokens_map
    assert dict(load(str(directory)).templates[0].special_tokens) == real


@pytest.mark.parametrize("name", BEFORE_5)
def test_variables_before_5(name):
    config, special_map = CASES[name]
    assert special_tokens(config, special_map or {}, host="transformers-4.57") == BEFORE_5[name]


def test_llama_class_is_not_used_for_a_byte_level_tokenizer(tmp_path, transformers):
    directory = write(
        tmp_path,
        {
            "chat_template.jinja": "x",
            "tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer"},
            "tokenizer.json": tokenizer_json(BYTE_LEVEL, bpe=True),
        },
    )
    real = transformers.AutoTokenizer.from_pretrained(directory).special_tokens_map
    assert dict(load(str(directory)).templates[0].special_tokens) == real == {}


@pytest.mark.parametrize(
    "name", ["LlamaTokenizerFast", "Qwen3_5Tokenizer", "RobertaTokenizer", "BertTokenizer"]
)
def test_class_tokens_are_those_of_the_signature(name, transformers):
    import inspect

    found = getattr(transformers, name)
    defaults = {key: value.default for key, value in inspect.signature(found.__init__).parameters.items()}
    own = {key: str(defaults[key]) for key in NAMED if isinstance(defaults.get(key), str)}
    assert class_tokens(name, version_4=False) == own


def test_a_bare_template_has_visible_stand_ins(tmp_path):
    template = load(str(write(tmp_path, {"t.jinja": "{{ bos_token }}"}) / "t.jinja")).templates[0]
    assert template.special_tokens_assumed
    assert template.special_tokens["bos_token"] == "<bos_token>"
    assert set(template.special_tokens) == set(NAMED)


def test_given_tokens_are_real(tmp_path):
    write(tmp_path, {"t.jinja": "x", "tokens.json": {"bos_token": {"content": "<s>"}, "image_token": "<i>"}})
    template = load(str(tmp_path / "t.jinja"), special_tokens_file=str(tmp_path / "tokens.json")).templates[0]
    assert not template.special_tokens_assumed
    assert template.special_tokens == {"bos_token": "<s>", "image_token": "<i>"}


def test_given_tokens_override_by_name(tmp_path):
    config = {"chat_template": "x", "bos_token": "<s>", "eos_token": "</s>"}
    write(tmp_path / "model", {"tokenizer_config.json": config})
    write(tmp_path, {"tokens.json": {"bos_token": "<b>"}})
    template = load(str(tmp_path / "model"), special_tokens_file=str(tmp_path / "tokens.json")).templates[0]
    assert template.special_tokens == {"bos_token": "<b>", "eos_token": "</s>"}
