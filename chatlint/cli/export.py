"""`chatlint export TARGET --to …`: the learned format as what engines need."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from chatlint.cli import options
from chatlint.cli.declared import Option

if TYPE_CHECKING:
    from chatlint.source.package import Package

To = Annotated[
    str,
    Option(
        "--to",
        metavar="WHAT",
        help="response-template, gbnf, llama.cpp-request, lark, structural-tag, vllm, sglang, tensorrt-llm, "
        "llama.cpp or deepinfer.",
    ),
]
Tools = Annotated[
    str | None, Option("--tools", metavar="FILE", help="The tools that a grammar allows, as JSON.")
]
ToolChoice = Annotated[
    str, Option("--tool-choice", metavar="CHOICE", help="auto, required, none, or a tool's name.")
]
NoParallel = Annotated[bool, Option("--no-parallel", help="At most one call in a turn.")]
Answer = Annotated[
    str | None,
    Option("--schema", metavar="FILE", help="JSON Schema of the answer; not together with tools."),
]
Kwargs = Annotated[
    str | None, Option("--kwargs", metavar="JSON", help="Template kwargs of the request, as an object.")
]


def export_target(
    target: options.Target,
    to: To,
    tools: Tools = None,
    tool_choice: ToolChoice = "auto",
    no_parallel: NoParallel = False,
    answer: Answer = None,
    kwargs: Kwargs = None,
    name: options.Name = None,
    host: options.Host = None,
    template: options.TemplateFile = None,
    special_tokens: options.SpecialTokens = None,
    revision: options.Revision = None,
    offline: options.Offline = False,
    untrusted: options.Untrusted = False,
) -> None:
    """Write the output format of a template as what serves it: parser flags, a response template, a grammar.

    Flags are one line, what they rest on follows as comments. All else is as its reader takes it: gbnf and
    lark are grammars of the whole answer, as text; llama.cpp-request is JSON for its server, with a grammar
    that sleeps until a call begins where that can be.
    """
    from chatlint.cli.inputs import read_json, read_kwargs, read_tools
    from chatlint.cli.learning import learn_for
    from chatlint.cli.loading import Wanted, opened_in_package
    from chatlint.export.targets import LOOSE_GRAMMARS, export_format

    known = read_tools(tools) if tools else None
    schema = read_json(answer) if answer else None
    wanted = Wanted(target, name, host, template, special_tokens, revision, offline, untrusted)
    with opened_in_package(wanted) as (package, trace):
        learned, prompt = learn_for(trace, known, read_kwargs(kwargs), "export/request")
    if known and learned.tool_calls is None:
        sys.stderr.write("note: the template shows no tool calls, so nothing is known of their form\n")
    elif learned.tool_calls is None and schema is None and to in LOOSE_GRAMMARS:
        sys.stderr.write("note: the template shows no tool calls, so the grammar takes any answer\n")
    text = export_format(
        learned,
        to,
        known,
        tool_choice,
        not no_parallel,
        answer=schema,
        generation_prompt=prompt,
        tokens=token_ids(package),
        special_tokens={
            token.text: token.id for token in package.tokenizer.added_tokens or () if token.special
        },
        declared_stops={number for ids in package.generation.eos_ids.values() for number in ids},
    )
    sys.stdout.write(text)


def token_ids(package: Package) -> dict[str, int] | None:
    """The added tokens of a package by text; None where it does not say."""
    tokens = package.tokenizer.added_tokens
    return None if tokens is None else {token.text: token.id for token in tokens}
