"""Texts inside Markdown and HTML. What templates say is made visible and escaped: shown, never obeyed."""

from __future__ import annotations

import html

from chatlint.lazy import regex
from chatlint.text import visible

_SPECIAL = regex(r"([\\`*_\[\]|~>])")
_TICKS = regex(r"`+")
_CODE = regex(r"(?<!`)`([^`]+)`(?!`)")
"""Code in a sentence. More backticks in a row are a template's own."""


def html_text(text: str, longest: int = 0) -> str:
    """`text` as HTML, in an element or in a quoted attribute. Longer texts than `longest` are cut."""
    return html.escape(visible(shortened(text, longest)))


def html_prose(text: str, longest: int = 0) -> str:
    """A sentence of chatlint's own as HTML, in which code stands between backticks."""
    pieces = _CODE.split(shortened(text, longest))
    return "".join(
        f"<code>{html_text(piece)}</code>" if index % 2 else html_text(piece)
        for index, piece in enumerate(pieces)
    )


def md_text(text: str, longest: int = 0) -> str:
    """`text` as Markdown that shows just this text, inside a line or a table's cell."""
    shown = visible(shortened(text, longest)).replace("&", "&amp;").replace("<", "&lt;")
    # A bare address would become a link.
    return (
        _SPECIAL.sub(r"\\\1", shown)
        .replace("://", ":&#47;&#47;")
        .replace("@", "&#64;")
        .replace("www.", "www&#46;")
    )


def md_code(text: str, longest: int = 0) -> str:
    """`text` as a Markdown code span; "" for an empty text, which has no span."""
    shown = visible(shortened(text, longest))
    if not shown:
        return ""
    fence = "`" * (max(map(len, _TICKS.findall(shown)), default=0) + 1)
    space = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{space}{shown}{space}{fence}"


def md_cell(text: str, longest: int = 0) -> str:
    """The same in a table's cell, which a bare bar would end."""
    return md_code(text, longest).replace("|", "\\|")


def md_prose(text: str, longest: int = 0) -> str:
    """A sentence of chatlint's own, in which code stands between backticks."""
    pieces = _CODE.split(shortened(text, longest))
    return "".join(md_cell(piece) if index % 2 else md_text(piece) for index, piece in enumerate(pieces))


def shortened(text: str, longest: int) -> str:
    """At most `longest` characters of a text, cut with an ellipsis; 0 is all."""
    return text if not longest or len(text) <= longest else text[: longest - 1] + "…"
