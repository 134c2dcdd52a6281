"""From what was read to a Package: which template its host would use, with which tokens and facts."""

from __future__ import annotations

from chatlint.errors import NoTemplateError, TargetError
from chatlint.source.directory import JSON_FILES, TEMPLATE_READERS, TOKENIZER_FILE, Reading
from chatlint.source.engine_templates import engine_templates
from chatlint.source.found import Reader, choose
from chatlint.source.kv_cache import kv_cache
from chatlint.source.package import (
    EngineTemplate,
    GenerationFacts,
    Package,
    Target,
    TargetKind,
    TokenizerFacts,
)
from chatlint.source.special import SpecialTokens, is_byte_level, special_tokens
from chatlint.source.tokenizer import TokenizerFiles, generation_facts, tokenizer_facts

_GENERATION_FILES = ("generation_config.json", "config.json")
_READ_HINT = "put that file right, or name the one that has the template"


def package_of(target: Target, reading: Reading, *, host: str) -> Package:
    """Put together what was read. Raises TargetError if there is no template in it."""
    chosen, copies = choose(reading.found)
    if not chosen:
        raise no_template(target, reading)
    tokens = _tokens(reading, host)
    return Package(
        target=target,
        templates=tuple(item.template(tokens, reading.tokens) for item in chosen),
        copies=tuple(item.template(tokens, reading.tokens) for item in copies),
        tokenizer=_tokenizer(reading, tokens, from_gguf=chosen[0].reader is Reader.GGUF),
        generation=_generation(reading),
        files=tuple(reading.files),
        failures=tuple(reading.failures),
        ggufs=tuple(gguf.facts for gguf in reading.ggufs),
        notes=tuple(reading.notes),
        template_readers=_template_readers(reading),
        kv_cache=kv_cache(reading.objects.get("config.json")),
        response_template=reading.objects.get("tokenizer_config.json", {}).get("response_template"),
        named_parsers=reading.named_parsers,
    )


def no_template(target: Target, reading: Reading) -> TargetError:
    """Why there is nothing to judge, as far as the files tell."""
    name = target.locator
    unread = [failure for failure in reading.failures if _may_hold_template(failure.subject)]
    if unread:
        return TargetError(f"{name} has no readable chat template: {unread[0].message}", hint=_READ_HINT)
    encoders = sorted(path for path in reading.paths if path.startswith("encoding/") and path.endswith(".py"))
    if encoders:
        return NoTemplateError(
            f"{name} has no chat template: its prompts are written by Python code ({encoders[0]})",
            hint="chatlint judges Jinja templates; look for a conversion that has one",
        )
    if "tekken.json" in reading.paths:
        return NoTemplateError(
            f"{name} has no chat template: its prompts are written by mistral-common (tekken.json)",
            hint="look for a conversion that has a Jinja template",
        )
    if target.kind in (TargetKind.DIRECTORY, TargetKind.CORPUS) and not _holds_model_files(reading):
        return NoTemplateError(
            f"{name} holds no model files", hint="name the directory of tokenizer_config.json"
        )
    return NoTemplateError(f"{name} has no chat template", hint=_where_else(target, reading))


def _may_hold_template(subject: str) -> bool:
    file = subject.partition("#")[0]
    return file in TEMPLATE_READERS or file.endswith((".jinja", ".gguf"))


def _where_else(target: Target, reading: Reading) -> str:
    if target.kind is TargetKind.FILE and len(reading.objects) == 1:
        return "name the model's directory, or the file that has the template"
    return "it may be a base model; `--template FILE` judges a template with its tokens"


def _holds_model_files(reading: Reading) -> bool:
    known = {*JSON_FILES, TOKENIZER_FILE}
    weights = (".gguf", ".safetensors", ".model", ".bin", ".tiktoken")
    return any(path in known or path.endswith(weights) for path in reading.paths)


def _tokens(reading: Reading, host: str) -> SpecialTokens | None:
    """The variables of the package: of its tokenizer files, else of its GGUF; the user's own on top."""
    own = reading.ggufs[0].tokens if reading.ggufs and not reading.has_tokens else None
    if reading.has_tokens:
        config = reading.objects.get("tokenizer_config.json", {})
        special_map = reading.objects.get("special_tokens_map.json", {})
        own = special_tokens(config, special_map, host=host, byte_level=is_byte_level(reading.head))
    return own if reading.tokens is None else (own or {}) | reading.tokens


def _tokenizer(reading: Reading, tokens: SpecialTokens | None, *, from_gguf: bool) -> TokenizerFacts:
    if reading.ggufs and (from_gguf or not reading.has_tokens):
        return reading.ggufs[0].tokenizer
    files = TokenizerFiles(
        config=reading.objects.get("tokenizer_config.json"),
        added=reading.objects.get("added_tokens.json"),
        head=reading.head,
        model_config=reading.objects.get("config.json"),
        paths=reading.paths | reading.unknown,
    )
    return tokenizer_facts(files, tokens or {})


def _template_readers(reading: Reading) -> tuple[EngineTemplate, ...]:
    """Of the target's own templates; where the user gave one, that is the question already answered."""
    if any(item.reader is Reader.USER for item in reading.found):
        return ()
    return engine_templates(reading.found, reading.paths, reading.objects.get("tokenizer_config.json"))


def _generation(reading: Reading) -> GenerationFacts:
    own = generation_facts(reading.objects.get("generation_config.json"), reading.objects.get("config.json"))
    ids, others, vocabulary = dict(own.eos_ids), dict(own.other_ids), own.vocabulary
    for gguf in reading.ggufs:
        ids |= gguf.generation.eos_ids
        others |= gguf.generation.other_ids
        vocabulary = vocabulary or gguf.generation.vocabulary
    there = reading.paths | reading.unknown
    unread = [name for name in _GENERATION_FILES if name in there and name not in reading.objects]
    has_generation_config = own.has_generation_config or _GENERATION_FILES[0] in unread
    return GenerationFacts(ids, has_generation_config, not unread, own.listed, others, vocabulary)
