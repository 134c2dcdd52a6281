"""`enable_thinking` does nothing, another switch does.

## What it does
Tries every variable of the template in a question and in a long conversation, and looks which of them change
the reasoning. Where some do and `enable_thinking` is not among them, names those that do.

## Why is this bad
Servers and clients send `enable_thinking`; what a template does not read is ignored without a word. The
request that turns thinking off is answered with thinking.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>
{{- '<think>' ~ m.reasoning_content ~ '</think>' if m.reasoning_content }}{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{{- '<think></think>' if reflect is defined and reflect is false }}{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>
{{- '<think>' ~ m.reasoning_content ~ '</think>' if m.reasoning_content }}{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{{- '<think></think>' if enable_thinking is defined and enable_thinking is false }}{% endif %}
```
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.sights import at_end
from chatlint.rules.turns import chats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.detect.capability import Switch
    from chatlint.rules.subject import Subject

_USUAL = "enable_thinking"
_KEPT = "reasoning in the history"
_DEGREE = regex(r"effort|strength|level|budget")
_OFF = ('"none"', '"off"', '"disabled"', '"disable"', '"no"')


@rule("CT503", severity=Severity.WARNING, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    output = subject.format
    if output is None or output.reasoning is None or not chats(subject):
        return
    usual = next((switch for switch in subject.switches if switch.name == _USUAL), None)
    if usual is not None and usual.effect:
        yield from _null(subject)
        return
    others = [switch for switch in subject.switches if _starts_otherwise(subject, switch)]
    if usual is not None or others:
        yield _cause(subject, others, read=usual is not None)


def _null(subject: Subject) -> Iterator[Cause]:
    """Frameworks hand on what was not asked for as null, which is false, but not `false`."""
    unset, null = subject.see("roles/user"), subject.see("roles/user", switches={_USUAL: None})
    if unset.prompt is None or null.text == unset.text:
        return
    off = subject.see("roles/user", switches={_USUAL: False})
    same = "false" if null.text == off.text else "neither true nor false"
    means = f"means {same}" if null.prompt else "fails"
    yield Cause(
        key="null",
        message=f"`{_USUAL}` that is null {means}, unlike one that is not set",
        consequence="Frameworks that pass null for a switch nobody set turn thinking off, or fail.",
        sights=(at_end(null, f"with {_USUAL}=null"),),
        line=_line(subject, _USUAL),
        severity=Severity.INFO,
        fix=f"Ask for `{_USUAL} is false`, or set a default where it is none.",
    )


def _starts_otherwise(subject: Subject, switch: Switch) -> bool:
    """Whether a switch decides if the model thinks: it opens or closes reasoning in the generation prompt, or
    is named for it and changes the prompt."""
    from chatlint.detect.kwargs import ABOUT_REASONING
    from chatlint.detect.switches import INLINE

    prompt = subject.format.generation_prompt if subject.format else None
    states = {one.reasoning for one in prompt.by_switch if switch.name in one.switches} if prompt else set()
    if prompt and states - {prompt.reasoning}:
        return True
    kept = switch.effect in ("", _KEPT) or INLINE in switch.effect
    return bool(ABOUT_REASONING.search(switch.name)) and not kept


def _cause(subject: Subject, others: list[Switch], *, read: bool) -> Cause:
    works = f"; what works is {' and '.join(map(_named, others))}" if others else ""
    inert = "is read, and changes nothing" if read else "is not read"
    return Cause(
        key=" ".join(("inert", *(switch.name for switch in others))),
        message=f"`{_USUAL}` {inert}{works}",
        consequence="Requests that turn thinking on or off with it are answered as if they had not.",
        sights=(at_end(subject.see("roles/user", switches={_USUAL: False}), f"with {_USUAL}=false"),),
        line=_line(subject, others[0].name if others else _USUAL),
        severity=None if read or any(map(_is_on_off, others)) else Severity.INFO,
        fix=f"Let `{_USUAL}` decide whether the generation prompt opens the reasoning.",
    )


def _named(switch: Switch) -> str:
    from chatlint.detect.kwargs import NEEDLE

    bare = ("true", "false") if _DEGREE.search(switch.name) else ()
    values = [value for value in switch.values if value not in (json.dumps(NEEDLE), *bare)]
    return f"`{switch.name}` ({', '.join(values)})" if values else f"`{switch.name}`"


def _is_on_off(switch: Switch) -> bool:
    """Whether it turns thinking on or off; others set a degree, an amount or a text."""
    if _DEGREE.search(switch.name):
        return False
    return {"true", "false"} <= set(switch.values) or any(value in _OFF for value in switch.values)


def _line(subject: Subject, name: str) -> int:
    found = next((variable for variable in subject.syntax.variables if variable.name == name), None)
    return found.lines[0] if found and found.lines else 0
