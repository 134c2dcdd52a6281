"""Which of a package's templates each engine would use.

Read in the engines' sources: transformers 5.24 (`tokenization_utils_base.py`, `processing_utils.py`), gguf
0.19 (`vocab.py`), llama.cpp of 2026-10 (`common/chat.cpp`), vLLM 0.33 (`renderers/hf.py`), SGLang 0.5.23
(`managers/template_manager.py`). They differ in two ways: the converter lets `tokenizer_config.json` win over
template files, transformers the other way round; and a processor reads other files than a tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

from chatlint.conversation import JSON
from chatlint.source.found import TEMPLATE_FILE, Found, Reader
from chatlint.source.package import EngineTemplate, TemplatePick

_Named: TypeAlias = Mapping[str, Found]
_PROCESSOR_FILES = frozenset({"processor_config.json", "preprocessor_config.json", "chat_template.json"})
CHATML = "built-in ChatML"


def engine_templates(
    found: Sequence[Found], paths: Iterable[str], config: Mapping[str, JSON] | None
) -> tuple[EngineTemplate, ...]:
    """One entry for each engine that can load a package with these templates and files; `config` is its
    `tokenizer_config.json`."""
    ggufs = _of(found, Reader.GGUF)
    made = [_llama_cpp("llama.cpp", ggufs)] if ggufs else []
    tokenizer = _of(found, Reader.TOKENIZER_FILES) or _of(found, Reader.TOKENIZER_CONFIG)
    is_multimodal = not _PROCESSOR_FILES.isdisjoint(paths)
    if not tokenizer and not is_multimodal:
        return (_entry("transformers tokenizer", ggufs, ggufs), *made)
    parts = _for_parts(found) if is_multimodal else {}
    own = [_entry("transformers tokenizer", tokenizer, tokenizer)]
    if is_multimodal:
        own.append(_entry("transformers processor", parts, _only_default(parts)))
    own += [_vllm(parts, tokenizer), _sglang(parts or tokenizer)]
    return (*own, _llama_cpp("llama.cpp after conversion", _converted(found, config)), *made)


def differ(picks: Iterable[EngineTemplate]) -> bool:
    """Whether two engines would render different texts for the same request."""
    picks = list(picks)
    without = {one.without_tools.sha256 if one.without_tools else "" for one in picks}
    return len(without) > 1 or len({one.with_tools.sha256 if one.with_tools else "" for one in picks}) > 1


def _of(found: Sequence[Found], reader: Reader) -> _Named:
    """By name; of one name the last wins, of several GGUFs the first."""
    items = [item for item in found if item.reader is reader]
    if reader is Reader.GGUF:
        items = [item for item in items if item.place.file == items[0].place.file]
    return {item.name: item for item in items}


def _for_parts(found: Sequence[Found]) -> _Named:
    """processor_config.json, else the older chat_template.json, else the template files."""
    readers = (Reader.PROCESSOR_CONFIG, Reader.CHAT_TEMPLATE_JSON, Reader.TOKENIZER_FILES)
    return next((named for reader in readers if (named := _of(found, reader))), {})


def _converted(found: Sequence[Found], config: Mapping[str, JSON] | None) -> _Named:
    """The converter looks at nothing without a tokenizer_config.json; an entry there wins even if it is null
    or an object of names, which it does not understand; and additional templates need a first one."""
    if not config:
        return {}
    if "chat_template" in config:
        usable = isinstance(config["chat_template"], str | list)
        return _of(found, Reader.TOKENIZER_CONFIG) if usable else {}
    files = _of(found, Reader.TOKENIZER_FILES)
    if any(item.place.file == TEMPLATE_FILE for item in found):
        return files
    return _of(found, Reader.CHAT_TEMPLATE_JSON)


def _only_default(named: _Named) -> _Named:
    """A processor does not look for `tool_use`."""
    return {name: item for name, item in named.items() if name == "default"}


def _vllm(parts: _Named, tokenizer: _Named) -> EngineTemplate:
    """A processor's template for requests without tools, the tokenizer's for those with tools."""
    note = "" if tokenizer else "requests with tools find no template unless --chat-template names one"
    return _entry("vLLM", parts or tokenizer, tokenizer, note)


def _sglang(named: _Named) -> EngineTemplate:
    first = {"default": next(iter(named.values()))} if named else {}
    return _entry("SGLang", first, first, "of several named templates the first" if len(named) > 1 else "")


def _llama_cpp(engine: str, named: _Named) -> EngineTemplate:
    """`tool_use` where there are tools, or nothing else; with no template at all, ChatML."""
    default = named.get("default") or named.get("tool_use")
    usable = {**named, "default": default} if default else {}
    return _entry(engine, usable, usable, "" if usable else CHATML)


def _entry(engine: str, without: _Named, with_tools: _Named, note: str = "") -> EngineTemplate:
    plain, tools = without.get("default"), with_tools.get("tool_use") or with_tools.get("default")
    return EngineTemplate(engine, _pick(plain), _pick(tools), note)


def _pick(item: Found | None) -> TemplatePick | None:
    if item is None:
        return None
    sha = sha256(item.text.encode("utf-8", "surrogatepass")).hexdigest()
    return TemplatePick(item.place.file, item.name, sha)
