"""Arguments of tool calls are read in one shape only.

## What it does
Sends the arguments of a call as an object and as a JSON string, as OpenAI's API has them, and compares the
prompts. Also sends arguments of every type: numbers, booleans, null, lists, objects.

## Why is this bad
Clients and data sets store the string; engines that hand it on unparsed get it escaped a second time
(`"{\\"city\\": …}"`): the model sees, and learns, calls that no parser reads. Nothing fails, so nobody
notices. A template that breaks on the string at least says so; one that breaks on objects breaks with
engines that parse first.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}
<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.conversation import value_at
from chatlint.probe.reading import Fate, Notation, fate, notation
from chatlint.rules.branches import printed_or_branch
from chatlint.rules.calls import ARGUMENTS, arguments_in, call_shown, in_history, named, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.edits import Mending, several, text_or_json, text_or_json_inside
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.sights import at, crashes, declined, faulted, said
from chatlint.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation, Variant
    from chatlint.rules.subject import Subject

_VALUES = {
    "arguments/integer": "numbers",
    "arguments/false": "booleans",
    "arguments/null": "null",
    "arguments/array": "lists",
    "arguments/object": "objects",
}
"""Probes with one argument, and what that is."""
_CALLERS = "Have callers parse texts: Jinja reads no JSON."
_NO_JSON = "Refuse texts with `raise_exception`, or have callers parse them: Jinja reads no JSON."
_FIX = "`{% if arguments is string %}{{ arguments }}{% else %}{{ arguments | tojson }}{% endif %}`"


def _shows(seen: Observation) -> bool:
    """Whether the arguments of any call are not JSON (Python's None among them), or JSON twice."""
    conversation = seen.case.conversation
    return any(
        value_at(conversation, place) is None
        or notation(seen, place) in (Notation.PYTHON, Notation.JSON_STRING)
        for place in arguments_in(conversation)
    )


_MENDING = Mending(
    several(text_or_json("arguments"), text_or_json_inside("function", "arguments")),
    _shows,
    ("arguments", ("object", "string")),
    "prints `arguments` by itself, or `function | tojson`",
)


@rule("CT405", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    way = supported(subject)
    if way is None:
        yield from _neither(subject)
        return
    ids = {axis: value for axis, value in way.items() if axis != "arguments"}
    objects = [subject.see("calls/one-result", ids), in_history(subject, ids)]
    strings = [
        subject.see("calls/one-result", ids, arguments="string"),
        in_history(subject, {**ids, "arguments": "string"}),
    ]
    own = any(
        one.prompt and notation(one, ARGUMENTS) is Notation.OTHER and call_shown(one) for one in objects
    )
    yield from _one_shape(objects, "an object", "a string", _FIX)
    yield from _one_shape(strings, "a string", "an object", _NO_JSON if own else _FIX)
    yield from _types(subject, ids) if objects[0].prompt else ()
    yield from _escaped(strings)
    yield from _raw(subject, objects, strings) if own else ()
    yield from _python(objects)


def _neither(subject: Subject) -> Iterator[Cause]:
    """Both shapes break: no tool call can be sent."""
    from chatlint.detect.calls import FORMS

    if all(faulted(subject.see(probe, way)) for probe, way in FORMS):
        seen = [subject.see(probe, way) for probe, way in FORMS]
        yield from crashes(
            subject, seen, "a tool call in every shape", "No tool call can be sent.", Severity.ERROR
        )


def _one_shape(seen: list[Observation], given: str, wanted: str, fix: str) -> Iterator[Cause]:
    """The template breaks on, refuses or loses one shape."""
    failed = [one for one in seen if faulted(one) or declined(one)]
    lost = [one for one in seen if one.prompt and named(one) and not call_shown(one)]
    if failed:
        refused = declined(failed[0])
        verb = "it is refused" if refused else "the template breaks"
        yield Cause(
            key=f"needs {wanted}",
            message=f"arguments must be {wanted}; with {given} {verb}: {said(failed[0])}",
            consequence=_failing(given),
            sights=tuple(Sight(one) for one in failed),
            fix=_CALLERS if refused and fix is _NO_JSON else fix,
            mending=_MENDING,
        )
    elif lost:
        yield _lost(lost, given, fix)


def _types(subject: Subject, ids: Variant) -> Iterator[Cause]:
    """Values that are no text break the template: `'>' + value`."""
    if not faulted(subject.see("arguments/every-type", ids, generation="off")):
        return
    seen = {what: subject.see(probe, ids, generation="off") for probe, what in _VALUES.items()}
    broken = [what for what, one in seen.items() if faulted(one)]
    if broken:
        kinds = listed(broken, "or")
        yield Cause(
            key="types",
            message=f"the template breaks on arguments that are {kinds}: {said(seen[broken[0]])}",
            consequence="The request that repeats such a call fails: the conversation cannot go on.",
            sights=tuple(Sight(seen[what]) for what in broken),
            severity=Severity.WARNING if broken == ["null"] else Severity.ERROR,
            fix="`{{ value if value is string else value | tojson }}`",
        )


def _lost(lost: list[Observation], given: str, fix: str) -> Cause:
    found = fate(lost[0], ARGUMENTS)
    if found in (Fate.DROPPED, Fate.SCATTERED):
        message = "are lost" if found is Fate.DROPPED else "are taken apart character by character"
        severity = Severity.ERROR
    else:  # part of it is there: its braces or quotes were replaced by the format's own
        message, severity = "are not written as an object's are", Severity.WARNING
    return Cause(
        key=f"loses {given}",
        message=f"arguments given as {given} {message}",
        consequence="The model sees calls without their arguments, or in a form that no parser reads.",
        sights=tuple(at(one, ARGUMENTS, "all of the arguments that is here") for one in lost),
        severity=severity,
        fix=fix,
    )


def _failing(given: str) -> str:
    if given == "a string":
        return "Requests with OpenAI's own messages fail where the engine hands them on unparsed."
    return "Requests fail in engines that parse arguments first, and with transformers' own message format."


def _escaped(strings: list[Observation]) -> Iterator[Cause]:
    twice = [one for one in strings if one.prompt and notation(one, ARGUMENTS) is Notation.JSON_STRING]
    if twice:
        yield Cause(
            key="escaped twice",
            message="arguments given as a JSON string are encoded a second time",
            consequence="The model sees, and learns, arguments in quotes that no parser reads.",
            sights=tuple(at(one, ARGUMENTS, "a JSON text inside a JSON string") for one in twice),
            severity=Severity.ERROR,
            fix=_FIX,
            mending=_MENDING,
        )


def _raw(subject: Subject, objects: list[Observation], strings: list[Observation]) -> Iterator[Cause]:
    """Strings as the JSON that they are, where objects are written in the format's own notation."""
    raw = [one for one in strings if one.prompt and notation(one, ARGUMENTS) is Notation.JSON]
    if raw:
        sights = tuple(at(one, ARGUMENTS, "JSON, as it was given") for one in raw)
        line, column = printed_or_branch(subject, sights[0], objects)
        yield Cause(
            key="raw",
            message="arguments given as a JSON string are written as JSON, an object's are not",
            consequence="The model sees, and learns, calls in a form that no parser reads.",
            sights=sights,
            line=line,
            column=column,
            fix=_NO_JSON,
        )


def _python(objects: list[Observation]) -> Iterator[Cause]:
    """Objects printed as Python, where the same call would be JSON as a string."""
    printed = [one for one in objects if one.prompt and notation(one, ARGUMENTS) is Notation.PYTHON]
    if printed:
        yield Cause(
            key="python",
            message="arguments given as an object are printed as Python (`{'city': …}`)",
            consequence="The model sees, and learns, arguments that are not JSON.",
            sights=tuple(at(one, ARGUMENTS, "Python's repr") for one in printed),
            severity=Severity.ERROR,
            fix=_FIX,
            mending=_MENDING,
        )
