"""What a GGUF's metadata means for chat: its templates, its tokens, and who adds BOS and EOS."""

from __future__ import annotations

import re
from collections import Counter

from chatlint.errors import TargetError
from chatlint.lazy import regex
from chatlint.records import dataclass
from chatlint.source.found import Found, Reader
from chatlint.source.gguf import Metadata
from chatlint.source.package import (
    AddedToken,
    Failure,
    GenerationFacts,
    GgufFacts,
    TemplatePlace,
    TokenizerFacts,
)
from chatlint.source.special import SpecialTokens

_TEMPLATE = "tokenizer.chat_template"
_NAMES = "tokenizer.chat_templates"
_CONTROL, _USER_DEFINED = 3, 4
# gguf-py's constants (the spelling "seperator" is the format's) by the variable that transformers would pass.
_IDS = {
    "bos_token": "tokenizer.ggml.bos_token_id",
    "eos_token": "tokenizer.ggml.eos_token_id",
    "unk_token": "tokenizer.ggml.unknown_token_id",
    "sep_token": "tokenizer.ggml.seperator_token_id",
    "pad_token": "tokenizer.ggml.padding_token_id",
    "cls_token": "tokenizer.ggml.cls_token_id",
    "mask_token": "tokenizer.ggml.mask_token_id",
}
_STOP_IDS = (
    "tokenizer.ggml.eos_token_id",
    "tokenizer.ggml.eot_token_id",
    "tokenizer.ggml.eom_token_id",
    "tokenizer.ggml.eos_token_ids",
)
_FIM_IDS = tuple(f"tokenizer.ggml.fim_{name}_token_id" for name in ("pad", "rep", "sep"))
_GENERAL = ("architecture", "type", "name", "basename", "finetune", "size_label", "quantized_by", "file_type")
# llama.cpp (llama-vocab.cpp, 2026-10): what a tokenizer model adds where the file does not say: (BOS, EOS).
_ADDS = {
    "llama": (True, False),
    "gpt2": (False, False),
    "bert": (True, None),
    "t5": (False, True),
    "gemma4": (True, None),
}
_BPE_WITH_BOS = frozenset(
    {
        "llama3",
        "llama-v3",
        "llama-bpe",
        "falcon3",
        "falcon-h1",
        "pixtral",
        "midm-2.0",
        "lfm2",
        "jina-v5-nano",
        "tekken",
        "chameleon",
    }
)
_SIDE_FILE = regex(r"mmproj|imatrix", re.IGNORECASE)
_SPLIT = regex(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GgufReading:
    """One GGUF, understood."""

    found: tuple[Found, ...]
    tokens: SpecialTokens | None
    tokenizer: TokenizerFacts
    generation: GenerationFacts
    facts: GgufFacts
    failures: tuple[Failure, ...]


def understand(metadata: Metadata, file: str) -> GgufReading:
    """The templates and facts of a GGUF. Raises TargetError for one that is no language model."""
    _refuse_side_files(metadata, file)
    tokens = _special_tokens(metadata)
    found = tuple(
        Found(name, text, TemplatePlace(file, key=key), Reader.GGUF, tokens)
        for key, name, text in _templates(metadata)
    )
    return GgufReading(
        found,
        tokens,
        _tokenizer(metadata, tokens or {}, file),
        _generation(metadata, file),
        _facts(metadata, file),
        tuple(_failures(metadata, file)),
    )


def is_side_file(name: str) -> bool:
    """Whether a GGUF's name says that it is a projector or an importance matrix, not a model."""
    return bool(_SIDE_FILE.search(name.rpartition("/")[2]))


def first_part(path: str) -> str:
    """The path of the part that holds the metadata: gguf-split copies all of it only into the first."""
    match = _SPLIT.fullmatch(path)
    return f"{match['stem']}-00001-of-{match['count']}.gguf" if match else path


def _refuse_side_files(metadata: Metadata, file: str) -> None:
    kind = metadata.text("general.type") or ""
    if kind in ("mmproj", "imatrix", "adapter") or metadata.text("general.architecture") == "clip":
        what = {"imatrix": "an importance matrix", "adapter": "an adapter"}.get(
            kind, "a projector for images or audio"
        )
        raise TargetError(f"{file} is {what}, not a language model", hint="name the model's own GGUF")
    if metadata.number("split.no"):
        raise TargetError(
            f"{file} is part {metadata.number('split.no')} of a split model", hint="name its first part"
        )


def _templates(metadata: Metadata) -> list[tuple[str, str, str]]:
    found = []
    for key in metadata.values:
        text = metadata.text(key)
        if text is not None and key == _TEMPLATE:
            found.append((key, "default", text))
        elif text is not None and key.startswith(_TEMPLATE + "."):
            found.append((key, key.removeprefix(_TEMPLATE + "."), text))
    return found


def _special_tokens(metadata: Metadata) -> SpecialTokens | None:
    """The variables by their ids; None where the file has no vocabulary to look them up in."""
    if metadata.texts("tokenizer.ggml.tokens") is None:
        return None
    return {name: text for name, key in _IDS.items() if (text := _token(metadata, key)) is not None}


def _token(metadata: Metadata, key: str) -> str | None:
    number, vocabulary = metadata.number(key), metadata.texts("tokenizer.ggml.tokens")
    return vocabulary.text(number) if vocabulary is not None and number is not None else None


def _tokenizer(metadata: Metadata, tokens: SpecialTokens, file: str) -> TokenizerFacts:
    adds_bos, adds_eos = _adds(metadata)
    return TokenizerFacts(
        bos=_one(tokens, "bos_token"),
        eos=_one(tokens, "eos_token"),
        pad=_one(tokens, "pad_token"),
        added_tokens=_added_tokens(metadata),
        adds_bos=adds_bos,
        adds_eos=adds_eos,
        end_of_turn=_token(metadata, "tokenizer.ggml.eot_token_id"),
        end_of_message=_token(metadata, "tokenizer.ggml.eom_token_id"),
        source=(file,),
    )


def _one(tokens: SpecialTokens, name: str) -> str | None:
    text = tokens.get(name)
    return text if isinstance(text, str) else None


def _added_tokens(metadata: Metadata) -> tuple[AddedToken, ...] | None:
    vocabulary = metadata.texts("tokenizer.ggml.tokens")
    types = metadata.numbers("tokenizer.ggml.token_type")
    if vocabulary is None or len(types) != len(vocabulary):
        return None
    wanted = (index for index, kind in enumerate(types) if kind in (_CONTROL, _USER_DEFINED))
    return tuple(
        AddedToken(index, vocabulary.text(index) or "", types[index] == _CONTROL) for index in wanted
    )


def _adds(metadata: Metadata) -> tuple[bool | None, bool | None]:
    model = metadata.text("tokenizer.ggml.model") or ""
    default: tuple[bool | None, bool | None] = _ADDS.get(model, (None, None))
    if model == "gpt2" and metadata.text("tokenizer.ggml.pre") in _BPE_WITH_BOS:
        default = (True, False)
    declared = metadata.flag("tokenizer.ggml.add_bos_token"), metadata.flag("tokenizer.ggml.add_eos_token")
    adds_bos = default[0] if declared[0] is None or model == "gemma4" else declared[0]
    return adds_bos, default[1] if declared[1] is None else declared[1]


def _generation(metadata: Metadata, file: str) -> GenerationFacts:
    ids = {}
    for key in _STOP_IDS:
        number = metadata.number(key)
        many = tuple(metadata.numbers(key)) if number is None else (number,)
        if many:
            ids[f"{file}#{key}"] = many
    vocabulary = metadata.texts("tokenizer.ggml.tokens")
    return GenerationFacts(
        eos_ids=ids,
        other_ids={
            f"{file}#{key}": number
            for key in (*_IDS.values(), *_FIM_IDS)
            if key not in _STOP_IDS and (number := metadata.number(key)) is not None
        },
        vocabulary=None if vocabulary is None else len(vocabulary),
    )


def _facts(metadata: Metadata, file: str) -> GgufFacts:
    general: dict[str, str | int | float | bool] = {}
    for name in _GENERAL:
        value = metadata.values.get(f"general.{name}")
        if isinstance(value, str | int | float):
            general[name] = value
    return GgufFacts(
        file=file,
        version=metadata.version,
        big_endian=metadata.big_endian,
        general=general,
        tokenizer_model=metadata.text("tokenizer.ggml.model"),
        pre=metadata.text("tokenizer.ggml.pre"),
        kinds=dict(Counter(metadata.numbers("tokenizer.ggml.token_type"))),
        vocabulary=metadata.texts("tokenizer.ggml.tokens"),
        fim_ids=tuple(number for key in _FIM_IDS if (number := metadata.number(key)) is not None),
    )


def _failures(metadata: Metadata, file: str) -> list[Failure]:
    failures = [
        Failure("source", f"{file}#{key}", "the text is not UTF-8; the bytes that are not are shown escaped")
        for key in metadata.damaged_text
    ]
    names = metadata.texts(_NAMES)
    for index in range(len(names) if names is not None else 0):
        name = names.text(index) if names is not None else None
        if name != "default" and f"{_TEMPLATE}.{name}" not in metadata.values:
            failures.append(
                Failure("source", f"{file}#{_NAMES}", f"it names {name!r}, which the file does not hold")
            )
    if metadata.values.get(_TEMPLATE, "") is None:
        failures.append(Failure("source", f"{file}#{_TEMPLATE}", "it is not a string"))
    return failures
