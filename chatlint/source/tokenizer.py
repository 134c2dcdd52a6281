"""What a model's tokenizer files say: the tokens, and who adds BOS and EOS.

Whether encoding a text with special tokens adds any is decided, in transformers 5 and in the `tokenizers`
library, by the post-processor of `tokenizer.json` alone; transformers 4 let some classes rebuild it from
`add_bos_token`. What cannot be told from the files that are there is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from chatlint.conversation import JSON
from chatlint.records import dataclass
from chatlint.source.affixes import Affixes, affixes
from chatlint.source.json_text import objects
from chatlint.source.package import AddedToken, GenerationFacts, TokenizerFacts
from chatlint.source.special import SpecialTokens, token_text

# transformers 4.57: fast classes that write their own post-processor, with their default for `add_bos_token`.
_REBUILT_IN_4 = {
    "LlamaTokenizer": True,
    "GemmaTokenizer": True,
    "CodeLlamaTokenizer": True,
    "CohereTokenizer": True,
    "GPTNeoXTokenizer": False,
}
# transformers 4.57, without tokenizer.json: slow classes and their default for `add_bos_token`.
_SLOW_IN_4 = {"LlamaTokenizer": True, "GemmaTokenizer": True, "CodeLlamaTokenizer": True}
# transformers 5.24: classes that do not keep the post-processor of tokenizer.json; what they add instead.
_FIXED_IN_5 = {"CodeLlamaTokenizer": (True, False), "GPTNeoXTokenizer": (False, False)}
_OTHER_IDS = ("bos_token_id", "pad_token_id", "decoder_start_token_id")
_SENTENCEPIECE = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model")


@dataclass(frozen=True, slots=True)
class TokenizerFiles:
    """The parsed files that facts come from; None where a file is not there or could not be read."""

    config: Mapping[str, JSON] | None = None
    added: Mapping[str, JSON] | None = None
    head: Mapping[str, JSON] | None = None
    model_config: Mapping[str, JSON] | None = None
    paths: frozenset[str] = frozenset()


def tokenizer_facts(files: TokenizerFiles, tokens: SpecialTokens) -> TokenizerFacts:
    """The facts, with `tokens` as the host has them (see chatlint.source.special)."""
    bos, eos = _named(tokens, "bos_token"), _named(tokens, "eos_token")
    found = _affixes(files)
    adds_bos, adds_eos = _adds(files, found, bos, eos, rebuilt=False)
    adds_bos_4, adds_eos_4 = _adds(files, found, bos, eos, rebuilt=True)
    return TokenizerFacts(
        bos=bos,
        eos=eos,
        pad=_named(tokens, "pad_token"),
        added_tokens=added_tokens(files, tokens),
        adds_bos=adds_bos,
        adds_eos=adds_eos,
        adds_bos_before_5=adds_bos_4,
        adds_eos_before_5=adds_eos_4,
        added_before=found[0] if found else None,
        added_after=found[1] if found else None,
        source=tuple(_sources(files)),
    )


def added_tokens(files: TokenizerFiles, tokens: SpecialTokens) -> tuple[AddedToken, ...] | None:
    """The added tokens by id: those of `tokenizer.json`, with what `added_tokens_decoder` says of them
    beside or instead; without either, `added_tokens.json`. None if no file lists any."""
    found: dict[int, AddedToken] = {}
    listed = _listed(files.head)
    decoder = files.config.get("added_tokens_decoder") if files.config else None
    for token in [*(listed or ()), *_decoded(decoder)]:
        found[token.id] = token
    if listed is None and not isinstance(decoder, Mapping):
        if files.added is None:
            return None
        named = {text for text in tokens.values() if isinstance(text, str)}
        for text, number in files.added.items():
            if isinstance(number, int) and not isinstance(number, bool):
                found[number] = AddedToken(number, text, text in named)
    return tuple(found[number] for number in sorted(found))


def generation_facts(
    generation: Mapping[str, JSON] | None, config: Mapping[str, JSON] | None
) -> GenerationFacts:
    """The end-of-sequence ids by file. A model with a text part has them there, too
    (`config.json#/text_config`)."""
    text = config.get("text_config") if config else None
    places: dict[str, JSON] = {"generation_config.json": generation, "config.json": config}
    places["config.json#/text_config"] = text
    ids = {place: found for place, values in places.items() if (found := _eos_ids(values))}
    listed = frozenset(place for place in ids if _is_list(places[place]))
    return GenerationFacts(
        eos_ids=ids,
        has_generation_config=generation is not None,
        listed=listed,
        other_ids={
            f"{place}#{name}": number
            for place, values in places.items()
            for name in _OTHER_IDS
            if (number := _number(values, name)) is not None
        },
        vocabulary=_number(config, "vocab_size") or _number(text, "vocab_size"),
    )


def _affixes(files: TokenizerFiles) -> Affixes | None:
    if files.head is None or "post_processor" not in files.head:
        return None
    return affixes(files.head["post_processor"])


def _adds(
    files: TokenizerFiles, found: Affixes | None, bos: str | None, eos: str | None, *, rebuilt: bool
) -> tuple[bool | None, bool | None]:
    """Whether BOS and EOS are added; with `rebuilt`, by transformers 4."""
    if "tokenizer.json" not in files.paths:
        return _adds_without_json(files, rebuilt)
    name = _class_name(files)
    if rebuilt:
        if name is None:
            return None, None
        if name in _REBUILT_IN_4:
            return _flags(files, bos, eos, _REBUILT_IN_4[name])
    elif name in _FIXED_IN_5:
        return _FIXED_IN_5[name]
    if found is None:
        return None, None
    return bos in found[0], eos in found[1]


def _adds_without_json(files: TokenizerFiles, rebuilt: bool) -> tuple[bool | None, bool | None]:
    """A sentencepiece model is converted: version 5 adds nothing unless the configuration says so, version 4
    by the class. With no vocabulary at all there is nothing to tell."""
    if files.config is None or not files.paths.intersection(_SENTENCEPIECE):
        return None, None
    if not rebuilt:
        return _setting(files, "add_bos_token", False), _setting(files, "add_eos_token", False)
    default = _SLOW_IN_4.get(_class_name(files) or "")
    if default is None:
        return None, None
    return _setting(files, "add_bos_token", default), _setting(files, "add_eos_token", False)


def _flags(
    files: TokenizerFiles, bos: str | None, eos: str | None, default: bool
) -> tuple[bool | None, bool | None]:
    adds_bos, adds_eos = _setting(files, "add_bos_token", default), _setting(files, "add_eos_token", False)
    # These classes refuse to load when they are to add a token they do not have.
    return (None if adds_bos and bos is None else adds_bos), (None if adds_eos and eos is None else adds_eos)


def _setting(files: TokenizerFiles, name: str, default: bool) -> bool | None:
    value = (files.config or {}).get(name, default)
    return value if isinstance(value, bool) else None


def _class_name(files: TokenizerFiles) -> str | None:
    for source in (files.config, files.model_config):
        name = source.get("tokenizer_class") if source else None
        if isinstance(name, str):
            return name.removesuffix("Fast")
    return None


def _named(tokens: SpecialTokens, name: str) -> str | None:
    text = tokens.get(name)
    return text if isinstance(text, str) else None


def _listed(head: Mapping[str, JSON] | None) -> list[AddedToken] | None:
    if head is None or "added_tokens" not in head:
        return None
    tokens = (_added(item.get("id"), item) for item in objects(head["added_tokens"]))
    return [token for token in tokens if token is not None]


def _decoded(decoder: JSON) -> list[AddedToken]:
    if not isinstance(decoder, Mapping):
        return []
    tokens = (
        _added(int(number), item)
        for number, item in decoder.items()
        if number.isdecimal() and len(number) < 10 and isinstance(item, Mapping)
    )
    return [token for token in tokens if token is not None]


def _added(number: JSON, item: Mapping[str, JSON]) -> AddedToken | None:
    text = token_text(item)
    if text is None or not isinstance(number, int) or isinstance(number, bool):
        return None
    return AddedToken(number, text, item.get("special") is True)


def _number(values: JSON, name: str) -> int | None:
    """A number that is one: some files have -1 for no token."""
    number = values.get(name) if isinstance(values, Mapping) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else None


def _is_list(values: JSON) -> bool:
    return isinstance(values, Mapping) and isinstance(values.get("eos_token_id"), list)


def _eos_ids(values: JSON) -> tuple[int, ...]:
    value = values.get("eos_token_id") if isinstance(values, Mapping) else None
    many = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return tuple(item for item in many if isinstance(item, int) and not isinstance(item, bool))


def _sources(files: TokenizerFiles) -> Iterable[str]:
    read = {
        "tokenizer.json": files.head,
        "tokenizer_config.json": files.config,
        "added_tokens.json": files.added,
    }
    return [name for name, content in read.items() if content is not None]
