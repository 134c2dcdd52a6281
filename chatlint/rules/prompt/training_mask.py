"""The blocks that say which text a model wrote are missing, or mark something else.

## What it does
Compares the text inside `{% generation %}` with what the model wrote, as the learned format has it: each
answer and each call, from where the model was asked to the mark that ends its turn, that mark included.

## Why is this bad
Training takes its loss over these blocks. Without them the mask is all zeros and training looks healthy;
without the mark that ends a turn the model never learns to stop; with the header or a newline in them it is
trained to write what the server writes.

## Example
```jinja bad
{% for m in messages %}{% if m.role == 'assistant' %}
<|assistant|>{% generation %}{{ m.content }}{% endgeneration %}<|end|>
{% else %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}{% if m.role == 'assistant' %}
<|assistant|>{% generation %}{{ m.content }}<|end|>{% endgeneration %}

{% else %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```

## Fix
Open the block behind the generation prompt and close it behind the mark that ends the turn. Engines other
than transformers may not take the block: keep a second template for training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, Gathering, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.rule import Stage, rule
from chatlint.rules.turns import chats
from chatlint.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject

_TRAINING = {"training": Severity.WARNING}
_SHOWN = 40
_Span = tuple[int, int]


class _Part(NamedTuple):
    """Text that ought to be in the mask and is not, or the reverse."""

    what: str
    start: int
    end: int


@rule("CT315", severity=Severity.INFO, needs=Stage.FORMAT, profiles=_TRAINING)
def check(subject: Subject) -> Iterator[Cause]:
    if not chats(subject):
        return
    if not subject.syntax.generation_blocks:
        yield Cause(
            key="absent",
            message="there is no `{% generation %}` block",
            consequence="The mask for training on answers alone is all zeros.",
            fix="Put the block around what the model writes, or mask by header strings (`header-markers`).",
            only=("training",),
        )
        return
    found = Gathering()
    for observation in _conversations(subject):
        for part in _parts(subject, observation):
            found.add(part.what, Sight(observation, part.start, part.end, _shown(observation, part)))
    line = subject.syntax.generation_blocks[0]
    for what, sights in found:
        yield Cause(
            key=what.partition(":")[0],
            message=f"the mask {what}",
            consequence=_CONSEQUENCES.get(what, "Training is on another text than the model writes."),
            sights=sights,
            line=line,
        )
    yield from _misplaced(subject, line)


_UNCOVERED = "leaves out an answer"
_CALL = "leaves out a tool call"
_NO_END = "ends before the mark that ends the turn"
_LATE = "begins after the model's first words"
_EARLY = "begins before the model does"
_LONG = "goes on behind the mark that ends the turn"
_BLANK = "has white space at its edges that the model does not write"
_FOREIGN = "covers text that the model did not write"
_CONSEQUENCES = {
    _UNCOVERED: "The model is not trained on it.",
    _CALL: "The model is not trained on calls.",
    _NO_END: "The model does not learn to stop.",
    _EARLY: "The model is trained to write what the server has written.",
    _BLANK: "The model is trained on white space that the server writes, or that stands behind its turn.",
    _LONG: "The model is trained to write on behind the end of its turn.",
}


def _conversations(subject: Subject) -> Iterator[Observation]:
    yield subject.see("sequences/uaua", generation="off")
    way = supported(subject)
    if way is not None:
        yield subject.see("calls/one-answered", way, generation="off")


def _parts(subject: Subject, observation: Observation) -> Iterator[_Part]:
    from chatlint.verify.mask import assistant_spans

    if observation.prompt is None or subject.format is None:
        return
    expected = assistant_spans(subject.trace, subject.format, observation)
    for span in expected:
        blocks = [block for block in observation.generation if _overlap(block, span)]
        if not blocks:
            called = observation.case.probe.startswith("calls/") and span == expected[0]
            yield _Part(_CALL if called else _UNCOVERED, *span)
        else:
            yield from _edges(observation.text, span, (blocks[0][0], blocks[-1][1]))
    for block in observation.generation:
        if block[0] < block[1] and not any(_overlap(block, span) for span in expected):
            yield _Part(_FOREIGN, *block)


def _overlap(one: _Span, other: _Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _edges(text: str, span: _Span, block: _Span) -> Iterator[_Part]:
    if block[0] < span[0]:
        yield _Part(_EARLY if text[block[0] : span[0]].strip() else _BLANK, block[0], span[0])
    elif block[0] > span[0] and text[span[0] : block[0]].strip():
        yield _Part(_LATE, span[0], block[0])
    if block[1] < span[1]:
        yield _Part(_NO_END, block[1], span[1])
    elif block[1] > span[1]:
        yield _Part(_LONG if text[span[1] : block[1]].strip() else _BLANK, span[1], block[1])


def _shown(observation: Observation, part: _Part) -> str:
    inside = part.what in (_EARLY, _LONG, _BLANK, _FOREIGN)
    text = visible(observation.text[part.start : part.end][:_SHOWN])
    return f"{'inside' if inside else 'outside'} the mask: {text}"


def _misplaced(subject: Subject, line: int) -> Iterator[Cause]:
    """transformers measures a block while the template runs, which is wrong in macros and `set` blocks."""
    for observation in _conversations(subject):
        if observation.prompt and observation.generation != observation.generation_reported:
            yield Cause(
                key="misplaced",
                message="transformers takes the blocks to be elsewhere: they stand in a macro, a `set` or a "
                "`filter` block",
                consequence="The mask that it returns covers other text than the blocks do.",
                sights=(Sight(observation),),
                line=line,
                fix="Put the block where text is printed directly.",
            )
            return
