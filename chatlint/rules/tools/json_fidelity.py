"""The JSON of a tool is not what every engine writes, or no JSON.

## What it does
Declares a tool whose descriptions hold quotes, `<`, `&`, slashes, Chinese and an emoji, and compares what is
written with what was said: unescaped quotes in JSON, letters as `\\uXXXX`, HTML escapes, another order of
members, and whether what begins as JSON goes on so. (Options of `tojson` that only some engines have are told
by `engine-portability`.)

## Why is this bad
The model was trained on one spelling of the schema. Escaped letters double the tokens of a Chinese
description; JSON that was put together by hand ends at the first quote; a tool whose members stand in another
order is another prompt.

## Example
```jinja bad
{% if tools %}<|tools|>{% for t in tools %}{"name": "{{ t.function.name }}", "description": "
{{- t.function.description }}", "parameters": {{ t.function.parameters | tojson }}}
{% endfor %}<|end|>
{% endif %}
{% for m in messages %}{% set text = m.content or '' %}
<|{{ m.role }}|>{{ text if text is string else text | map(attribute='text') | join }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
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

import json
from typing import TYPE_CHECKING

from chatlint.conversation import value_at
from chatlint.lazy import regex
from chatlint.probe.reading import place
from chatlint.rules.calls import advertises
from chatlint.rules.cause import Cause, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule
from chatlint.rules.schemas import looks_inside
from chatlint.rules.sights import at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_PLAIN, _PROBE = "tools/one", "schema/text-fidelity"
_OPENED, _BEFORE = regex(r'\{\s*"(?:type|name|function)"\s*:'), 200
"""How a tool in JSON begins, and how far before the function's name that is looked for."""
_TOOL = "/tools/0/function"
_TEXTS = (f"{_TOOL}/description", f"{_TOOL}/parameters/properties/plum/description")
_KEY = regex(r"[\"']\w+[\"']\s*:\s*\"$")
_CHANGES = r"dictsort|tojson\s*\(|\|\s*(e|escape|replace|string)\b"


@rule("CT419", severity=Severity.WARNING)
def check(subject: Subject) -> Iterator[Cause]:
    # where tools are only handed to `tojson`, nothing can change their texts
    touched = looks_inside(subject) or subject.footing.mentions(_CHANGES)
    if not touched or not advertises(subject):
        return
    if broken := _broken(subject.see(_PLAIN)):
        yield broken
        return
    seen = subject.see(_PROBE)
    if seen.prompt:
        yield from _spelled(seen)
        yield from _reordered(seen)


def _broken(seen: Observation) -> Cause | None:
    """A definition that begins as JSON and does not go on so."""
    name = _value(seen, f"{_TOOL}/name")
    if name is None:
        return None
    errors = []
    for opened in _OPENED.finditer(seen.text, max(name[0] - _BEFORE, 0), name[0]):
        try:
            json.JSONDecoder(strict=False).raw_decode(seen.text, opened.start())
        except json.JSONDecodeError as error:
            errors.append(error)
        else:
            return None
    furthest = max(errors, key=lambda error: error.pos, default=None)
    if furthest is None or furthest.pos <= name[1]:
        return None
    return Cause(
        key="broken",
        message=f"a tool is written as JSON that is none: {furthest.msg}",
        consequence="The model cannot tell where a member of the definition ends.",
        sights=(Sight(seen, furthest.pos, min(furthest.pos + 1, len(seen.text)), "up to here it is JSON"),),
        fix="Write the whole tool: `{{ tool | tojson }}`.",
    )


def _spelled(seen: Observation) -> Iterator[Cause]:
    """How the first text that is not whole is written."""
    for pointer in _TEXTS:
        found = _value(seen, pointer)
        said = value_at(seen.case.conversation, pointer)
        if found is None or not isinstance(said, str):
            continue
        cause = _spelling(seen, pointer, said, found)
        if cause:
            yield cause
            return


def _value(seen: Observation, pointer: str) -> tuple[int, int] | None:
    """Where the value stands, without its key."""
    spans = list(seen.prompt.inputs(pointer, key=False)) if seen.prompt else []
    return (spans[0].start, spans[-1].end) if spans else None


def _spelling(seen: Observation, pointer: str, said: str, found: tuple[int, int]) -> Cause | None:
    before, written = seen.text[: found[0]], seen.text[found[0] : found[1]].strip('"')
    if written == said.strip('"') and _KEY.search(before):
        return Cause(
            key="unescaped",
            message="a text in a tool's JSON is put between quotes without escapes",
            consequence="A description with a quote or a line break ends the text: the rest is no JSON.",
            sights=(at(seen, pointer, "its own quotes are not escaped"),),
            fix="`{{ text | tojson }}` writes the quotes as well.",
        )
    if written == json.dumps(said)[1:-1].strip('"'):
        return Cause(
            key="ascii",
            message="in a tool's JSON, letters beyond ASCII are written as `\\uXXXX`",
            consequence="Descriptions in Chinese or Japanese cost several times their tokens, and the model "
            "reads codes.",
            sights=(at(seen, pointer, "written as codes"),),
            fix="transformers' `tojson` keeps letters: leave `ensure_ascii` out.",
        )
    if "&lt;" in written or "\\u003c" in written:
        return Cause(
            key="html",
            message="a text in a tool's JSON is escaped for HTML",
            consequence="The model reads `&lt;` and `&#39;` where the tool says `<` and `'`.",
            sights=(at(seen, pointer, "escaped for HTML"),),
            fix="Leave `|safe` and `|escape` out: a prompt is no HTML.",
        )
    return None


def _reordered(seen: Observation) -> Iterator[Cause]:
    function = value_at(seen.case.conversation, _TOOL)
    names = list(function) if isinstance(function, dict) else []
    spans = [(name, place(seen, f"{_TOOL}/{name}", key=True)) for name in names]
    starts = [(span.start, name) for name, span in spans if span]
    order = [name for _, name in sorted(starts)]
    if order != [name for _, name in starts]:
        first = min(starts)[0]
        yield Cause(
            key="reordered",
            message=f"members of a tool are written in another order than they are given: {', '.join(order)}",
            consequence="The same tool in another engine, or written by hand, is another prompt.",
            sights=(Sight(seen, first, first + 1, "the first member"),),
            severity=Severity.INFO,
        )
