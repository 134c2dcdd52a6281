"""The special token variables that a host passes to a template.

transformers 5 (`tokenization_utils_base.py`, `_from_pretrained` and `__init__`): the named tokens of
`tokenizer_config.json`, every other `*_token` key that is a string or an AddedToken, and the items of a dict
`extra_special_tokens`; `special_tokens_map.json` is read, and wins, only where the configuration has no
`added_tokens_decoder`. transformers 4.57: only the named tokens that are not empty, the list
`additional_special_tokens`, and the items of a dict `extra_special_tokens`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from chatlint.conversation import JSON

NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
SpecialTokens: TypeAlias = dict[str, str | tuple[str, ...]]


def assumed_tokens() -> SpecialTokens:
    """Visible stand-ins for a template that came without a tokenizer."""
    return {name: f"<{name}>" for name in NAMED}


def special_tokens(
    config: Mapping[str, JSON], special_map: Mapping[str, JSON], *, host: str
) -> SpecialTokens:
    """The variables that `host` passes, from `tokenizer_config.json` and `special_tokens_map.json`."""
    settings = dict(config)
    if "added_tokens_decoder" not in config:
        settings |= special_map
    if host.startswith("transformers-4."):
        return _version_4(settings)
    return _version_5(settings)


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
