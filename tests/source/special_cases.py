"""Configurations whose special token variables are compared with what transformers gives."""

from __future__ import annotations

from tests.source.model_files import added_token, decoder_entry

PLAIN = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
}
MAP = {
    "bos_token": "<sep>",
    "eos_token": {
        "content": "<|im_end|>",
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "single_word": False,
    },
}

# name: (tokenizer_config.json, special_tokens_map.json or None)
CASES: dict[str, tuple[dict[str, object], dict[str, object] | None]] = {
    "plain": (PLAIN, None),
    "added tokens": ({**PLAIN, "bos_token": added_token("<s>"), "eos_token": added_token("</s>")}, None),
    "null": ({**PLAIN, "bos_token": None}, None),
    "absent": ({"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "</s>"}, None),
    "empty": ({**PLAIN, "bos_token": ""}, None),
    "other keys": ({**PLAIN, "image_token": "<image>", "sep_token": "<sep>", "add_bos_token": True}, None),
    "other keys as added tokens": ({**PLAIN, "image_token": added_token("<image>")}, None),
    "extra dict": ({**PLAIN, "extra_special_tokens": {"image_token": "<image>", "odd": "<sep>"}}, None),
    "extra dict of added tokens": (
        {**PLAIN, "extra_special_tokens": {"image_token": added_token("<image>")}},
        None,
    ),
    "extra list": ({**PLAIN, "extra_special_tokens": ["<image>"]}, None),
    "additional list": ({**PLAIN, "additional_special_tokens": ["<image>", "<sep>"]}, None),
    "additional list of added tokens": (
        {**PLAIN, "additional_special_tokens": [added_token("<image>")]},
        None,
    ),
    "map": (PLAIN, MAP),
    "map hidden by decoder": ({**PLAIN, "added_tokens_decoder": {"1": decoder_entry("<s>")}}, MAP),
    "map with other keys": (PLAIN, {**MAP, "image_token": "<image>", "additional_special_tokens": ["<sep>"]}),
    "map with extra dict": (PLAIN, {"extra_special_tokens": {"image_token": "<image>"}}),
    "map alone": ({"tokenizer_class": "PreTrainedTokenizerFast"}, {**MAP, "pad_token": "<pad>"}),
    "config wins nothing over map": ({**PLAIN, "pad_token": None}, {"pad_token": "<pad>"}),
    **{
        f"defaults of {name}": ({"tokenizer_class": name}, None)
        for name in (
            "LlamaTokenizer",
            "LlamaTokenizerFast",
            "GemmaTokenizer",
            "Qwen2Tokenizer",
            "GPT2Tokenizer",
            "GPTNeoXTokenizer",
            "CohereTokenizer",
            "CodeLlamaTokenizer",
            "BertTokenizer",
            "RobertaTokenizer",
        )
    },
    "null beats the class": ({"tokenizer_class": "LlamaTokenizer", "bos_token": None}, None),
}
