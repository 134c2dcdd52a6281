"""Findings beside the source of their template, as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chatlint.lazy import regex
from chatlint.report.excerpt import marked_source
from chatlint.report.finding import Place, only_on, place_of, template_lines
from chatlint.report.html_prompts import Asked, evidence_html
from chatlint.report.markup import html_prose, html_text
from chatlint.report.places import accepted
from chatlint.rules.finding import Finding, Severity
from chatlint.source.package import Template
from chatlint.verdict import TargetReport, TemplateReport

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_TAGS = regex(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}")
_LINES, _WIDEST = 4_000, 2_000
"""Lines of a template that are shown, and characters of one."""


def beside(report: TemplateReport, asked: Asked, anchor: str) -> Iterator[str]:
    """The source in one column, what was found in the other."""
    found = sorted(report.findings, key=lambda one: _ORDER.index(one.severity))
    anchors = {index: f"{anchor}-f{index}" for index in range(len(found))}
    places = [place_of(one, report.template) for one in found]
    yield '<div class="beside"><div class="findings">'
    if not found:
        yield '<p class="clean">Nothing was found.</p>'
    for index, (finding, place) in enumerate(zip(found, places, strict=True)):
        yield from _finding(finding, place, report.host, anchors[index], anchor)
        for evidence in finding.evidence:
            if evidence.text:
                yield from evidence_html(evidence, finding.hosts, asked, anchor)
            if evidence.note and evidence.note not in finding.message:
                yield f'<p class="seen">{html_text(evidence.note)}</p>'
        yield from _advice(finding)
    marked: dict[int, list[tuple[Finding, str]]] = {}
    for index, (finding, place) in enumerate(zip(found, places, strict=True)):
        marked.setdefault(place.line, []).append((finding, anchors[index]))
    yield "</div>"
    yield from _source(report.template, marked, anchor)
    yield "</div>"


def package_findings(target: TargetReport, anchor: str) -> Iterator[str]:
    """What was found about the files of a target."""
    if target.findings:
        yield '<h3>The files</h3><div class="findings">'
    for index, finding in enumerate(target.findings):
        place = place_of(finding, None)
        yield from _finding(finding, place, "", f"{anchor}-p{index}", "")
        yield "".join(f'<p class="seen">{html_text(one.note)}</p>' for one in finding.evidence if one.note)
        yield from _advice(finding)
    if target.findings:
        yield "</div>"


def accepted_findings(found: Sequence[Finding]) -> Iterator[str]:
    """What was found and does not count, folded."""
    if not found:
        return
    yield f"<details><summary>{len(found)} suppressed</summary><ul>"
    for finding in found:
        yield f"<li><code>{html_text(finding.rule)}</code> {html_prose(finding.message)} "
        yield f'<span class="soft">{html_text(accepted(finding))}</span></li>'
    yield "</ul></details>"


def _finding(finding: Finding, place: Place, host: str, own: str, anchor: str) -> Iterator[str]:
    """The head of a finding and the line it points at; `_advice` closes it."""
    severity = str(finding.severity)
    yield f'<article id="{own}" class="{severity}"><h4><b class="{severity}">{severity}</b> '
    yield f"{html_prose(finding.message)} <code>{html_text(finding.rule)}</code></h4>"
    numbers = ":".join(str(number) for number in (place.line, place.column) if number)
    shown = html_text(f"{place.label}{':' if numbers else ''}{numbers}")
    if anchor and place.line and place.source:
        shown = f'<a href="#{anchor}-L{place.line}">{shown}</a>'
    yield f'<p class="place">{shown}</p>'
    if place.source.strip():
        yield f'<pre class="line">{_marked(place)}</pre>'
    if host and (elsewhere := only_on(finding, host)):
        yield f'<p class="seen">only on {html_text(elsewhere)}</p>'
    if finding.hidden_on:
        yield f'<p class="seen">hidden on {html_text(", ".join(finding.hidden_on))}</p>'


def _marked(place: Place) -> str:
    """The line of the template, its place marked."""
    line = place.source
    if not place.column:
        return html_text(line.strip(), _WIDEST)
    start, end = marked_source(line, place.column)
    low = max(start - 200, 0)
    head = ("…" if low else "") + html_text(line[low:start].lstrip() if not low else line[low:start])
    return f"{head}<mark>{html_text(line[start:end], _WIDEST)}</mark>{html_text(line[end:], 400)}"


def _advice(finding: Finding) -> Iterator[str]:
    """What it does in serving, what to change, and the cases that show it."""
    yield f"<dl><dt>in serving</dt><dd>{html_prose(finding.consequence)}</dd>"
    if finding.fix:
        yield f"<dt>fix</dt><dd>{html_prose(finding.fix)}</dd>"
    if finding.cases:
        cases = " ".join(f"<code>{html_text(case)}</code>" for case in finding.cases)
        yield f"<dt>{'case' if len(finding.cases) == 1 else 'cases'}</dt><dd>{cases}</dd>"
    yield f'</dl><p class="facts">{html_text(finding.code)}, {html_text(finding.confidence)} confidence</p>'
    yield "</article>"


def _source(
    template: Template, marked: Mapping[int, Sequence[tuple[Finding, str]]], anchor: str
) -> Iterator[str]:
    """The template, a line each; those that findings point at lead to them."""
    lines = template_lines(template.text)
    yield '<div class="source"><ol>'
    for number, line in enumerate(lines[:_LINES], start=1):
        found = marked.get(number, ())
        worst = min((one.severity for one, _ in found), key=_ORDER.index, default=None)
        kind = f' class="{worst}"' if worst else ""
        links = "".join(
            f' <a class="{one.severity}" href="#{own}">{html_text(one.rule)}</a>' for one, own in found
        )
        yield f'<li id="{anchor}-L{number}"{kind}><code>{_tagged(line)}</code>{links}</li>'
    yield "</ol>"
    if len(lines) > _LINES:
        yield f'<p class="note">And {len(lines) - _LINES:,} more lines.</p>'
    yield "</div>"


def _tagged(line: str) -> str:
    """A line of source, its Jinja told from its text as far as one line can tell."""
    shown = line[:_WIDEST]
    made, last = [], 0
    for match in _TAGS.finditer(shown):
        kind = {"{#": "c", "{%": "s", "{{": "e"}[match.group()[:2]]
        made += [html_text(shown[last : match.start()]), f'<i class="{kind}">{html_text(match.group())}</i>']
        last = match.end()
    return "".join(made) + html_text(shown[last:]) + ("…" if len(line) > _WIDEST else "")
