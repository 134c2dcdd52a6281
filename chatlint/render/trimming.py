"""White space between tags that `trim_blocks` and `lstrip_blocks` take away.

With the first, a tag swallows the line break right after it; with the second, the blanks before it on its
line. Tags that are closed or opened with a minus swallow more of their own accord, and those with a plus
nothing. Only `{% %}` and `{# #}` are meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.lazy import regex
from chatlint.render.grammar import normalised

_OPENER = regex(r"\{[#%{]")
_CLOSERS = {"{#": "#}", "{%": "%}", "{{": "}}"}
_BLANKS_TO_THE_END = regex(r"(?:^|(?<=\n))[^\S\n]+\Z")


def tags_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Where each tag of a normalised source begins and ends, and its line. Linear, also where many are never
    closed."""
    end, line, unclosed = 0, 1, set()
    counted = 0
    for opener in _OPENER.finditer(text):
        sign = opener.group()
        if opener.start() < end or sign in unclosed:
            continue
        close = text.find(_CLOSERS[sign], opener.end())
        if close < 0:
            unclosed.add(sign)
            continue
        line += text.count("\n", counted, opener.start())
        counted, end = opener.start(), close + 2
        yield opener.start(), end, line


def trimmed_lines(source: str) -> tuple[int, ...]:
    """The lines with white space that is printed or not, as the environment trims; a tag inside a string may
    be taken for one."""
    text = normalised(source)
    lines: list[int] = []
    end, line, before = 0, 1, ""
    for start, stop, at in tags_in(text):
        tag = text[start:stop]
        if _depends(text[end:start], before, tag, first=not end):
            lines.append(line)
        end, before, line = stop, tag, at + tag.count("\n")
    if _depends(text[end:], before, "", first=not end):
        lines.append(line)
    return tuple(lines)


def _depends(gap: str, before: str, after: str, *, first: bool) -> bool:
    """Whether the text between two tags is another one without trimming."""
    if before[-3:-2] == "-":
        gap = gap.lstrip()
    if after[2:3] == "-":
        gap = gap.rstrip()
    if not gap:
        return False
    swallows = before[:2] in ("{%", "{#") and before[-3:-2] not in ("-", "+")
    if swallows and gap.startswith("\n"):
        return True
    if after[:2] not in ("{%", "{#") or after[2:3] in ("-", "+"):
        return False
    blanks = _BLANKS_TO_THE_END.search(gap)
    return blanks is not None and (blanks.start() > 0 or first)
