"""Engines other than transformers do not take the template, or make another prompt of it.

## What it does
Compares the constructs that the template uses with a dated table of what engines make of them: minijinja (in
Rust servers), @huggingface/jinja (in JavaScript), llama.cpp's own Jinja. A warning says that requests fail
there or the template does not parse; what differs silently is information, as is what differs for some values
only.

## Why is this bad
A template is written against transformers and run by whoever serves the model: it fails there, or the prompt
is another one than in training and nobody is told.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content.rsplit('</think>', 1)[-1] }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content.split('</think>')[-1] }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Write what all engines take, or tell on the model's page which engines it is made for. The table ages: the
finding names the version that it knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.records import replace
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from chatlint.engines.constructs import Construct, Effect, Fate
    from chatlint.render.syntax import Use
    from chatlint.rules.subject import Subject


@rule("CT803", severity=Severity.WARNING, needs=Stage.TEXT)
def check(subject: Subject) -> Iterator[Cause]:
    from chatlint.engines.constructs import Effect, construct_table

    table = construct_table()
    used = [
        (table.constructs[use.name], use) for use in subject.syntax.constructs if use.name in table.constructs
    ]
    for construct, use in (*used, *_unreached(subject, table.constructs)):
        if any(fate.effect is not Effect.EDGE for fate in construct.fates):
            yield _finding(construct, use, table.date)
    edges = [(construct, use) for construct, use in used if any(_is_edge(fate) for fate in construct.fates)]
    if edges:
        yield _edges(edges, table.date)


def _unreached(subject: Subject, constructs: Mapping[str, Construct]) -> Iterator[tuple[Construct, Use]]:
    """What stands where nothing is ever reached, as far as an engine reads it and gives up."""
    from chatlint.engines.constructs import Effect

    for use in subject.syntax.dead_constructs:
        construct = constructs.get(use.name)
        unusable = tuple(one for one in construct.fates if one.effect is Effect.UNUSABLE) if construct else ()
        if construct and unusable:
            yield replace(construct, fates=unusable), use


def _is_edge(fate: Fate) -> bool:
    from chatlint.engines.constructs import Effect

    return fate.effect is Effect.EDGE


def _finding(construct: Construct, use: Use, date: str) -> Cause:
    from chatlint.engines.constructs import Effect

    worst = min((fate.effect for fate in construct.fates), key=list(Effect).index)
    instead = f"All engines take {construct.instead}." if construct.instead else ""
    return Cause(
        key=construct.name,
        message=f"{construct.shown}: {'; '.join(map(_said, construct.fates))} (as of {date})",
        consequence=_consequence(worst),
        line=use.line,
        severity=Severity.INFO if worst is Effect.DIFFERS else None,
        fix=instead,
    )


def _said(fate: Fate) -> str:
    from chatlint.engines.constructs import Effect

    does = {
        Effect.UNUSABLE: "does not parse the template",
        Effect.FAILS: "fails",
        Effect.DIFFERS: "writes another text",
        Effect.EDGE: "writes another text for some values",
    }[fate.effect]
    return f"{fate.engine.name} {fate.engine.version} {does}{f' ({fate.what})' if fate.what else ''}"


def _consequence(worst: Effect) -> str:
    from chatlint.engines.constructs import Effect

    if worst is Effect.UNUSABLE:
        return "There the model does not start, or is served with another template."
    if worst is Effect.FAILS:
        return "Requests that get to this line fail there."
    return "The prompt there is another one, and nothing says so."


def _edges(used: list[tuple[Construct, Use]], date: str) -> Cause:
    """What depends on values, all in one: nearly every template has some."""
    by_engine: dict[str, list[str]] = {}
    for construct, _ in used:
        for fate in filter(_is_edge, construct.fates):
            name = f"{fate.engine.name} {fate.engine.version}"
            by_engine.setdefault(name, []).append(f"{construct.shown} ({fate.what})")
    said = "; ".join(f"{name}: {', '.join(whats)}" for name, whats in by_engine.items())
    return Cause(
        key="some values",
        message=f"for some values other engines write another text (as of {date}): {said}",
        consequence="Prompts with such values differ from those of transformers.",
        line=used[0][1].line,
        severity=Severity.INFO,
    )
