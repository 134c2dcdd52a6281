"""What a format can be exported to, by name."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from chatlint.conversation import JSON, Tool
from chatlint.errors import UsageError, require
from chatlint.parse.formats import OutputFormat
from chatlint.text import visible, visible_json

if TYPE_CHECKING:
    from chatlint.export.turn import Request


class ExportTarget(StrEnum):
    """What reads the export."""

    RESPONSE_TEMPLATE = "response-template"
    """transformers 5, and vLLM and SGLang through it: JSON for `tokenizer_config.json`."""
    GBNF = "gbnf"
    """llama.cpp: a grammar of all that is written after the prompt."""
    LLAMA_CPP_REQUEST = "llama.cpp-request"
    """llama.cpp's server: the fields of a request, as JSON: a grammar, that of calls alone where it may sleep
    until one begins, its triggers, tokens to keep and stops."""
    LARK = "lark"
    """llguidance: a grammar."""
    STRUCTURAL_TAG = "structural-tag"
    """xgrammar: JSON."""
    VLLM = "vllm"
    SGLANG = "sglang"
    TENSORRT_LLM = "tensorrt-llm"
    LLAMA_CPP = "llama.cpp"
    DEEPINFER = "deepinfer"
    """Engines: flags in the first line, then what they rest on, as comments."""


_GRAMMARS = (
    ExportTarget.GBNF,
    ExportTarget.LLAMA_CPP_REQUEST,
    ExportTarget.LARK,
    ExportTarget.STRUCTURAL_TAG,
)
LOOSE_GRAMMARS = _GRAMMARS[:-1]
"""Those that can say that anything may be written."""

_DEEPINFER = (
    "# DeepInfer (2026-10) has no serving flags: it runs one model offline. Render its prompts and read its",
    "# output with the package deepseek-recipe, or read the output with chatlint's parser.",
)


def export_format(
    format: OutputFormat,  # noqa: A002 - the word of the public interface
    to: str,
    tools: Sequence[Tool] | None = None,
    tool_choice: str = "auto",
    parallel: bool = True,
    *,
    answer: JSON = None,
    generation_prompt: str | None = None,
    tokens: Mapping[str, int] | None = None,
    special_tokens: Mapping[str, int] | None = None,
    declared_stops: Collection[int] = (),
) -> str:
    """The format as text that `to` reads: response-template, gbnf, llama.cpp-request, lark, structural-tag,
    vllm, sglang, tensorrt-llm, llama.cpp or deepinfer.

    Grammars (gbnf, llama.cpp-request, lark, structural-tag) are made for a request: `tools` are OpenAI tool
    definitions (None: any tool), `tool_choice` is auto, required, none or a tool's name, `parallel` allows
    several calls, `answer` is a JSON Schema for the content (not together with tools), `generation_prompt`
    the text the prompt ends with, from the header on (None: the format's own). gbnf and lark are grammars as
    text; llama.cpp-request is JSON, the fields of a request with a grammar in `grammar`. With the tokenizer's
    added `tokens` (text to id) flags name stop ids, those that no file declares by `declared_stops`, and
    llama.cpp-request names tokens only; lark refers to `special_tokens` as tokens.

    Raises UsageError that says why where the format cannot be expressed, where a tool or the choice is none,
    or `to` is no target. Sources: the modules of `chatlint.export`.
    """
    target = _target(to)
    require(format, OutputFormat, "format", hint="chatlint.learn_format(template) makes one")
    if target is ExportTarget.DEEPINFER:
        return "\n".join((*_DEEPINFER, ""))
    if target is ExportTarget.RESPONSE_TEMPLATE:
        from chatlint.export.inversion import proven_template

        return _json(proven_template(format))
    if target in _GRAMMARS:
        from chatlint.export.turn import Request

        request = Request(tools, tool_choice, parallel, generation_prompt, answer)
        try:
            return _grammar(target, format, request, tokens, special_tokens)
        except RecursionError:
            raise UsageError(
                "the tools' schemas nest too deep for a grammar", hint="flatten them, or name parts by $ref"
            ) from None
    from chatlint.export.flags import serving_of

    serving = serving_of(format, tokens, frozenset(declared_stops))
    return "".join(f"{line}\n" for line in _flag_lines(serving.engines[target].to_dict(), serving.to_dict()))


def _target(name: str) -> ExportTarget:
    try:
        return ExportTarget(name)
    except ValueError:
        known = ", ".join(ExportTarget)
        raise UsageError(f"nothing is exported to {name!r}", hint=f"there are: {known}") from None


def _grammar(
    target: ExportTarget,
    output: OutputFormat,
    request: Request,
    tokens: Mapping[str, int] | None,
    special_tokens: Mapping[str, int] | None,
) -> str:
    from chatlint.export.turn import turn_grammar

    if target is ExportTarget.GBNF:
        from chatlint.export.gbnf import render_gbnf

        return render_gbnf(turn_grammar(output, request))
    if target is ExportTarget.LLAMA_CPP_REQUEST:
        from chatlint.export.gbnf import gbnf_bundle

        return _json(gbnf_bundle(output, request, tokens).to_dict())
    if target is ExportTarget.LARK:
        from chatlint.export.lark import render_lark

        return render_lark(turn_grammar(output, request), special_tokens)
    from chatlint.export.structural_tag import structural_tag

    return _json(structural_tag(output, request))


def _json(value: Mapping[str, JSON]) -> str:
    return f"{visible_json(value, 2)}\n"


_SHOWN = 8
"""Parsers that are named: many read reasoning between the usual marks, and the report has them all."""


def _flag_lines(engine: Mapping[str, JSON], shared: Mapping[str, JSON]) -> Iterator[str]:
    """Flags for a shell, then comments, in which marks are made visible."""
    flags = _texts(engine["flags"])
    if flags:
        yield " ".join(flags)
    yield from (f"# {visible(comment)}" for comment in _comments(engine, shared))


def _comments(engine: Mapping[str, JSON], shared: Mapping[str, JSON]) -> Iterator[str]:
    for name, key in (
        ("tool call parsers that fit", "tool_call_parser"),
        ("reasoning parsers that fit", "reasoning_parser"),
    ):
        if found := _texts(engine[key]):
            more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            yield f"{name}: {', '.join(found[:_SHOWN])}{more}"
    yield str(engine["basis"])
    for caveat in _texts(engine["caveats"]):
        yield f"but: {caveat}"
    if kwargs := engine["chat_template_kwargs"]:
        yield f"chat_template_kwargs: {json.dumps(kwargs)}"
    if stop := _texts(shared["stop"]):
        yield f"stop at: {' '.join(stop)}"
    if ids := shared["undeclared_stop_ids"]:
        yield f"stops that no file declares, for eos_token_id in generation_config.json: {json.dumps(ids)}"
    if kept := _texts(shared["preserved_tokens"]):
        yield f"tokens to keep in the output: {' '.join(kept)}"


def _texts(value: JSON) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
