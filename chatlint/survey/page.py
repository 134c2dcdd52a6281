"""`survey.html`: one file with everything in it, readable without its script, which only sorts the matrix.

What templates and targets say is escaped; the page's policy allows nothing to be fetched and no other script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from chatlint import __version__
from chatlint.config import Settings
from chatlint.report.markup import html_text
from chatlint.survey import tables
from chatlint.survey.folder import SIGN
from chatlint.survey.matrix import MOST, Matrix, anchors_of, article, matrix_of
from chatlint.survey.record import result_at
from chatlint.survey.rows import Row, row_of
from chatlint.survey.tally import Holders, Tally

_HERE = Path(__file__).parent
_SECTIONS = {
    "short": "In short",
    "faults": "Faults",
    "families": "Families",
    "calls": "Calls",
    "results": "Tool results",
    "reasoning": "Reasoning",
    "matrix": "Matrix",
    "evidence": "Evidence",
    "templates": "Templates",
}
_LEGEND = (
    ("y", "✓", "yes"),
    ("p", "◐", "in part"),
    ("x", "·", "no"),
    ("r", "!", "raises or breaks"),
    ("u", "?", "not known"),
    ("e", "●", "error"),
    ("w", "●", "warning"),
    ("i", "●", "info"),
)


def page(
    tally: Tally,
    results: BinaryIO,
    title: str,
    settings: Settings,
    summaries: Mapping[str, str],
    categories: Mapping[str, str],
) -> Iterator[str]:
    """The page, in pieces. `results` is the survey's `results.jsonl`; `summaries` are lines about rules, and
    `categories` theirs, by name."""
    anchors = anchors_of(tally)
    yield _head(title, settings.host)
    yield from tables.in_short(tally, settings)
    yield from tables.faults(tally, settings, summaries, anchors)
    yield from tables.families(tally, anchors)
    yield from tables.calls(tally, anchors)
    yield from tables.results(tally, anchors)
    yield from tables.reasoning(tally, anchors)
    yield from tables.failures(tally)
    matrix = matrix_of(tally, categories)
    articles: list[str] = []  # of no more templates than the matrix has: each result is read once
    yield from _matrix(matrix, tally, results, anchors, articles)
    yield from _evidence(matrix)
    yield '<section id="templates"><h2>What was found in each template</h2>\n'
    yield from articles
    yield "</section>"
    yield _foot()


def _head(title: str, host: str) -> str:
    script = (_HERE / "sort.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    links = "".join(f'<a href="#{anchor}">{name}</a>' for anchor, name in _SECTIONS.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{html_text(policy)}">'
        f"<title>{html_text(title)}</title>\n"
        f"<style>\n{(_HERE / 'style.css').read_text(encoding='utf-8')}</style></head><body>\n"
        f'<header><h1>{html_text(title)}</h1><p class="lead">chatlint {html_text(__version__)}, '
        f"host {html_text(host)}. {SIGN}</p>"
        f"<nav>{links}</nav></header><main>\n"
    )


def _foot() -> str:
    script = (_HERE / "sort.js").read_text(encoding="utf-8")
    return (
        "</main><footer>A cell leads to what it rests on. A case is shown by "
        "<code>chatlint render TARGET --probe CASE</code>, a rule is explained by "
        f"<code>chatlint rule NAME</code>.</footer>\n<script>{script}</script></body></html>\n"
    )


def _matrix(
    matrix: Matrix, tally: Tally, results: BinaryIO, anchors: Mapping[str, str], articles: list[str]
) -> Iterator[str]:
    """The matrix; what was found in each of its templates goes to `articles`."""
    legend = "".join(f"<span><i class={kind}>{sign}</i>{what}</span>" for kind, sign, what in _LEGEND)
    yield '<section id="matrix" class="full"><h2>Every template, every question</h2>'
    yield "<p>Capabilities, then what rules found. A column's head sorts by it.</p>"
    yield f'<div class="legend">{legend}</div>{_switches(matrix)}'
    yield f'<div class="matrix"><table><thead>{matrix.head()}</thead><tbody>\n'
    for key, holders, row in _rows(tally, results, anchors):
        articles.append(article(anchors[key], holders, row))
        yield matrix.row(anchors[key], holders, row)
    yield f"</tbody></table></div>{_rest(tally)}</section>"


def _switches(matrix: Matrix) -> str:
    """Boxes that hide a part of the matrix, without a script; what they hide stands in a style sheet, so that
    no cell need say what it belongs to."""
    rules = []
    for name, columns in zip(("asked", "found"), matrix.columns, strict=True):
        between = f":nth-child(n+{columns.start}):nth-child(-n+{columns.stop - 1})"
        hidden = ",".join((f"tr:not(.over)>{between}", f".over>.{name}"))
        rules.append(f"#matrix:has(#no-{name}:checked) .matrix :is({hidden}){{display:none}}")
    boxes = "".join(
        f"<label><input type=checkbox id=no-{name}> {what}</label>"
        for name, what in (("asked", "capabilities"), ("found", "findings"), ("infos", "infos"))
    )
    return f"<style>{''.join(rules)}</style><div class=legend><span>hide</span>{boxes}</div>"


def _rest(tally: Tally) -> str:
    more = len(tally.templates) - MOST
    return f'<p class="note">And {more} more templates, in results.jsonl.</p>' if more > 0 else ""


def _evidence(matrix: Matrix) -> Iterator[str]:
    yield '<section id="evidence"><h2>What the answers rest on</h2><p class="note">For each question the '
    yield "answers that templates gave, with the cases that show them and how many templates gave each.</p>"
    yield '<div class="cases">'
    yield from matrix.cases()
    yield "</div></section>"


def _rows(tally: Tally, results: BinaryIO, anchors: Mapping[str, str]) -> Iterator[tuple[str, Holders, Row]]:
    """The templates of the matrix in order, each read when it is its turn."""
    for key in list(anchors)[:MOST]:
        holders = tally.templates[key]
        result = result_at(results, holders.offset, key) if holders.offset >= 0 else None
        if result is not None:
            yield key, holders, row_of(key, result)
