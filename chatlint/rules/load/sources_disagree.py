"""Engines read different templates of this model, and get different prompts.

## What it does
Works out which file each engine takes its template from, renders what they read, and compares the prompts.

## Why is this bad
The model was trained with one of them. A processor, a GGUF conversion and a tokenizer read different files of
the same repository: a correction in one of them reaches only some users.

## Example
A template beside an older copy in `tokenizer_config.json`, which the GGUF converter prefers:
```json copies
{"tokenizer_config.json":
 "{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}{{ 'A:' if add_generation_prompt }}"}
```
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}{{ 'A:' if add_generation_prompt }}
```

## Fix
Keep one template: `chat_template.jinja`, and no `chat_template` in any JSON file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause
from chatlint.rules.drift import PLAIN, TOOLS, Compared, compare
from chatlint.rules.finding import Severity
from chatlint.rules.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject
    from chatlint.source.package import EngineTemplate, Template, TemplatePick


@rule("CT111", severity=Severity.ERROR)
def check(subject: Subject) -> Iterator[Cause]:
    readers = subject.package.template_readers
    if not readers or not _is_first(subject, readers[0]):
        return
    yield from _without(readers)
    for other in _others(subject):
        yield from _compared(subject, other, readers)


def _compared(subject: Subject, other: Template, readers: tuple[EngineTemplate, ...]) -> Iterator[Cause]:
    plain = [one.engine for one in readers if _is(one.without_tools, other)]
    tools = [one.engine for one in readers if _is(one.with_tools, other)]
    engines = dict.fromkeys((*plain, *tools))
    if engines:
        found = compare(subject, other, (*(PLAIN if plain else ()), *(TOOLS if tools else ())))
        who = ", ".join(engines)
    elif other.place.key:
        found, who = compare(subject, other, (*PLAIN, *TOOLS)), f"llama.cpp, of {other.place.file},"
    else:
        return  # hidden from everybody
    if found.found:
        yield _cause(subject, other, found, who, several=len(engines) > 1)


def _is_first(subject: Subject, tokenizer: EngineTemplate) -> bool:
    """Whether this is the template that the host uses for most requests: the others are compared with it."""
    pick = tokenizer.without_tools
    return _is(pick, subject.template) and pick is not None and pick.name == subject.template.name


def _is(pick: TemplatePick | None, template: Template) -> bool:
    return pick is not None and pick.sha256 == template.sha256


def _others(subject: Subject) -> list[Template]:
    """Each other text once, of the copies that stand for this template."""
    own = subject.template
    found = {copy.sha256: copy for copy in reversed(subject.package.copies) if copy.name == own.name}
    return [copy for sha, copy in found.items() if sha != own.sha256]


def _without(readers: tuple[EngineTemplate, ...]) -> Iterator[Cause]:
    """Engines that find no template where others do."""
    none = [one for one in readers if one.without_tools is None and one.with_tools is None]
    for one in none if len(none) < len(readers) else ():
        yield Cause(
            key=f"none for {one.engine}",
            message=f"{one.engine} finds no template in this package" + (f": {one.note}" if one.note else ""),
            consequence="Requests fail there, or are written in a format that the model does not know.",
            severity=Severity.WARNING,
            fix="Save the template as `chat_template.jinja`, which all of them read.",
        )


def _cause(subject: Subject, other: Template, found: Compared, who: str, *, several: bool) -> Cause:
    own = subject.template.place.file
    return Cause(
        key=f"{other.place.file} {other.name}",
        message=f"{who} read{'' if several else 's'} {other.place.file}, which gives other prompts"
        + (f" than {own}" if own else ""),
        consequence="The same request reaches the model as two different prompts, depending on the engine.",
        sights=found.sights,
        fix="Keep one of them.",
    )
