"""Conformance vectors: what a template must give in any engine, one JSON object per case and host.

A vector goes from a conversation to its prompt, with the origin of every character, and where the case is
about a message that a model wrote, on to the model's text and the message it must be read as.
`docs/vectors.md` says what each member means, `vector.schema.json` holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatlint.conversation import JSON, Conversation
from chatlint.infer.learn import learn
from chatlint.parse.formats import OutputFormat
from chatlint.probe.case import Case, Observation
from chatlint.probe.trace import Trace
from chatlint.render.rendered import FIXED_CLOCK
from chatlint.render.syntax import syntax_of
from chatlint.text import Computed, Input, Literal, Prompt, Span, Special
from chatlint.verify.comparison import differences
from chatlint.verify.roundtrip import readings
from chatlint.verify.trip import Cause
from chatlint.verify.written import Written

SCHEMA = "chatlint.vector/1"
_UNSURE = (Cause.PARSER, Cause.AMBIGUOUS)
"""A message that came back otherwise for these causes says nothing about how its text must be read."""


def vectors(trace: Trace) -> Iterator[dict[str, JSON]]:
    """A vector for every probe, as it is written and without a generation prompt, and for every message that
    can be read back, on the trace's host."""
    syntax = syntax_of(trace.template.text)
    output = None if syntax.fault else learn(trace, syntax)
    read = {} if output is None else _readings(trace, output)
    cases = {case.id: case for case in _cases(trace)}
    cases |= {name: sent.observation.case for name, sent in read.items()}
    for name, case in cases.items():
        sent = read.get(name)
        yield _vector(trace, trace.ask(case), _reading(output, sent) if output and sent else None)


def _cases(trace: Trace) -> Iterator[Case]:
    for name in trace.probes.ids():
        yield trace.case(name)
        if "generation" in trace.probes.probe(name).vary:
            yield trace.case(name, generation="off")


def _readings(trace: Trace, output: OutputFormat) -> dict[str, Written]:
    return {sent.observation.case.id: sent for sent in readings(trace, output)}


def _vector(trace: Trace, seen: Observation, reading: JSON) -> dict[str, JSON]:
    template, case, failure = trace.template, seen.case, seen.failure
    tokens: dict[str, JSON] = {
        name: list(token) if isinstance(token, tuple) else token
        for name, token in template.special_tokens.items()
    }
    return {
        "schema": SCHEMA,
        "id": f"{template.name}/{trace.settings.host}/{case.id}",
        "template": {"name": template.name, "sha256": template.sha256},
        "host": trace.settings.host,
        "case": case.id,
        "conversation": _conversation(case.conversation),
        "add_generation_prompt": case.add_generation_prompt,
        "continue_final_message": case.continue_final_message,
        "special_tokens": tokens,
        "now": FIXED_CLOCK.isoformat(),
        "prompt": _prompt(seen.prompt) if seen.prompt is not None else None,
        "failure": {"kind": failure.kind, "message": failure.message} if failure else None,
        "reading": reading,
    }


def _conversation(conversation: Conversation) -> dict[str, JSON]:
    """Members that are absent are not there: null is another input."""
    given: dict[str, JSON] = {"messages": list(conversation.messages)}
    if conversation.tools is not None:
        given["tools"] = list(conversation.tools)
    if conversation.documents is not None:
        given["documents"] = list(conversation.documents)
    if conversation.template_kwargs:
        given["template_kwargs"] = dict(conversation.template_kwargs)
    return given


def _prompt(prompt: Prompt) -> dict[str, JSON]:
    return {"text": prompt.text, "spans": [_span(span) for span in prompt.spans]}


def _span(span: Span) -> list[JSON]:
    """Where it begins and ends, and its origin as few items as tell it."""
    match span.origin:
        case Input(pointer, offset, key):
            return [span.start, span.end, "key" if key else "input", pointer, offset]
        case Special(name):
            return [span.start, span.end, "special", name]
        case Literal(line, column):
            return [span.start, span.end, "literal", line, column]
        case Computed(line):
            return [span.start, span.end, "computed", line]


def _reading(output: OutputFormat, sent: Written) -> Mapping[str, JSON] | None:
    """A model's text and its message; None where the format does not decide it."""
    parser = output.parser(tools=sent.observation.case.conversation.tools, generation_prompt=sent.prompt)
    message = parser.parse(sent.text + sent.stop)
    if any(difference.cause in _UNSURE for difference in differences(output, sent, message)):
        return None
    return {
        "after": sent.prompt,
        "text": sent.text,
        "stop": sent.stop,
        "message": {"role": "assistant", **message},
    }
