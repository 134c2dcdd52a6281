"""Which parsers of serving engines read what the model writes, and whether the named one does.

## What it does
Compares the output format that was learned from the template, its marks and its structure, with those that
engines' parsers read, and names all that fit. Where the model card beside the files names a parser
(`--tool-call-parser`), it looks whether that is one of them.

## Why is this bad
A parser for other marks hands the call to the client as text; one for the same marks and another body drops
or garbles arguments. Nothing fails at start-up: the flag is a name, and nobody compares it with the template.

## Example
```json named_parsers
[{"kind": "tool", "name": "mistral", "engine": "vllm"}]
```
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ a if a is string else a | tojson }}}
</tool_call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
`chatlint export TARGET --to vllm` (or `sglang`, `tensorrt-llm`, `llama.cpp`) prints the flags. Where no
parser fits, `--to response-template` writes one for transformers, vLLM and SGLang, and `--to lark` or
`--to gbnf` a grammar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.calls import FUNCTION, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.sights import at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.export.serving import EngineServing, Serving
    from chatlint.parse.formats import OutputFormat
    from chatlint.rules.subject import Subject
    from chatlint.source.package import NamedParser

_TOOL = "tool"
_OWN = {"hf", "response_template", "auto"}
"""Names that stand for whatever the package itself says."""


@rule("CT802", severity=Severity.INFO, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    output, serving = subject.format, subject.serving
    if output is None or serving is None or (output.tool_calls is None and output.reasoning is None):
        return
    for named in subject.package.named_parsers:
        yield from _misfit(output, serving, named)
    yield _fitting(subject, output, serving)


# -- what fits -----------------------------------------------------------------------------------------------


def _fitting(subject: Subject, output: OutputFormat, serving: Serving) -> Cause:
    fit = [(engine, names) for engine in serving.engines.values() if (names := _names(engine))]
    none = [engine.name for engine in serving.engines.values() if not engine.fits]
    said = [f"{engine.name} {engine.version} with {names}" for engine, names in fit]
    if none:
        said.append(f"no parser of {' or '.join(none)} reads its calls")
    sure = output.confidence.value == Confidence.HIGH.value
    return Cause(
        key="parsers",
        message="what the model writes is read by " + "; ".join(said)
        if fit
        else "no parser of any known engine reads what the model writes",
        consequence="With another parser, calls reach clients as text, or not at all.",
        sights=_shown(subject),
        fix=_advice(serving) if none or not fit else "",
        confidence=Confidence.HIGH if sure else Confidence.MEDIUM,
    )


def _shown(subject: Subject) -> tuple[Sight, ...]:
    """What is to be read: a call."""
    way = supported(subject)
    return () if way is None else (at(subject.see("calls/one", way, generation="off"), FUNCTION, "a call"),)


def _names(engine: EngineServing) -> str:
    calls, reasoning = _listed(engine.tool_call_parser), _listed(engine.reasoning_parser)
    return ", ".join((*((calls,) if calls else ()), *((f"reasoning {reasoning}",) if reasoning else ())))


def _listed(names: tuple[str, ...]) -> str:
    """The best, and how many others there are."""
    if not names:
        return ""
    return f"`{names[0]}`" + (f" (or {len(names) - 1} more)" if len(names) > 1 else "")


def _advice(serving: Serving) -> str:
    if serving.why_not:
        return "Force calls with a grammar: `chatlint export TARGET --to lark`, or `--to gbnf`."
    return (
        "Put a response template into tokenizer_config.json: `chatlint export TARGET --to response-template`."
    )


# -- what the package names ----------------------------------------------------------------------------------


def _misfit(output: OutputFormat, serving: Serving, named: NamedParser) -> Iterator[Cause]:
    """A parser of this name is known, and is made for another format."""
    from chatlint.export.known import engines

    part = output.tool_calls if named.kind == _TOOL else output.reasoning
    asked = [engines()[named.engine]] if named.engine in engines() else list(engines().values())
    known = [
        engine
        for engine in asked
        if named.name
        in [parser.name for parser in (engine.tool if named.kind == _TOOL else engine.reasoning)]
    ]
    if not known or part is None or named.name in _OWN:
        return  # a plugin's, or a later version's: nothing is known of it
    fitting = [name for engine in known for name in _fits(serving.engines[engine.key], named.kind)]
    if named.name in fitting or not (fitting or named.kind == _TOOL):
        return
    where = " or ".join(engine.name for engine in known)
    instead = f"; {_listed(tuple(fitting))} reads it" if fitting else ""
    kind = "tool calls" if named.kind == _TOOL else "reasoning"
    yield Cause(
        key=f"{named.kind} {named.name} {named.engine}",
        message=f"{named.file} names the parser `{named.name}` of {where} for {kind}, which reads another "
        f"format than the template writes{instead}",
        consequence="Served as the card says, calls reach clients as text, or with other arguments."
        if named.kind == _TOOL
        else "Served as the card says, reasoning reaches clients as the answer, or the other way round.",
        file=named.file,
        line=named.line,
        severity=Severity.WARNING,
        fix="`chatlint export TARGET --to vllm` prints the flags that fit.",
    )


def _fits(engine: EngineServing, kind: str) -> tuple[str, ...]:
    return engine.tool_call_parser if kind == _TOOL else engine.reasoning_parser
