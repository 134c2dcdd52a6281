"""The response template in the tokenizer's files does not read back what the chat template writes.

## What it does
Writes messages in the format that the chat template teaches (answers, reasoning, calls with arguments of
every kind) and reads them with `response_template` of `tokenizer_config.json`, as transformers 5 does.

## Why is this bad
transformers, vLLM (`hf`) and SGLang (`response_template`) read the model's output with it: what it misreads,
every client gets wrong.

## Example
With reasoning that is set apart by other marks than the chat template's:
```json response_template
{"start_anchor": "<assistant>",
 "fields": {"thinking": {"open": "<think>", "close": "</think>"}, "content": {}}}
```
```jinja bad
{% for m in messages %}<{{ m.role }}>
{%- if m.reasoning_content %}<plan>{{ m.reasoning_content }}</plan>{% endif %}{{ m.content }}<end>
{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}
```
```jinja good
{% for m in messages %}<{{ m.role }}>
{%- if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}<end>
{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}
```

## Fix
Write it anew with `chatlint export TARGET --to response-template`, or correct the marks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.rules.cause import Cause, NotEvaluated
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.export.inversion import Misreading
    from chatlint.rules.subject import Subject

FIX = "Write it anew with `chatlint export TARGET --to response-template`, or correct the marks."
CONSEQUENCE = (
    "transformers, and vLLM and SGLang through it, give clients another message than the model wrote."
)


@rule("CT801", severity=Severity.ERROR, needs=Stage.FORMAT)
def check(subject: Subject) -> Iterator[Cause]:
    template = subject.package.response_template
    if template is None or subject.format is None:
        return
    from chatlint.export.inversion import misreadings
    from chatlint.export.response_reading import Refused, ResponseReader, Unreadable

    try:
        found = list(misreadings(ResponseReader(template), subject.format))
    except Refused as refusal:
        yield Cause("refused", f"transformers refuses the response_template: {refusal}", CONSEQUENCE, fix=FIX)
    except Unreadable as reason:
        raise NotEvaluated(f"the response_template has {reason}") from None
    else:
        if found:
            yield _cause(found)


def _cause(found: list[Misreading]) -> Cause:
    """One finding, with the first message that shows it."""
    from chatlint.export.inversion import SAMPLES

    more = f" (and {len(found) - 1} more of {len(SAMPLES)} kinds of message)" if len(found) > 1 else ""
    return Cause(
        key="misread",
        message=f"of the response_template: {found[0].told()}{more}; written was {found[0].text!r}",
        consequence=CONSEQUENCE,
        confidence=Confidence.HIGH,
        fix=FIX,
    )
