"""White space between tags that `trim_blocks` and `lstrip_blocks` take away.

With the first, a tag swallows the line break right after it; with the second, the blanks before it on its
line. Tags that are closed or opened with a minus swallow more of their own accord, and those with a plus
nothing. Only `{% %}` and `{# #}` are meant.
"""

from __future__ import annotations

import re

from chatlint.render.grammar import normalised

_TAG = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.S)
_BLANKS_TO_THE_END = re.compile(r"(?:^|(?<=\n))[^\S\n]+\Z")


def trimmed_lines(source: str) -> tuple[int, ...]:
    """The lines with white space that is printed or not, as the environment trims; a tag inside a string may
    be taken for one."""
    text = normalised(source)
    lines: list[int] = []
    end, line, before = 0, 1, ""
    for tag in _TAG.finditer(text):
        gap = text[end : tag.start()]
        if _depends(gap, before, tag.group(), first=not end):
            lines.append(line)
        line += text.count("\n", end, tag.end())
        end, before = tag.end(), tag.group()
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
