"""The template holds text that nobody sees.

## What it does
Looks for characters without a shape (zero-width, bidirectional marks, tags, control characters) in the
template, written or as escapes, and for text that is encoded: base64, hexadecimal, percent signs, and
letters spelled as escapes.

## Why is this bad
Who reviews the template reads something else than the model does. Bidirectional marks even show code in
another order than it runs.

## Example
```jinja bad
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ '\\u200b\\u2060' }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
```jinja good
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
```
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.rules.cause import Cause
from chatlint.rules.finding import Confidence, Severity
from chatlint.rules.rule import Stage, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.rules.subject import Subject

_KINDS = (
    ("bidirectional marks", regex("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")),
    (
        "zero-width characters",
        regex("[\u200b-\u200d\u2060-\u2064\u180e\u00ad\ufeff\u115f\u1160\u3164\uffa0]"),
    ),
    ("tag characters", regex("[\U000e0000-\U000e007f\U000e0100-\U000e01ef]")),
    ("control characters", regex("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")),
)
_SPELLED = regex(r"(?:\\x[2-7][0-9a-fA-F]|\\u00[2-7][0-9a-fA-F]){4,}")
"""Plain letters as escapes."""
_BASE64 = regex(r"(?<![\w+/=-])[A-Za-z0-9+/]{20,}={0,2}(?![\w+/=-])")
_HEXADECIMAL = regex(r"(?<!\w)(?:[2-7][0-9a-fA-F]){12,}(?!\w)")
_PERCENT = regex(r"(?:%[2-7][0-9a-fA-F]){4,}|(?:&#x?[0-9a-fA-F]{2,4};){4,}")
_SHOWN = 8
_READABLE = 0.9
"""The share of letters and blanks in what a text decodes to, for it to be a text."""
_FIX = "Write what is meant in plain letters, or remove it."


@rule("CT904", severity=Severity.ERROR, needs=Stage.TEXT, profiles={"security": Severity.ERROR})
def check(subject: Subject) -> Iterator[Cause]:
    source = subject.template.text
    printed = {text.text: text.line for text in subject.syntax.texts}
    for kind, pattern in _KINDS:
        found = _hidden(source, printed, pattern)
        if found:
            yield _invisible(kind, *found)
    for line, what, text in _encoded(source, printed):
        yield Cause(
            key=f"encoded: {what}",
            message=f"{what} spells {text[:48]!r}",
            consequence="Who reviews the template does not see what it says.",
            line=line,
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
            fix=_FIX,
        )


def _hidden(source: str, printed: dict[str, int], pattern: re.Pattern[str]) -> tuple[int, list[str]] | None:
    """The first line, and all characters, of what is in the source and of what strings hold by escapes."""
    places = [match.start() for match in pattern.finditer(source) if not _belongs(source, match.start())]
    characters = [source[place] for place in places]
    line = source.count("\n", 0, places[0]) + 1 if places else 0
    written = set(pattern.findall(source))
    for text, at in printed.items():
        escaped = [
            match.group()
            for match in pattern.finditer(text)
            if match.group() not in written and not _belongs(text, match.start())
        ]
        characters += escaped
        line = line or (at if escaped else 0)
    return (line, characters) if characters else None


def _belongs(text: str, at: int) -> bool:
    """Joiners and marks of direction belong between the letters of scripts that need them, and in emoji."""
    if text[at] not in "\u200c\u200d\u200e\u200f":
        return False
    around = text[at - 1 : at] + text[at + 1 : at + 2]
    return bool(around) and all(ord(character) > 0x2FF for character in around)


def _invisible(kind: str, line: int, found: list[str]) -> Cause:
    each = list(dict.fromkeys(f"U+{ord(character):04X}" for character in found))
    names = ", ".join(each[:_SHOWN]) + (" …" if len(each) > _SHOWN else "")
    alone = found == ["\ufeff"] and line == 1
    return Cause(
        key=kind,
        message="begins with a byte order mark, which is printed"
        if alone
        else f"holds {len(found)} {kind if len(found) > 1 else kind.removesuffix('s')} ({names})",
        consequence="The model reads characters that a reviewer does not see.",
        line=line,
        severity=Severity.WARNING if alone else None,
        fix=_FIX,
    )


def _encoded(source: str, printed: dict[str, int]) -> Iterator[tuple[int, str, str]]:
    """Line, encoding and meaning of texts that say something else than they show."""
    match = _SPELLED.search(source)
    if match:
        plain = re.sub(r"\\x(..)|\\u00(..)", lambda one: chr(int(one[1] or one[2], 16)), match.group())
        yield source.count("\n", 0, match.start()) + 1, "a row of escapes", plain
    for text, line in printed.items():
        yield from ((line, what, plain) for what, plain in _meanings(text))


def _meanings(text: str) -> Iterator[tuple[str, str]]:
    for match in _BASE64.finditer(text):
        plain = _from_base64(match.group())
        if plain:
            yield "base64", plain
    for match in _HEXADECIMAL.finditer(text):
        plain = bytes.fromhex(match.group()).decode("latin-1")
        if _is_readable(plain):
            yield "hexadecimal", plain
    for match in _PERCENT.finditer(text):
        yield "an encoded text", _unescaped(match.group())


def _unescaped(text: str) -> str:
    from html import unescape
    from urllib.parse import unquote

    return unescape(unquote(text))


def _from_base64(text: str) -> str:
    from base64 import b64decode
    from binascii import Error

    try:
        plain = b64decode(text + "=" * (-len(text) % 4)).decode("utf-8")
    except (Error, UnicodeDecodeError):
        return ""
    return plain if _is_readable(plain) else ""


def _is_readable(text: str) -> bool:
    fine = sum(character.isalpha() or character == " " for character in text)
    return text.isprintable() and fine >= _READABLE * len(text)
