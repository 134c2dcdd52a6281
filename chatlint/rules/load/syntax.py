"""The template does not compile.

## What it does
Compiles the template as transformers does, and looks for Jinja tags that lost a brace and so became text. A
text for Go's template engine, as Ollama has them, and one that still has the escapes of JSON are called what
they are.

## Why is this bad
A template that does not compile fails every request. A tag with one brace is printed to the model instead.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor }
```
The tag ends in `%}`:
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.render.syntax import SyntaxFault
    from chatlint.rules.subject import Subject

_BROKEN_TAG = regex(r"\{-[ \t]*[A-Za-z_][^{}\n]{0,200}\}|[-\w)'\"] ?%\}|-\}\}")
"""`{- name }`, and closers without an opener: what is left of a tag that lost a character."""


_GO = regex(
    r"\{\{-?\s*(?:\.[A-Z]\w*|\$\w*"
    r"|(?:if|range|with|else if)\s+[^}]{0,200}?(?:\.[A-Z]|\$)|(?:end|else)\s*-?\}\})"
)
"""Go's `text/template`: fields with a dot before them, variables with a dollar, blocks in `{{ }}`."""
_ESCAPED = regex(r"\{[{%][^{}]{0,400}\\[\"n]")
"""Inside a tag, a quote or a newline as JSON has them."""


@rule("CT101", severity=Severity.ERROR, needs=Stage.TEXT)
def check(subject: Subject) -> Iterator[Cause]:
    fault = subject.broken
    if fault:
        yield _broken(subject.template.text, fault)
        return
    for text in subject.syntax.texts:
        match = _BROKEN_TAG.search(text.text) if text.kind == "data" else None
        if match:
            yield Cause(
                key=f"tag as text: {match.group()}",
                message=f"{match.group()!r} is printed: it looks like a tag that lost a character",
                consequence="The model reads template code, and what the tag should do is not done.",
                line=text.line + text.text.count("\n", 0, match.start()),
                confidence=Confidence.MEDIUM,
                fix="Write the tag with both braces, `{{ … }}` or `{% … %}`.",
            )


def _broken(source: str, fault: SyntaxFault) -> Cause:
    why, fix = "", ""
    if _GO.search(source):
        why, fix = (
            "a Go template, as Ollama has them, and no Jinja: ",
            "Take the template of the original model.",
        )
    elif "char '\\\\'" in fault.message and _ESCAPED.search(source):
        why = "still has the escapes of the JSON that it was copied from: "
        fix = 'Write `"` for `\\"`, and line breaks for `\\n`.'
    return Cause(
        key="syntax",
        message=f"does not compile: {why}{fault.message}",
        consequence="Every request fails, or the engine takes another template without saying so.",
        line=fault.line,
        fix=fix,
    )
