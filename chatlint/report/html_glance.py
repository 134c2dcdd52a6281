"""One template at a glance, as HTML: what it can express, how a model writes for it, how to serve it."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.detect.capability import Capabilities, Support
from chatlint.report.answers import MARKS, groups_of, note_of, spoken
from chatlint.report.grammar import grammar_rows
from chatlint.report.markup import html_prose, html_text
from chatlint.report.serve_with import basis_rows, caveat_rows
from chatlint.verdict import TemplateReport, reasoning_state

_KINDS = {
    Support.YES: "y",
    Support.PARTIAL: "p",
    Support.NO: "x",
    Support.RAISES: "r",
    Support.UNKNOWN: "u",
}


def glance(report: TemplateReport) -> Iterator[str]:
    """Tables of what is known, and what is not."""
    if report.capabilities:
        yield '<table class="able">'
        yield from _capabilities(report.capabilities)
        yield "</table>"
        yield from _shown_by(report.capabilities)
    yield '<table class="rows">'
    if report.capabilities:
        yield from _prompts(report, report.capabilities)
    yield from _writes(report)
    yield from _serving(report)
    yield from _untold(report)
    yield "</table>"


def _capabilities(found: Capabilities) -> Iterator[str]:
    for label, group in groups_of(found):
        chips = "".join(
            f'<span class="{_KINDS[one.support]}" title="{html_text(one.note, 300)}">'
            f"{MARKS[one.support][0]} {html_text(spoken(label, one.name))}</span>"
            for one in group
        )
        notes: dict[str, list[str]] = {}
        for one in group:
            if note_of(one):
                notes.setdefault(one.note, []).append(spoken(label, one.name))
        told = "".join(
            f'<p class="note">{html_text(", ".join(names))}: {html_text(note, 300)}</p>'
            for note, names in notes.items()
        )
        yield f'<tr><th>{html_text(label)}</th><td><div class="chips">{chips}</div>{told}</td></tr>'


def _shown_by(found: Capabilities) -> Iterator[str]:
    """The evidence for every answer."""
    yield "<details><summary>the cases that show it</summary><table><thead><tr><th>capability</th><th></th>"
    yield "<th>cases</th></tr></thead>"
    for one in found.capabilities.values():
        cases = " ".join(f"<code>{html_text(case)}</code>" for case in one.evidence)
        answer = html_text(f"{one.support} {one.note}", 300)
        yield f"<tr><td>{html_text(one.name)}</td><td>{answer}</td><td>{cases}</td></tr>"
    yield "</table></details>"


def _row(label: str, body: str) -> str:
    return f"<tr><th>{html_text(label)}</th><td>{body}</td></tr>"


def _code(text: str, kind: str = "literal") -> str:
    return f'<code class="{kind}">{html_text(text)}</code>'


def _prompts(report: TemplateReport, found: Capabilities) -> Iterator[str]:
    """How the prompt ends, with each value of a switch that changes it."""
    asked = found.generation_prompt
    endings = {"": asked.text, **asked.by_switch}
    for setting, text in endings.items():
        if setting and text == asked.text:
            continue
        state = reasoning_state(report.format, setting)
        said = f" reasoning {state}" if state in ("open", "closed") else ""
        shown = _code(text[-400:]) if text else "nothing"
        told = f' <span class="soft">{html_text(setting)}{html_text(said)}</span>' if setting or said else ""
        yield _row("" if setting else "prompt ends", shown + told)


def _writes(report: TemplateReport) -> Iterator[str]:
    """The output format that was learned."""
    if report.format is None:
        return
    for part, pieces in grammar_rows(report.format):
        shown = "".join(f'<span class="{style}">{html_text(text)}</span>' for text, style in pieces)
        yield _row(f"writes {part}", f"<code>{shown}</code>")
    if report.format.end_of_turn:
        yield _row("turn ends", " ".join(_code(mark) for mark in report.format.end_of_turn))
    trips = report.round_trips
    if trips and trips.trips:
        failed = "".join(
            f"<br><code>{html_text(trip.case)}</code> "
            f"{html_text(', '.join(f'{one.field} ({one.cause})' for one in trip.differences))}"
            for trip in trips.failures
        )
        yield _row("round trips", f"{trips.passed} of {len(trips.trips)}{failed}")


def _serving(report: TemplateReport) -> Iterator[str]:
    serving = report.serving
    if serving is None:
        return
    for engine in serving.engines.values():
        flags = _code(" ".join(engine.flags), "flags") if engine.flags else html_prose(engine.basis)
        yield _row(f"{engine.name} {engine.version}", flags)
    for row in (*basis_rows(serving), *caveat_rows(serving)):
        yield _row("", f'<span class="soft">{html_prose(" ".join(text for text, _ in row))}</span>')


def _untold(report: TemplateReport) -> Iterator[str]:
    """What the template refuses, and what could not be told or failed."""
    for limit in report.limits:
        place = f"line {limit.line}, " if limit.line else ""
        said = f"“{html_text(limit.message, 400)}” "
        yield _row("refuses", f'{said}<span class="soft">{place}{len(limit.cases)} cases</span>')
    for index, (rule, reason) in enumerate(report.unevaluated):
        told = f'<code>{html_text(rule)}</code> <span class="soft">{html_text(reason)}</span>'
        yield _row("" if index else "not evaluated", told)
    for failure in report.failures:
        yield _row("failed", html_text(f"{failure.stage} {failure.subject}: {failure.message}"))
