"""One self-contained page: what was found beside the template's source, with the prompts that show it, each
character in the colour of its origin.

It has no script, and its policy lets none run: what templates and targets say is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from chatlint import __version__
from chatlint.report.canvas import Canvas
from chatlint.report.html_findings import accepted_findings, beside, package_findings
from chatlint.report.html_glance import glance
from chatlint.report.html_prompts import LEGEND, Asked, gallery
from chatlint.report.markup import html_text
from chatlint.report.places import faults, name_of
from chatlint.rules.finding import Severity
from chatlint.verdict import Report, Status, TargetReport, TemplateReport

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = Path(__file__).with_name("page.css")
_COLUMNS = {"errors": Severity.ERROR, "warnings": Severity.WARNING, "infos": Severity.INFO}


def html_page(report: Report, _: Canvas) -> str:
    """The whole report. The cases that findings name are rendered again, for the origins of their text."""
    return "".join(_page(report))


def _page(report: Report) -> Iterator[str]:
    title = report.targets[0].target if len(report.targets) == 1 else f"{len(report.targets)} targets"
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{html_text(_POLICY)}">'
        f"<title>{html_text(title, 200)} – chatlint</title>\n"
        f"<style>\n{_STYLE.read_text(encoding='utf-8')}</style></head><body>\n"
    )
    yield f'<header><p class="brand">chatlint {html_text(__version__)}</p><h1>{html_text(title, 200)}</h1>'
    yield f'<div class="tiles">{"".join(_tiles(report))}</div>{"".join(_faults(report))}</header><main>\n'
    if len(report.targets) > 1:
        yield "".join(_index(report))
    for number, target in enumerate(report.targets):
        yield from _target(report, target, f"t{number}")
    yield (
        "</main><footer><p>A case is shown by <code>chatlint render TARGET --probe CASE</code>, a rule is "
        "explained by <code>chatlint rule NAME</code>.</p></footer></body></html>\n"
    )


def _tiles(report: Report) -> Iterator[str]:
    for name, severity in _COLUMNS.items():
        count = report.counts.get(severity, 0)
        shown = name if count != 1 else name[:-1]
        yield f'<div class="{severity if count else "none"}"><b>{count}</b><span>{shown}</span></div>'
    trips = [one.round_trips for target in report.targets for one in target.templates if one.round_trips]
    total = sum(len(one.trips) for one in trips)
    if total:
        yield f"<div><b>{sum(one.passed for one in trips)}/{total}</b><span>round trips</span></div>"


def _faults(report: Report) -> Iterator[str]:
    found = list(faults(report))
    if found:
        yield '<ul class="faults">'
        for name, what, why in found:
            yield f"<li><b>{html_text(name)}</b>: {html_text(what)}: {html_text(why)}</li>"
        yield "</ul>"


def _index(report: Report) -> Iterator[str]:
    heads = "".join(f'<th class="n">{name}</th>' for name in _COLUMNS)
    yield f'<section class="card"><table class="index"><thead><tr><th>target</th>{heads}</tr></thead><tbody>'
    for number, target in enumerate(report.targets):
        counts = [sum(one.severity is kind for one in target.all_findings) for kind in _COLUMNS.values()]
        cells = "".join(f'<td class="n">{count or "·"}</td>' for count in counts)
        told = (
            cells if target.status is Status.CHECKED else f'<td colspan="3">{html_text(target.status)}</td>'
        )
        yield f'<tr><td><a href="#t{number}">{html_text(target.target, 200)}</a></td>{told}</tr>'
    yield "</tbody></table></section>\n"


def _target(report: Report, target: TargetReport, anchor: str) -> Iterator[str]:
    yield f'<section class="target" id="{anchor}">'
    if len(report.targets) > 1:
        yield f"<h2>{html_text(target.target, 200)}</h2>"
    if target.failure:
        yield f'<p class="fault">{html_text(target.failure.message)}</p>'
    yield "".join(f'<p class="note">{html_text(note)}</p>' for note in target.notes)
    yield "".join(package_findings(target, anchor))
    yield from accepted_findings(target.suppressed)
    for number, template in enumerate(target.templates):
        yield from _template(report, target, template, f"{anchor}-{number}")
    yield "</section>\n"


def _template(report: Report, target: TargetReport, template: TemplateReport, anchor: str) -> Iterator[str]:
    facts = template.template
    tokens = "assumed special tokens" if facts.special_tokens_assumed else "its own special tokens"
    if len(target.templates) > 1:
        yield f"<h3>{html_text(name_of(target, template), 200)}</h3>"
    yield f'<p class="facts"><code>{html_text(facts.place.file)}</code>, '
    yield f"sha256 {html_text(facts.sha256[:12])}, {html_text(template.host)}, {tokens}</p>"
    yield '<div class="card">'
    yield from glance(template)
    yield "</div>"
    with Asked(report.settings, target, template) as asked:
        yield f'<h3 id="{anchor}-findings">Findings</h3>{LEGEND}'
        yield from beside(template, asked, anchor)
        yield from accepted_findings(template.suppressed)
        yield from gallery(asked, anchor)
