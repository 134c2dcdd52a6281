"""A fix as a unified difference."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from chatlint.fix.mend import Mended


def patch(mended: Mended, file: str) -> str:
    """What changes in the template, "" where nothing does. `file` says where it stands; a template inside
    another file is shown as the text it is, which `patch` cannot apply."""
    old, new = mended.template.text, mended.text
    return "".join(_whole_lines(unified_diff(_lines(old), _lines(new), file, file))) if old != new else ""


def _lines(text: str) -> list[str]:
    """Lines as `diff` has them: a carriage return ends none."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _whole_lines(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
