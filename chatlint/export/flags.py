"""Which named parsers of which engine read a format, and what will go wrong with them.

Theory of operation. The format is compared with known formats (`known.py`), and engines' parsers are known by
the formats they read. All that fit are named; first comes the one that was seen to read calls whole and
streamed, then the order of the table. A reasoning parser fits by its marks; which is first depends on what it
takes bare text for, since a prompt that opens reasoning leaves the model's text without an opener.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from chatlint.conversation import JSON
from chatlint.errors import ChatlintError
from chatlint.export.known import Engine, Match, Parser, engines, family, match_of, nested_of, reasoning_of
from chatlint.export.marks import mark_tags
from chatlint.export.response_template import response_template
from chatlint.export.serving import EngineServing, Serving
from chatlint.export.writing import fill
from chatlint.parse.formats import Confidence, OutputFormat, ReasoningState, ToolCalls
from chatlint.parse.markers import is_strong
from chatlint.parse.vocabulary import ToolFormat, tool_format
from chatlint.records import replace
from chatlint.source.package import Package

_RANK = {"ooo": 0, "oon": 1, "oox": 1, "onn": 2, "oxx": 2, "": 3}
_SEEN = {
    "ooo": "seen to read calls whole and streamed",
    "oon": "seen to read calls whole; streamed only in some chunk sizes",
    "onn": "seen to read calls whole; streamed it gives names only",
    "oxx": "seen to read calls whole, not streamed",
    "": "not run",
}
_RESPONSE_TEMPLATE = {"vllm": "hf", "sglang": "response_template"}
"""The parser that reads with the checkpoint's own response template."""
_FLAGS = {
    "vllm": ("--tool-call-parser", "--reasoning-parser"),
    "sglang": ("--tool-call-parser", "--reasoning-parser"),
    "tensorrt-llm": ("--tool_parser", "--reasoning_parser"),
}
_LLAMA_CPP = "llama.cpp"
_ANALYSED = {ToolFormat.NONE, ToolFormat.JSON_NATIVE, ToolFormat.TAG_WITH_JSON, ToolFormat.TAG_WITH_TAGGED}


def serving_in(package: Package, output: OutputFormat) -> Serving:
    """How to serve the format with a package's own tokens and stops."""
    added = package.tokenizer.added_tokens
    tokens = None if added is None else {token.text: token.id for token in added}
    declared = {number for ids in package.generation.eos_ids.values() for number in ids}
    if tokens and package.tokenizer.eos in tokens:
        declared.add(tokens[package.tokenizer.eos])
    return serving_of(output, tokens, frozenset(declared))


def serving_of(
    output: OutputFormat, tokens: Mapping[str, int] | None = None, declared: frozenset[int] = frozenset()
) -> Serving:
    """How to serve the format. `tokens`: ids of the tokenizer's added tokens by text; `declared`: the ids at
    which files tell engines to stop. Where the tokens are not known, the marks themselves are named."""
    try:
        response_template(output)
        why_not = ""
    except ChatlintError as error:
        why_not = error.message
    stop = tuple(dict.fromkeys(fill(mark, {}).strip() for mark in output.end_of_turn))
    ids = tuple(tokens[mark] for mark in stop if tokens and mark in tokens)
    found = match_of(output)
    return Serving(
        {key: _engine(engine, output, found, why_not) for key, engine in engines().items()},
        family(output),
        why_not,
        stop,
        ids,
        tuple(number for number in ids if number not in declared),
        tuple(mark for mark in mark_tags(output) if tokens is None or mark in tokens),
    )


def _engine(engine: Engine, output: OutputFormat, found: Match | None, why_not: str) -> EngineServing:
    if _shows_nothing(output):
        return EngineServing(engine.name, engine.version, basis="no answer was shown")
    if engine.key == _LLAMA_CPP:
        return _llama_cpp(engine, output, found)
    tools = _tool_parsers(engine, found, _wrapper(output)) if found else []
    reasoning = _reasoning_parsers(engine, output, found)
    if output.tool_calls and not tools:
        return _nothing_fits(engine, output, found, reasoning, why_not)
    made = EngineServing(
        engine.name,
        engine.version,
        tuple(parser.name for parser in tools),
        tuple(parser.name for parser in reasoning),
        _basis(engine, output, found, tools, reasoning),
        tuple(_caveats(output, found, tools, reasoning)),
        _flags(engine, [parser.name for parser in tools], [parser.name for parser in reasoning]),
    )
    return replace(made, chat_template_kwargs=_kwargs(output, reasoning))


def _shows_nothing(output: OutputFormat) -> bool:
    """Whether no prompt has anything to learn from, as where none is ever rendered."""
    content = output.grounds.get("content")
    learned = output.reasoning or output.tool_calls or output.generation_prompt.text
    return content is not None and content.confidence is Confidence.NONE and not learned


# -- tool calls ----------------------------------------------------------------------------------------


def _tool_parsers(engine: Engine, found: Match, wrapper: str) -> list[Parser]:
    """The parsers that read this format, best first: those that take off what stands around the content, then
    those that were seen to read it."""
    reads = [
        parser
        for parser in engine.tool
        if found.known.id in parser.reads and parser.needed(found.known.id) in found.written
    ]
    return sorted(reads, key=lambda p: (p.content != wrapper, _RANK.get(p.reads[found.known.id], 3)))


def _wrapper(output: OutputFormat) -> str:
    """The mark that opens content, "" if content stands bare. What only closes something before it, as tool
    results, the model does not write."""
    openers = (marks.start.strip() for marks in output.content.every)
    return next((one for one in openers if is_strong(one) and not _only_closes(one)), "")


def _only_closes(text: str) -> bool:
    from chatlint.infer.markers import closes, marks

    found = marks(text)
    return bool(found) and all(map(closes, found))


def _nothing_fits(
    engine: Engine, output: OutputFormat, found: Match | None, reasoning: list[Parser], why_not: str
) -> EngineServing:
    """What to do where no named parser reads the calls."""
    own = _RESPONSE_TEMPLATE.get(engine.key)
    named = f"a known format ({found.known.id})" if found else "markers and structure that are new"
    known = f"{named}; no parser of {engine.name} {engine.version} reads it"
    if own and not why_not:
        basis = (
            f"{known}: put the response template (chatlint export --to response-template) into "
            "tokenizer_config.json"
        )
        thinks = [own] if output.reasoning else []
        return EngineServing(
            engine.name, engine.version, (), (), basis, tuple(_template_caveats(output)),
            _flags(engine, [own], thinks), fits=False,
        )  # fmt: skip
    basis = (
        f"{known}: force it with a grammar (chatlint export --to lark, --to structural-tag), read it with "
        "chatlint's parser"
    )
    names = [parser.name for parser in reasoning]
    return EngineServing(
        engine.name, engine.version, (), tuple(names), basis, (why_not,) if own else (),
        _flags(engine, [], names), fits=False,
    )  # fmt: skip


def _template_caveats(output: OutputFormat) -> Iterator[str]:
    calls = output.tool_calls
    if calls and not (calls.call_end + calls.section_end).strip().strip("]"):
        yield (
            "a call ends with the text here, and engines take a call without an end for one that was cut "
            "off: they drop the last one"
        )


# -- reasoning -----------------------------------------------------------------------------------------


def _reasoning_parsers(engine: Engine, output: OutputFormat, found: Match | None) -> list[Parser]:
    """The parsers with these marks, best first: those that take bare text for what it is, the models' own
    first."""
    marks = reasoning_of(output.reasoning) if output.reasoning else None
    pairs = found.known.pairs.get(engine.key, ()) if found else ()
    fitting = [parser for parser in engine.reasoning if marks in parser.reads]
    order = {parser.name: index for index, parser in enumerate(engine.reasoning)}
    return sorted(
        fitting,
        key=lambda p: (
            p.content != _wrapper(output),
            _misreads(p, output, p.name in pairs),
            p.name not in pairs,
            order[p.name],
        ),
    )


def _misreads(parser: Parser, output: OutputFormat, paired: bool) -> bool:
    """Whether text without an opener means something else to the parser than the prompt left it."""
    opened = output.generation_prompt.reasoning is ReasoningState.OPEN
    if parser.bare == "toggle":
        return opened and not output.generation_prompt.by_switch
    if parser.bare == "reasoning":
        switched = bool(output.generation_prompt.by_switch)
        unopened = output.generation_prompt.reasoning is ReasoningState.NONE
        return not opened and not (paired and unopened and switched)
    return opened


def _kwargs(output: OutputFormat, reasoning: list[Parser]) -> Mapping[str, JSON]:
    """Template kwargs that make the prompt as the best reasoning parser takes it to be, where it is not."""
    if not reasoning or not _misreads(reasoning[0], output, False):
        return {}
    wanted = reasoning[0].bare == "reasoning"
    for prompt in output.generation_prompt.by_switch:
        if (prompt.reasoning is ReasoningState.OPEN) is wanted:
            return dict(prompt.switches)
    return {}


# -- words ---------------------------------------------------------------------------------------------


def _basis(
    engine: Engine, output: OutputFormat, found: Match | None, tools: list[Parser], reasoning: list[Parser]
) -> str:
    said: list[str] = []
    version = f"{engine.name} {engine.version}"
    if tools and found:
        space = "" if found.same_space else ", but for white space"
        seen = _SEEN.get(tools[0].reads[found.known.id], "")
        said.append(f"same markers and structure as {version} `{tools[0].name}` reads{space} ({seen})")
    if reasoning:
        said.append(f"same marks around reasoning as {version} `{reasoning[0].name}`")
    elif output.reasoning:
        said.append(f"no reasoning parser of {version} has these marks")
    if not output.tool_calls:
        said.append("no tool calls were shown")
    return "; ".join(said)


def _caveats(
    output: OutputFormat, found: Match | None, tools: list[Parser], reasoning: list[Parser]
) -> Iterator[str]:
    """What will go wrong with the best parsers."""
    calls = output.tool_calls
    if tools and found and calls:
        yield from _tool_caveats(calls, found, tools[0])
    if reasoning:
        yield from _reasoning_caveats(output, reasoning[0])
    wrapper = _wrapper(output)
    if wrapper and not any(parser.content == wrapper for parser in (*tools[:1], *reasoning[:1])):
        yield f"the {wrapper} that opens an answer reaches the client as part of it"


def _tool_caveats(calls: ToolCalls, found: Match, parser: Parser) -> Iterator[str]:
    if parser.insists and parser.insists not in found.written:
        yield f"`{parser.name}` insists on the token {parser.insists}, which this format never writes"
    if parser.note:
        yield f"`{parser.name}`: {parser.note}"
    if found.known.note:
        yield found.known.note
    if found.without_id:
        yield "each call's id is written but not read: engines make ids of their own"
    nested = nested_of(calls)
    if found.known.nested not in ("any", nested):
        yield (
            f"objects and lists inside arguments are written as {_NESTED[nested]}, "
            f"where `{parser.name}` expects {_NESTED[found.known.nested]}"
        )


_NESTED = {"json": "JSON", "python": "Python literals", "marks": "elements of their own"}


def _reasoning_caveats(output: OutputFormat, parser: Parser) -> Iterator[str]:
    if parser.note:
        yield f"`{parser.name}`: {parser.note}"
    state = output.generation_prompt.reasoning
    kwargs = _kwargs(output, [parser])
    also = f"; with chat_template_kwargs {json.dumps(dict(kwargs))} they agree" if kwargs else ""
    if parser.bare == "reasoning" and state is not ReasoningState.OPEN:
        off = _off(output)
        told = f" (chat_template_kwargs {json.dumps(off)} prevents it)" if off and not kwargs else also
        yield (
            f"`{parser.name}` takes text without an opener for reasoning, and the prompt opens none: "
            f"an answer without thoughts arrives as reasoning{told}"
        )
    if parser.bare == "content" and state is ReasoningState.OPEN:
        yield (
            f"`{parser.name}` takes text without an opener for content, but the prompt opens reasoning{also}"
        )


def _off(output: OutputFormat) -> dict[str, JSON]:
    """The switch that closes reasoning in the prompt."""
    for prompt in output.generation_prompt.by_switch:
        if prompt.reasoning is ReasoningState.CLOSED:
            return dict(prompt.switches)
    return {}


def _flags(engine: Engine, tools: list[str], reasoning: list[str]) -> tuple[str, ...]:
    tool_flag, reasoning_flag = _FLAGS[engine.key]
    found: list[str] = []
    if tools:
        found += ["--enable-auto-tool-choice"] if engine.key == "vllm" else []
        found += [tool_flag, tools[0]]
    return (*found, *((reasoning_flag, reasoning[0]) if reasoning else ()))


def _llama_cpp(engine: Engine, output: OutputFormat, found: Match | None) -> EngineServing:
    """llama.cpp takes no parser's name: it analyses the template, or knows it by its text."""
    built_in = [parser.name for parser in engine.tool if found and found.known.id in parser.reads]
    kind = tool_format(output)
    caveats: list[str] = []
    if built_in:
        basis = f"its built-in parser `{built_in[0]}` reads this format, if it recognises the template's text"
    elif kind in _ANALYSED and _tagged(output):
        basis = f"its analyser covers this kind of format ({kind})"
    else:
        basis = f"its analyser has no word for this kind of format ({kind})"
        caveats.append(
            "force it with a grammar (chatlint export --to gbnf) and read it with chatlint's parser"
        )
    calls = output.tool_calls
    if calls and not is_strong((calls.section_start + calls.call_start).strip()):
        caveats.append("calls begin without a marker, so with tool choice auto there is no grammar")
    if kind is ToolFormat.TAG_WITH_TAGGED:
        caveats.append("its grammar wants required arguments in the schema's order")
    return EngineServing(
        engine.name, engine.version, tuple(built_in), (), basis, tuple(caveats), ("--jinja",)
    )


def _tagged(output: OutputFormat) -> bool:
    """Whether all marks begin as llama.cpp's analyser expects marks to begin."""
    marks = [marks.start.strip() for marks in (output.reasoning.every if output.reasoning else ())]
    calls = output.tool_calls
    marks += [(calls.section_start + calls.call_start).strip()] if calls else []
    return all(mark[:1] in ("<", "[", "") for mark in marks)
