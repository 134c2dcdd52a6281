"""At which tokens each engine stops: the files of a package, read as each engine reads them."""

from __future__ import annotations

import pytest

from chatlint.source.engine_stops import engine_stops
from chatlint.source.load import load
from tests.source.gguf_files import write_gguf
from tests.source.model_files import decoder_entry, write

NAMES = ["<s>", "</s>", "<|im_end|>", "<|odd|>", "<|return|>", "<|call|>", "<|end|>"]
ENGINES = ("transformers", "vLLM", "SGLang", "TGI", "llama.cpp")


def package(tmp_path, *, config=None, generation=None, eos="</s>", names=NAMES):
    decoder = {str(number): decoder_entry(name) for number, name in enumerate(names)}
    tokenizer = {"chat_template": "x", "eos_token": eos, "added_tokens_decoder": decoder}
    files = {"tokenizer_config.json": tokenizer, "config.json": config, "generation_config.json": generation}
    return load(
        str(write(tmp_path, {name: content for name, content in files.items() if content is not None}))
    )


def verdicts(found, text):
    number = found.token_id(text)
    return {one.engine: one.stops_at(text, number) for one in engine_stops(found)}


def only(*engines, among=ENGINES):
    return {engine: engine in engines for engine in among}


@pytest.mark.parametrize(
    ("files", "text", "stopping"),
    [
        # generation_config.json alone counts for transformers; TGI does not read a single id there
        ({"config": {"eos_token_id": 1}, "generation": {"eos_token_id": 3}}, "<|odd|>", ("transformers", "vLLM", "SGLang")),
        ({"config": {"eos_token_id": 1}, "generation": {"eos_token_id": [3]}}, "<|odd|>", ("transformers", "vLLM", "SGLang", "TGI")),
        # without it, config.json does; SGLang reads both anyway
        ({"config": {"eos_token_id": 3}}, "<|odd|>", ("transformers", "vLLM", "SGLang")),
        ({"config": {"eos_token_id": 3}, "generation": {"eos_token_id": 1}}, "<|odd|>", ("SGLang",)),
        ({"config": {"text_config": {"eos_token_id": [3, 4]}}}, "<|odd|>", ("transformers", "vLLM", "SGLang")),
        # the tokenizer's token: not transformers', and not TGI's where a list replaces it
        ({"config": {"eos_token_id": 1}, "generation": {"eos_token_id": 1}, "eos": "<|odd|>"}, "<|odd|>", ("vLLM", "SGLang", "TGI", "llama.cpp")),
        ({"config": {"eos_token_id": 1}, "generation": {"eos_token_id": [1]}, "eos": "<|odd|>"}, "<|odd|>", ("vLLM", "SGLang", "llama.cpp")),
        # the converter keeps the id in config.json only where the tokenizer has no token, and no list
        ({"config": {"eos_token_id": 1}, "eos": None}, "</s>", ("transformers", "vLLM", "SGLang", "llama.cpp")),
        ({"config": {"eos_token_id": 3}, "eos": None}, "<|odd|>", ("transformers", "vLLM", "SGLang", "llama.cpp")),
        ({"config": {"eos_token_id": [3]}, "eos": None}, "<|odd|>", ("transformers", "vLLM", "SGLang")),
        # marks that llama.cpp knows by their text
        ({"config": {"eos_token_id": 1}, "generation": {"eos_token_id": 1}}, "<|im_end|>", ("llama.cpp",)),
        # what two engines add by hand, and what llama.cpp spares beside it
        ({"config": {"eos_token_id": 4}, "eos": "<|return|>"}, "<|call|>", ("vLLM", "SGLang", "llama.cpp")),
        ({"config": {"eos_token_id": 4}, "eos": "<|return|>"}, "<|end|>", ()),
    ],
)  # fmt: skip
def test_who_stops(tmp_path, files, text, stopping):
    assert verdicts(package(tmp_path, **files), text) == only(*stopping)


def test_a_name_that_only_one_engine_knows(tmp_path):
    found = package(
        tmp_path, config={"eos_token_id": 1}, names=["<s>", "</s>", "<|content_model_end_sampling|>"]
    )
    assert verdicts(found, "<|content_model_end_sampling|>") == only("SGLang")


def test_nothing_is_known_without_the_files(tmp_path):
    found = verdicts(package(tmp_path), "<|odd|>")
    assert {found[engine] for engine in ENGINES[:-1]} == {None}
    assert found["llama.cpp"] is False  # converted, it is the tokenizer's token and what is known by text


def test_what_no_file_declares_the_class_may(tmp_path):
    """transformers' configuration classes have ids of their own: LlamaConfig's is 2."""
    found = verdicts(package(tmp_path, config={"model_type": "llama"}), "<|odd|>")
    assert (found["transformers"], found["vLLM"], found["TGI"]) == (None, None, False)
    assert verdicts(package(tmp_path, config={"model_type": "llama"}), "</s>")["vLLM"] is True


def test_ids_without_texts_tell_nothing(tmp_path):
    files = {
        "tokenizer_config.json": {"chat_template": "x", "eos_token": "</s>"},
        "config.json": {"eos_token_id": 7},
    }
    found = verdicts(load(str(write(tmp_path, files))), "<|odd|>")
    assert found["transformers"] is None
    assert found["TGI"] is False


def test_a_file_that_could_not_be_read_is_not_absent(tmp_path):
    found = package(tmp_path, config={"eos_token_id": 1}, generation=b"{")
    assert verdicts(found, "<|odd|>")["vLLM"] is None


@pytest.mark.parametrize(
    ("text", "stopping"),
    [
        ("</s>", ("vLLM", "llama.cpp", "Ollama")),  # eos_token_id
        ("<|im_end|>", ("llama.cpp",)),  # eot_token_id, and known by its text
        ("<tool>", ()),
        ("hello", ()),
    ],
)
def test_a_gguf(tmp_path, text, stopping):
    found = load(str(write_gguf(tmp_path / "m.gguf")))
    assert verdicts(found, text) == only(*stopping, among=("vLLM", "llama.cpp", "Ollama"))


def test_a_gguf_beside_the_models_own_files(tmp_path):
    config = {"chat_template": "x", "eos_token": "<|odd|>"}
    write(tmp_path, {"tokenizer_config.json": config, "config.json": {"eos_token_id": 1}})
    write_gguf(tmp_path / "m.gguf")
    found = load(str(tmp_path))
    assert [one.engine for one in engine_stops(found)] == list(ENGINES)
    assert verdicts(found, "</s>")["llama.cpp"] is True


def test_llama_cpps_own_spare_list(tmp_path):
    """`</s>` is one of its marks, but not beside another family's."""
    plain = package(tmp_path, config={"eos_token_id": 0}, eos="<s>", names=["<s>", "</s>"])
    assert verdicts(plain, "</s>")["llama.cpp"] is True
    other = package(
        tmp_path, config={"eos_token_id": 0}, eos="<s>", names=["<s>", "</s>", "<|tool_response>"]
    )
    assert verdicts(other, "</s>")["llama.cpp"] is False
