"""The price of history: configurations in the shape of well-known models, and the bytes their papers and cards
give."""

from __future__ import annotations

import pytest

from chatlint.source.kv_cache import kv_cache
from chatlint.source.load import load
from tests.source.model_files import write

LLAMA_3_8B = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "torch_dtype": "bfloat16",
}
DEEPSEEK_V3 = {
    **LLAMA_3_8B,
    "architectures": ["DeepseekV3ForCausalLM"],
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "num_hidden_layers": 61,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
}
GPT_2 = {"architectures": ["GPT2LMHeadModel"], "n_embd": 768, "n_head": 12, "n_layer": 12, "dtype": "float32"}
SLIDING = ["full_attention" if n % 6 == 5 else "sliding_attention" for n in range(24)]


@pytest.mark.parametrize(
    ("config", "kind", "bytes_per_token"),
    [
        (LLAMA_3_8B, "grouped-query", 128 * 1024),
        ({**LLAMA_3_8B, "num_key_value_heads": 32}, "multi-head", 512 * 1024),
        ({**LLAMA_3_8B, "num_key_value_heads": None}, "multi-head", 512 * 1024),
        ({**LLAMA_3_8B, "multi_query": True}, "multi-query", 16 * 1024),
        ({**LLAMA_3_8B, "head_dim": 64}, "grouped-query", 64 * 1024),
        ({**LLAMA_3_8B, "torch_dtype": "float32"}, "grouped-query", 256 * 1024),
        (DEEPSEEK_V3, "latent", 61 * 576 * 2),
        (GPT_2, "multi-head", 12 * 2 * 768 * 4),
        (
            {"text_config": {**LLAMA_3_8B}, "architectures": ["XForConditionalGeneration"]},
            "grouped-query",
            128 * 1024,
        ),
    ],
)
def test_kinds(config, kind, bytes_per_token):
    found = kv_cache(config)
    assert (found.kind, found.bytes_per_token) == (kind, bytes_per_token)
    assert not found.at_most


def test_only_layers_that_keep_every_token_count():
    found = kv_cache({**LLAMA_3_8B, "num_hidden_layers": 24, "layer_types": SLIDING, "sliding_window": 1024})
    assert (found.layers, found.growing_layers, found.bytes_per_token) == (24, 4, 4 * 4096)


def test_a_window_of_unknown_layers_makes_it_a_bound():
    assert kv_cache({**LLAMA_3_8B, "sliding_window": 4096}).at_most
    assert not kv_cache({**LLAMA_3_8B, "sliding_window": 4096, "use_sliding_window": False}).at_most


def test_an_element_that_is_not_named_is_said_to_be_assumed():
    config = {name: value for name, value in LLAMA_3_8B.items() if name != "torch_dtype"}
    assert kv_cache(config).element_assumed
    assert not kv_cache(LLAMA_3_8B).element_assumed


@pytest.mark.parametrize(
    "config",
    [
        None,
        {},
        {**LLAMA_3_8B, "is_encoder_decoder": True},
        {**LLAMA_3_8B, "architectures": ["BertForMaskedLM"]},
        {**LLAMA_3_8B, "num_hidden_layers": "32"},
        {**LLAMA_3_8B, "num_hidden_layers": -1},
        {**LLAMA_3_8B, "num_attention_heads": 0},
        {**LLAMA_3_8B, "num_key_value_heads": 64},
        {**LLAMA_3_8B, "hybrid_override_pattern": "M-M*"},
        {**LLAMA_3_8B, "attention_k_eq_v": True},
    ],
)
def test_what_is_not_told_is_not_guessed(config):
    assert kv_cache(config) is None


def test_it_is_in_the_report(tmp_path, chatlint):
    import json

    write(
        tmp_path,
        {"config.json": LLAMA_3_8B, "tokenizer_config.json": {"chat_template": "{{ messages[0].content }}"}},
    )
    assert load(str(tmp_path)).kv_cache.bytes_per_token == 128 * 1024
    report = json.loads(chatlint("check", tmp_path, "--format", "json", "--select", "syntax").out)
    price = report["targets"][0]["kv_cache"]
    assert price["bytes_per_1000_tokens"] == 131_072_000
    shown = " ".join(chatlint("check", tmp_path, "--select", "syntax").out.split())
    assert (
        "takes 128 KiB of KV cache (grouped-query, 32 layers), 1,000 tokens of kept reasoning 125 MiB"
        in shown
    )
