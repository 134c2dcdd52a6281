"""A prompt as token ids: one row per token, then what there is to say about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chatlint.records import dataclass
from chatlint.report.canvas import Canvas, Line
from chatlint.report.prompt import origin_style, origin_text
from chatlint.report.table import table_lines
from chatlint.text import Computed, Input, Literal, Origin, Prompt, Special, visible

if TYPE_CHECKING:
    from chatlint.conversation import JSON
    from chatlint.source.encoder import Encoding, Token

KINDS = {Literal: "template", Special: "special", Input: "input", Computed: "computed"}


def kind(origin: Origin) -> str:
    """An origin in one word; roles and types are structure, so they count as the template's."""
    if isinstance(origin, Input) and origin.pointer.endswith(("/role", "/type")):
        return "template"
    return KINDS[type(origin)]


@dataclass(frozen=True, slots=True)
class Masks:
    """For each token whether the model wrote it: by the spans, and as `{% generation %}` says (None where the
    template has no such block)."""

    spans: tuple[bool, ...]
    generation: tuple[bool, ...] | None


def masked(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> tuple[bool, ...]:
    """The tokens any part of which lies in one of the spans, as transformers 5 has it."""
    return tuple(any(token.start < end and start < token.end for start, end in spans) for token in tokens)


def token_lines(canvas: Canvas, prompt: Prompt, encoding: Encoding, masks: Masks | None) -> Iterator[str]:
    """A row for each token, with its origin and, where that was asked for, whether the model wrote it."""
    rows: list[Line] = []
    for index, (token, origin) in enumerate(zip(encoding.tokens, origins(prompt, encoding), strict=True)):
        mark = [("model" if masks.spans[index] else "", "good")] if masks else []
        shown = visible(prompt.text[token.start : token.end]) or visible(token.text)
        style = "special" if token.added else origin_style(origin)
        rows.append([(str(token.id), "faint"), *mark, (shown, style), (origin_text(origin), "faint")])
    yield from table_lines(canvas, rows)


def token_remarks(prompt: Prompt, encoding: Encoding, masks: Masks | None) -> Iterator[str]:
    """What there is to say, a line each."""
    counts = Counter(map(kind, origins(prompt, encoding)))
    parts = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    yield f"{len(encoding.tokens)} tokens: {parts}"
    yield _difference(encoding)
    if encoding.doubled:
        yield f"encoding with special tokens puts another {encoding.doubled!r} before the template's own"
    if masks:
        yield from _mask_remarks(masks)


def _difference(encoding: Encoding) -> str:
    if not encoding.forged:
        return "encoded as one text it is the same: the input spells no special token"
    spelled = Counter(token.text for token in encoding.forged)
    what = ", ".join(
        f"{visible(text)} {count}×" if count > 1 else visible(text) for text, count in spelled.items()
    )
    return (
        f"encoded as one text it is another: {len(encoding.whole)} tokens, in which the input spells {what}"
    )


def _mask_remarks(masks: Masks) -> Iterator[str]:
    yield f"the model wrote {sum(masks.spans)} of {len(masks.spans)} tokens"
    if masks.generation is None:
        yield "the template has no {% generation %} to compare with"
        return
    pairs = list(zip(masks.spans, masks.generation, strict=True))
    more = sum(ours and not theirs for ours, theirs in pairs)
    fewer = sum(theirs and not ours for ours, theirs in pairs)
    if not more and not fewer:
        yield "its {% generation %} says the same"
    else:
        yield f"its {{% generation %}} leaves out {more} of them, and takes in {fewer} others"


def origins(prompt: Prompt, encoding: Encoding) -> list[Origin]:
    """Where each token came from: the origin of its first character."""
    spans, found, at = prompt.spans, [], 0
    for token in encoding.tokens:
        while at + 1 < len(spans) and spans[at].end <= token.start:
            at += 1
        found.append(spans[at].origin)
    return found


def tokens_as_json(prompt: Prompt, encoding: Encoding, masks: Masks | None) -> JSON:
    """The same for a program: `ids` and, where asked for, `mask` in parallel lists."""
    return {
        "text": prompt.text,
        "ids": [token.id for token in encoding.tokens],
        "offsets": [[token.start, token.end] for token in encoding.tokens],
        "origins": [kind(origin) for origin in origins(prompt, encoding)],
        "ids_as_one_text": [token.id for token in encoding.whole],
        "forged": [{"id": token.id, "start": token.start, "end": token.end} for token in encoding.forged],
        "doubled_bos": encoding.doubled or None,
        "mask": [int(one) for one in masks.spans] if masks else None,
        "generation_mask": [int(one) for one in masks.generation] if masks and masks.generation else None,
    }
