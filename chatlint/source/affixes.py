"""What a post-processor of the `tokenizers` library adds to one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from chatlint.conversation import JSON
from chatlint.source.json_text import objects

Affixes: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""Token texts before and after."""


def affixes(step: JSON) -> Affixes | None:
    """The special tokens that a post-processor of `tokenizers` puts before and after one text; None if
    unknown."""
    if step is None:
        return (), ()
    kind = step.get("type") if isinstance(step, Mapping) else None
    if not isinstance(step, Mapping) or not isinstance(kind, str):
        return None
    if kind == "ByteLevel":
        return (), ()
    if kind in ("BertProcessing", "RobertaProcessing"):
        return _pair(step.get("cls"), step.get("sep"))
    if kind == "TemplateProcessing":
        return _template_affixes(step)
    if kind == "Sequence":
        return _sequence_affixes(step.get("processors"))
    return None


def _template_affixes(step: Mapping[str, JSON]) -> Affixes | None:
    """`single` is a list of {"SpecialToken": {"id"}} and one {"Sequence": {"id": "A"}}; an id's texts are in
    `special_tokens`."""
    before: list[str] = []
    after: list[str] = []
    side, seen = before, False
    for item in objects(step.get("single")):
        special = item.get("SpecialToken")
        if "Sequence" in item and not seen:
            side, seen = after, True
        elif isinstance(special, Mapping):
            side.extend(_texts_of(special.get("id"), step.get("special_tokens")))
        else:
            return None
    return (tuple(before), tuple(after)) if seen else None


def _texts_of(name: JSON, specials: JSON) -> Sequence[str]:
    special = specials.get(name) if isinstance(specials, Mapping) and isinstance(name, str) else None
    texts = special.get("tokens") if isinstance(special, Mapping) else None
    if not isinstance(texts, Sequence) or isinstance(texts, str):
        return [name] if isinstance(name, str) else []
    return [text for text in texts if isinstance(text, str)]


def _sequence_affixes(processors: JSON) -> Affixes | None:
    """At most one member may add anything: `tokenizers` 0.23 breaks when two do."""
    found = [affixes(step) for step in objects(processors)]
    adding = [one for one in found if one != ((), ())]
    if not adding:
        return (), ()
    return adding[0] if len(adding) == 1 else None


def _pair(cls: JSON, sep: JSON) -> Affixes | None:
    first, last = _first(cls), _first(sep)
    return ((first,), (last,)) if first is not None and last is not None else None


def _first(pair: JSON) -> str | None:
    if isinstance(pair, Sequence) and not isinstance(pair, str) and pair and isinstance(pair[0], str):
        return pair[0]
    return None
