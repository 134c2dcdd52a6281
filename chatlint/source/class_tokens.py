"""Special tokens that a tokenizer class brings along where the configuration does not name them.

Data read from the signatures of transformers' classes, for the classes that chat models use. Dated: 5.24.0
and 4.57.6, 2026-11.
"""

from __future__ import annotations

from collections.abc import Mapping

_THREE = ("bos_token", "eos_token", "unk_token")
_LLAMA = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
_GEMMA = {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}
_QWEN = dict.fromkeys(("eos_token", "unk_token", "pad_token"), "<|endoftext|>")
_COHERE = {"bos_token": "<BOS_TOKEN>", "eos_token": "<|END_OF_TURN_TOKEN|>", "unk_token": "<UNK>"}
_BERT = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_ROBERTA = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "cls_token": "<s>",
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}
_BOTH: dict[str, Mapping[str, str]] = {
    "LlamaTokenizer": _LLAMA,
    "CodeLlamaTokenizer": _LLAMA,
    "GemmaTokenizer": _GEMMA,
    "Qwen2Tokenizer": _QWEN,
    "GPT2Tokenizer": dict.fromkeys(_THREE, "<|endoftext|>"),
    "GPTNeoXTokenizer": dict.fromkeys(_THREE, "<|endoftext|>"),
    "CohereTokenizer": _COHERE,
    "BertTokenizer": _BERT,
    "RobertaTokenizer": _ROBERTA,
}
_FROM_5: dict[str, Mapping[str, str]] = {
    "CodeLlamaTokenizer": {
        "prefix_token": "▁<PRE>",
        "middle_token": "▁<MID>",
        "suffix_token": "▁<SUF>",
        "eot_token": "▁<EOT>",
        "fill_token": "<FILL_ME>",
    },
    "GemmaTokenizer": {"mask_token": "<mask>"},
    "GPTNeoXTokenizer": {"pad_token": "<|padding|>"},
    "CohereTokenizer": {
        "pad_token": "<PAD>",
        "cls_token": "<CLS>",
        "sep_token": "<SEP>",
        "mask_token": "<MASK_TOKEN>",
    },
    "Qwen3_5Tokenizer": _QWEN,
}


def class_tokens(tokenizer_class: str, *, version_4: bool) -> dict[str, str]:
    """The class's own special tokens by variable; empty for a class that has none, or is not known here."""
    name = tokenizer_class.removesuffix("Fast")
    own = dict(_BOTH.get(name, {}))
    return own if version_4 else own | dict(_FROM_5.get(name, {}))
