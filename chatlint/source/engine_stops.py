"""At which tokens each engine stops, by the files of a package.

Read in the engines' sources: transformers 5.24, vLLM 0.33, SGLang 0.5.23, TGI of 2026-01, llama.cpp of
2026-10 (`llama-vocab.cpp`) and Ollama of 2026-10 (its own engine). The tables are dated: engines add to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from chatlint.records import dataclass
from chatlint.source.package import GgufFacts, Package

AS_OF = "2026-10"
_SGLANG_TEXTS = ("<|eom_id|>", "<|content_model_end_sampling|>", "<|ifm|im_end|>")
_LLAMA_CPP_TEXTS = (
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
)
"""Tokens that end generation wherever a vocabulary has them."""
_LLAMA_CPP_EXCEPT = (
    ("<|end|>", ("<|return|>", "<|call|>")),
    ("<|end|>", ("<|calls|>", "<|flush|>")),
    ("</s>", ("<|tool_response>",)),
    ("</s>", ("<|plamo:eos|>",)),
)
"""(text, others): not this one where the vocabulary has the others, too."""
_GENERATION, _CONFIG, _TEXT_CONFIG = "generation_config.json", "config.json", "config.json#/text_config"
_NOT_HERE = "generation_config.json and config.json, which declare stops, are not here"
_NO_TOKENS = "no tokenizer file lists the added tokens"
_CLASS_DECIDES = "no file declares one, so the model class's own default counts"
# Harmony's stops, added in code: vLLM (`entrypoints/openai/parser/harmony_utils.py`), SGLang likewise.
_HARMONY = ("<|return|>", "<|call|>")
_ADD_HARMONY = ("vLLM", "SGLang")


@dataclass(frozen=True, slots=True)
class EngineStops:
    """The tokens an engine stops at, by id or, where only that is known, by text. `unknown` says why there
    may be others ("" if these are all)."""

    engine: str
    ids: frozenset[int] = frozenset()
    texts: frozenset[str] = frozenset()
    unknown: str = ""

    def stops_at(self, text: str, number: int | None) -> bool | None:
        """Whether the token of this text is one of them; None where that cannot be told. `number` is its id,
        None if no file tells it."""
        if text in self.texts or (number is not None and number in self.ids):
            return True
        return None if self.unknown or (number is None and self.ids) else False


def engine_stops(package: Package) -> tuple[EngineStops, ...]:
    """For each engine that can load the package."""
    ggufs = package.ggufs
    if package.tokenizer_is_gguf:
        return (_stops("vLLM", _eos(package)), _llama_cpp(package, ggufs[0]), _ollama(package, ggufs[0]))
    own = [_of_files(package, name, find) for name, find in _ENGINES.items()]
    return (*own, _llama_cpp(package, ggufs[0]) if ggufs else _converted(package))


_Tokens = Iterable[int | str]


def _of_files(package: Package, engine: str, find: Callable[[Package], _Tokens]) -> EngineStops:
    if not _is_whole(package):
        return EngineStops(engine, unknown=_NOT_HERE)
    added = {token.text for token in package.tokenizer.added_tokens or ()}
    by_hand = _HARMONY if engine in _ADD_HARMONY and added.issuperset(_HARMONY) else ()
    known = engine == "TGI" or bool(_generation_config(package))
    return _stops(engine, (*find(package), *by_hand), "" if known else _CLASS_DECIDES)


def _stops(engine: str, tokens: _Tokens, unknown: str = "") -> EngineStops:
    tokens = list(tokens)
    ids = frozenset(token for token in tokens if isinstance(token, int))
    return EngineStops(engine, ids, frozenset(token for token in tokens if isinstance(token, str)), unknown)


def _is_whole(package: Package) -> bool:
    """Whether the files that declare stops were read. One may be absent, not both."""
    names = {file.path for file in package.files}
    return package.generation.complete and not names.isdisjoint({_GENERATION, _CONFIG})


def _eos(package: Package) -> tuple[str, ...]:
    return (package.tokenizer.eos,) if package.tokenizer.eos else ()


def _config(package: Package) -> tuple[int, ...]:
    ids = package.generation.eos_ids
    return ids.get(_CONFIG) or ids.get(_TEXT_CONFIG) or ()


def _generation_config(package: Package) -> tuple[int, ...]:
    """`generation_config.json`; config.json where there is none. transformers' `generate` looks at nothing
    else, the tokenizer's token included."""
    if package.generation.has_generation_config:
        return package.generation.eos_ids.get(_GENERATION, ())
    return _config(package)


def _vllm(package: Package) -> _Tokens:
    return (*_eos(package), *_generation_config(package))


def _sglang(package: Package) -> _Tokens:
    added = {token.text for token in package.tokenizer.added_tokens or ()}
    named = [text for text in _SGLANG_TEXTS if text in added]
    return (*_eos(package), *_config(package), *_generation_config(package), *named)


def _tgi(package: Package) -> _Tokens:
    """A list in generation_config.json replaces the tokenizer's token; a single id there is ignored."""
    listed = _GENERATION in package.generation.listed
    return package.generation.eos_ids[_GENERATION] if listed else _eos(package)


_ENGINES: Mapping[str, Callable[[Package], _Tokens]] = {
    "transformers": _generation_config,
    "vLLM": _vllm,
    "SGLang": _sglang,
    "TGI": _tgi,
}


def _converted(package: Package) -> EngineStops:
    """The converter keeps one token: the tokenizer's, else the id in config.json if it is a single one."""
    added = package.tokenizer.added_tokens
    if added is None:
        return _stops("llama.cpp", _eos(package), _NO_TOKENS)
    own: _Tokens = _eos(package)
    if not own:
        own = _config(package) if _CONFIG not in package.generation.listed else ()
    unknown = "" if own or _is_whole(package) else _NOT_HERE
    return _stops("llama.cpp", (*own, *_by_text({token.text for token in added}.__contains__)), unknown)


def _llama_cpp(package: Package, gguf: GgufFacts) -> EngineStops:
    if gguf.vocabulary is None:
        return EngineStops("llama.cpp", unknown="the file holds no vocabulary")
    has = gguf.vocabulary.index
    declared = _declared(package, gguf, ("eos_token_id", "eot_token_id", "eom_token_id"))
    named = _by_text(lambda text: has(text) is not None)
    return _stops("llama.cpp", (*declared, *gguf.fim_ids, *named))


def _ollama(package: Package, gguf: GgufFacts) -> EngineStops:
    """A Modelfile's `stop` strings are not in the file."""
    return _stops("Ollama", _declared(package, gguf, ("eos_token_id", "eos_token_ids")))


def _declared(package: Package, gguf: GgufFacts, keys: Iterable[str]) -> list[int]:
    ids = package.generation.eos_ids
    return [number for key in keys for number in ids.get(f"{gguf.file}#tokenizer.ggml.{key}", ())]


def _by_text(has: Callable[[str], bool]) -> list[str]:
    found = [text for text in _LLAMA_CPP_TEXTS if has(text)]
    spared = {text for text, others in _LLAMA_CPP_EXCEPT if all(map(has, others))}
    return [text for text in found if text not in spared]
