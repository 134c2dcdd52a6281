"""The special token variables that a host passes to a template.

transformers 5 (`tokenization_utils_base.py`, `_from_pretrained` and `__init__`): the named tokens of
`tokenizer_config.json`, every other `*_token` key that is a string or an AddedToken, and the items of a dict
`extra_special_tokens`; `special_tokens_map.json` is read, and wins, only where the configuration has no
`added_tokens_decoder`; what nobody names, the tokenizer class may bring along. transformers 4.57: only the
named tokens that are not empty, the list `additional_special_tokens`, and the items of a dict
`extra_special_tokens`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from chatlint.conversation import JSON
from chatlint.source.class_tokens import class_tokens
from chatlint.source.json_text import objects

NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_SEQUENCES = ("pretokenizers", "processors", "decoders")
SpecialTokens: TypeAlias = dict[str, str | tuple[str, ...]]


def assumed_tokens() -> SpecialTokens:
    """Visible stand-ins for a template that came without a tokenizer."""
    return {name: f"<{name}>" for name in NAMED}


def special_tokens(
    config: Mapping[str, JSON], special_map: Mapping[str, JSON], *, host: str, byte_level: bool = False
) -> SpecialTokens:
    """The variables that `host` passes, from `tokenizer_config.json` and `special_tokens_map.json`.

    `byte_level`: the `tokenizer.json` beside them splits bytes; then transformers 5 does not use the class
    `LlamaTokenizer` that some configurations declare.
    """
    version_4 = host.startswith("transformers-4.")
    settings = dict(config)
    if "added_tokens_decoder" not in config:
        settings |= special_map
    name = config.get("tokenizer_class")
    if isinstance(name, str) and not (byte_level and not version_4 and name.startswith("LlamaTokenizer")):
        settings = {**class_tokens(name, version_4=version_4), **settings}
    return _version_4(settings) if version_4 else _version_5(settings)


def is_byte_level(head: Mapping[str, JSON] | None) -> bool:
    """Whether a part of a `tokenizer.json` is ByteLevel, alone or in a sequence."""
    parts = [(head or {}).get(name) for name in ("pre_tokenizer", "post_processor", "decoder")]
    inner = [item for part in objects(parts) for name in _SEQUENCES for item in objects(part.get(name))]
    return any(part.get("type") == "ByteLevel" for part in [*objects(parts), *inner])


def token_text(value: JSON) -> str | None:
    """A token's text: a string, or the `content` of an AddedToken as files write it."""
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else None


def _version_5(settings: Mapping[str, JSON]) -> SpecialTokens:
    found = {name: text for name in NAMED if (text := token_text(settings.get(name))) is not None}
    for name, value in settings.items():
        if name.endswith("_token") and name not in found and (text := token_text(value)) is not None:
            found[name] = text
    return {**found, **_extra(settings)}


def _version_4(settings: Mapping[str, JSON]) -> SpecialTokens:
    tokens: SpecialTokens = {name: text for name in NAMED if (text := token_text(settings.get(name)))}
    listed = settings.get("additional_special_tokens")
    if isinstance(listed, list):
        texts = tuple(text for item in listed if (text := token_text(item)) is not None)
        if texts:
            tokens["additional_special_tokens"] = texts
    return {**tokens, **{name: text for name, text in _extra(settings).items() if text}}


def _extra(settings: Mapping[str, JSON]) -> dict[str, str]:
    extra = settings.get("extra_special_tokens")
    if not isinstance(extra, Mapping):
        return {}
    return {name: text for name, value in extra.items() if (text := token_text(value)) is not None}
