"""What a token of history costs: the memory that its keys and values take while a request is served.

From `config.json` (of a model with parts, its text part), by the names that transformers' configurations
have. An attention layer keeps a key and a value for each key/value head; latent attention (DeepSeek V2) one
vector for all heads, and the part of the key that holds the position. Layers with a sliding window, and
linear ones, stop growing. What is not described by these names is not guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chatlint.conversation import JSON
from chatlint.source.package import KvCache

_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}
_ASSUMED_BYTES = 2
_GENERATING = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "ForImageTextToText")
# Architectures that keep something else: their price is not what is computed here.
_OTHER_WAYS = (
    "attention_k_eq_v",
    "attn_type_list",
    "attn_layer_period",
    "hybrid_override_pattern",
    "layers_block_type",
    "linear_attn_config",
    "mamba_d_state",
    "num_kv_shared_layers",
    "rwkv_hidden_size",
    "ssm_state_size",
    "state_size",
    "use_cla",
)


def kv_cache(config: Mapping[str, JSON] | None) -> KvCache | None:
    """The price of a token, or None where the configuration does not tell it."""
    if not config or config.get("is_encoder_decoder") is True or not _generates(config):
        return None
    text = config.get("text_config")
    values = {**config, **text} if isinstance(text, Mapping) else config
    if any(values.get(name) for name in _OTHER_WAYS):
        return None
    layers = _number(values, "num_hidden_layers", "n_layer", "num_layers")
    element = _BYTES.get(str(values.get("dtype") or values.get("torch_dtype")), 0)
    size = element or _ASSUMED_BYTES
    rank, rope = _number(values, "kv_lora_rank"), _number(values, "qk_rope_head_dim")
    if layers is None:
        return None
    if rank and rope:
        growing = _growing(values, layers)
        return KvCache(
            "latent", layers, growing, 1, rank + rope, size, growing * (rank + rope) * size, not element
        )
    return _by_heads(values, layers, size, assumed=not element)


def _by_heads(values: Mapping[str, JSON], layers: int, size: int, *, assumed: bool) -> KvCache | None:
    heads = _number(values, "num_attention_heads", "n_head")
    width = _number(values, "hidden_size", "n_embd")
    if heads is None:
        return None
    shared = _shared_heads(values, heads)
    head = _number(values, "head_dim", "kv_channels", "attention_head_dim") or (
        width // heads if width else None
    )
    if head is None or not 0 < shared <= heads:
        return None
    kind = "multi-head" if shared == heads else "multi-query" if shared == 1 else "grouped-query"
    growing = _growing(values, layers)
    at_most = "layer_types" not in values and _has_window(values)
    return KvCache(
        kind, layers, growing, shared, head, size, growing * 2 * shared * head * size, assumed, at_most
    )


def _shared_heads(values: Mapping[str, JSON], heads: int) -> int:
    """How many key/value heads the query heads share."""
    if values.get("multi_query") is True:
        return 1
    if values.get("multi_query_attention") is True:
        return _number(values, "multi_query_group_num") or heads
    return _number(values, "num_key_value_heads", "num_kv_heads", "n_head_kv") or heads


def _growing(values: Mapping[str, JSON], layers: int) -> int:
    kinds = values.get("layer_types")
    if not isinstance(kinds, Sequence) or isinstance(kinds, str) or not kinds:
        return layers
    return sum(kind == "full_attention" for kind in kinds)


def _has_window(values: Mapping[str, JSON]) -> bool:
    return bool(_number(values, "sliding_window")) and values.get("use_sliding_window") is not False


def _generates(config: Mapping[str, JSON]) -> bool:
    names = config.get("architectures")
    if not isinstance(names, Sequence) or isinstance(names, str):
        return True
    return not names or any(str(name).endswith(_GENERATING) for name in names)


def _number(values: Mapping[str, JSON], *names: str) -> int | None:
    """The first of these members that is a positive integer."""
    for name in names:
        value = values.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 24:
            return value
    return None
