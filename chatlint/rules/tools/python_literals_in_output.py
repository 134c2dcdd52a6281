"""Values are written as Python writes them (`True`, `None`, `{'a': 1}`) where all else is JSON.

## What it does
Reads from the learned format how booleans, null, lists and objects are written as arguments of calls, and
looks how declared tools and the defaults in their schemas are printed. Calls in Python's own syntax want
Python's literals, and are left alone.

## Why is this bad
Jinja prints Python: `{{ value }}` gives `True`, `{{ value | tojson }}` gives `true`. Parsers and schemas know
`true`: a call that says `None` comes back as the word, not as null. A model that is shown both writes both.

## Example
```jinja bad
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}
<call={{ c.function.name }}>{% for k, v in c.function.arguments.items() %}
<with={{ k }}>{{ v | tojson if v is mapping or (v is sequence and v is not string) else v }}</with>
{%- endfor %}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% if tools %}<|tools|>{{ tools | tojson }}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}
<call={{ c.function.name }}>{% for k, v in c.function.arguments.items() %}
<with={{ k }}>{{ v if v is string else v | tojson }}</with>
{%- endfor %}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.probe.reading import Notation, notation, place
from chatlint.rules.calls import ARGUMENTS, advertises, holds, supported
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.edits import Mending, as_json
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.schemas import looks_inside
from chatlint.rules.sights import at, bounds, texts
from chatlint.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.parse.formats import ToolCalls
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_WORD = regex(r"(?<![\w'\"])(?:True|False|None)(?![\w'\"])")
_QUOTE = regex("[\"']")
_TOOL = ("/tools", "/tools/0", "/tools/0/function", "/tools/0/function/parameters")
_PROPERTIES = "/tools/0/function/parameters/properties"
_FIX = "`{{ value | tojson }}`"


@rule("CT410", severity=Severity.WARNING, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    calls = subject.format.tool_calls if subject.format else None
    if calls is not None and _is_python(calls):
        yield from _no_literals(subject)
        return
    if calls is not None:
        yield from _arguments(subject, calls)
    if advertises(subject):
        printed = list(_tools(subject))
        yield from printed or _defaults(subject)


def _is_python(calls: ToolCalls) -> bool:
    """Whether a call is written as a call in Python, or as an object in Python's notation."""
    from chatlint.parse.formats import Syntax
    from chatlint.parse.patterns import Slot

    called = f"{Slot.NAME.placeholder}(" in calls.call_start + calls.body
    return called or calls.syntax is Syntax.PYTHON


# -- calls ---------------------------------------------------------------------------------------------------


def _arguments(subject: Subject, calls: ToolCalls) -> Iterator[Cause]:
    from chatlint.parse.notation import Encoding, Written

    ways = calls.values.by_type if calls.members else {}
    encodings = {name: way.encoding for name, way in ways.items() if isinstance(way, Written)}
    python = [name for name, encoding in encodings.items() if encoding is Encoding.PYTHON]
    way = supported(subject)
    if not python or way is None:
        return
    seen = subject.see("arguments/every-type", way, generation="off")
    json_too = Encoding.JSON in [encodings.get(name) for name in ("string", "array", "object")]
    what = listed((_KINDS[name] for name in python), "or")
    yield Cause(
        key=f"arguments {' '.join(python)}",
        message=f"arguments that are {what} are written as Python's "
        f"literals{', lists and objects as JSON' if json_too and 'array' not in python else ''}",
        consequence="Parsers that read JSON take `None` for a word; the model learns to write both.",
        sights=(_word_in(seen, ARGUMENTS) or at(seen, ARGUMENTS),),
        fix=_FIX,
    )


_KINDS = {
    "string": "texts",
    "integer": "numbers",
    "number": "numbers",
    "boolean": "true or false",
    "null": "null",
    "array": "lists",
    "object": "objects",
}


def _no_literals(subject: Subject) -> Iterator[Cause]:
    """In calls of Python's own syntax, texts that are no Python: without quotes, or with a letter behind them
    that was meant to be a format (`%sr` for `%r`)."""
    seen = subject.see("calls/one", {**(supported(subject) or {}), "arguments": "object"}, generation="off")
    values = [place(seen, pointer) for pointer in texts(seen.case.conversation, ARGUMENTS)]
    bare = [span for span in values if span and not _QUOTE.search(seen.text, span.start - 1, span.start + 1)]
    if not bare or len(bare) < len(values):
        return
    start = end = bare[0].end
    while seen.text[end : end + 1].isalnum():
        end += 1
    stray, written = seen.text[start:end], seen.text[bare[0].start : end]
    yield Cause(
        key="no literals",
        message=f"texts in calls are written as {written!r}, which is no Python: "
        + (f"{stray!r} stands behind each" if stray else "the quotes are missing"),
        consequence="The model sees, and learns, calls that no parser reads.",
        sights=(Sight(seen, bare[0].start, end, "a letter too many" if stray else "no quotes"),),
        severity=Severity.ERROR,
        fix="`{{ value | tojson }}`; printf's way is `%r`.",
    )


def _word_in(seen: Observation, pointer: str) -> Sight | None:
    """The first of Python's words behind the beginning of a value."""
    found = bounds(seen, pointer)
    match = _WORD.search(seen.text, found[0]) if found else None
    return Sight(seen, *match.span(), "Python's word") if match else None


# -- tools ---------------------------------------------------------------------------------------------------


def _tools(subject: Subject) -> Iterator[Cause]:
    seen = subject.see("tools/one")
    printed = next((tool for tool in _TOOL if notation(seen, tool) is Notation.PYTHON), "")
    if printed:
        what = "its parameters are" if printed == _TOOL[3] else "it is"
        yield Cause(
            key="tools",
            message=f"a declared tool is not shown as JSON: {what} in Python's notation (`{{'type': …}}`)",
            consequence="The model reads a schema that is no JSON, and writes calls like it.",
            sights=(at(seen, printed, "Python's repr"),),
            fix="`{{ tool | tojson }}`",
            mending=Mending(
                as_json("tools"),
                _shows_tools,
                place="prints `tools` or a part of them as it is, without a filter",
            ),
        )


def _shows_tools(seen: Observation) -> bool:
    """Whether any tool is printed as Python."""
    places = [f"/tools/{number}" for number in range(len(seen.case.conversation.tools or ()))]
    inner = [place.removeprefix(_TOOL[1]) for place in _TOOL[1:]]
    pointers = [place + below for place in places for below in inner]
    return any(
        notation(seen, pointer) is Notation.PYTHON
        for pointer in (*pointers, *_TOOL[:1])
        if holds(seen.case.conversation, pointer)
    )


def _defaults(subject: Subject) -> Iterator[Cause]:
    """Default values of parameters, where the template writes a schema in its own words."""
    if not looks_inside(subject):
        return
    seen = subject.see("schema/python-values")
    usual = subject.see("tools/one")
    if seen.prompt is None or usual.prompt is None:
        return
    listed = [
        f"{_PROPERTIES}/{name}/default"
        for name in ("dusk", "flint")
        if notation(seen, f"{_PROPERTIES}/{name}/default") is Notation.PYTHON
    ]
    more = len(_WORD.findall(seen.text)) > len(_WORD.findall(usual.text))
    word = _word_in(seen, _PROPERTIES) if more else None
    if listed or word:
        yield Cause(
            key="defaults",
            message="default values in a tool's schema are printed as Python "
            f"({'`True`, `None`' if word else 'lists and objects'})",
            consequence="The model copies them into its calls, where parsers expect JSON.",
            sights=(word or at(seen, listed[0], "Python's repr"),),
            fix=_FIX,
        )
