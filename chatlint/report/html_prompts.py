"""Prompts as HTML: each character in the colour of its origin; template text leads to its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import TracebackType

from chatlint.config import Settings
from chatlint.errors import ChatlintError
from chatlint.probe.trace import Trace
from chatlint.render.rendered import RenderSettings
from chatlint.report.markup import html_text
from chatlint.report.prompt import origin_style, origin_text
from chatlint.rules.finding import Evidence
from chatlint.source.package import TargetKind
from chatlint.store.disk import Store
from chatlint.text import Computed, Literal, Origin, Prompt
from chatlint.verdict import TargetReport, TemplateReport

LEGEND = (
    '<p class="legend"><span class="literal">template</span> <span class="special">special token</span> '
    '<span class="input">input</span> <span class="key">name of a member</span> '
    '<span class="computed">computed</span> <mark>the place</mark></p>'
)
_SHOWN = ("roles/system-user", "calls/one-result", "reasoning/followed")
"""Cases whose prompts say most about a template."""
_AROUND, _LONGEST = 240, 20_000
"""Characters of a prompt around the marked place, and of a whole one."""


class Asked:
    """A template that is asked again for the cases that its report names. Use it as a context."""

    def __init__(self, settings: Settings, target: TargetReport, report: TemplateReport) -> None:
        self._report = report
        self._untrusted = settings.untrusted or target.kind is TargetKind.HUB
        self._store = Store() if settings.cache else None
        self._able = report.capabilities is not None
        self._traces: dict[str, Trace] = {}

    def prompt(self, case: str, hosts: Sequence[str] = ()) -> Prompt | None:
        """The prompt of a case on the host that the template was judged on, or on the first of `hosts` where
        that is none of them. None where there is no prompt, or nobody knows the case."""
        host = hosts[0] if hosts and self._report.host not in hosts else self._report.host
        if not self._able or not case:
            return None
        try:
            trace = self._trace(host)
            return trace.ask(trace.case_of(case)).prompt
        except ChatlintError:
            return None

    def _trace(self, host: str) -> Trace:
        if host not in self._traces:
            settings = RenderSettings(host, untrusted=self._untrusted)
            self._traces[host] = Trace(self._report.template, settings, self._store)
        return self._traces[host]

    def __enter__(self) -> Asked:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for opened in self._traces.values():
            opened.close()


def evidence_html(evidence: Evidence, hosts: Sequence[str], asked: Asked, anchor: str) -> Iterator[str]:
    """The prompt around the place, and the whole of it folded. Without origins where it is another today."""
    prompt = asked.prompt(evidence.case, hosts)
    offset = prompt.text.find(evidence.text) if prompt else -1
    if prompt is None or offset < 0:
        yield f'<pre class="prompt">{_plain(evidence)}</pre>'
        return
    start, end = offset + evidence.start, offset + evidence.end
    low, high = max(start - _AROUND, 0), min(end + _AROUND, len(prompt.text))
    yield f'<pre class="prompt">{"…" if low else ""}'
    yield from coloured(prompt, low, high, (start, end), anchor)
    yield f"{'…' if high < len(prompt.text) else ''}</pre>"
    if low or high < len(prompt.text):
        yield f"<details><summary>the whole prompt, {len(prompt.text):,} characters</summary>"
        yield from _whole(prompt, (start, end), anchor)
        yield "</details>"


def _whole(prompt: Prompt, mark: tuple[int, int], anchor: str) -> Iterator[str]:
    high = min(len(prompt.text), _LONGEST)
    more = f"… and {len(prompt.text) - high:,} more" if high < len(prompt.text) else ""
    yield '<pre class="prompt">'
    yield from coloured(prompt, 0, high, mark, anchor)
    yield f"{more}</pre>"


def _plain(evidence: Evidence) -> str:
    text, start, end = evidence.text, evidence.start, evidence.end
    marked = f"<mark>{_lines(text[start:end])}</mark>" if end > start else ""
    return f"{_lines(text[:start])}{marked}{_lines(text[end:])}"


def gallery(asked: Asked, anchor: str) -> Iterator[str]:
    """A few whole prompts, folded."""
    shown = [(case, prompt) for case in _SHOWN if (prompt := asked.prompt(case))]
    if shown:
        yield "<h3>What the model sees</h3>"
    for case, prompt in shown:
        yield f"<details><summary><code>{html_text(case)}</code></summary>"
        yield from _whole(prompt, (0, 0), anchor)
        yield "</details>"


def coloured(prompt: Prompt, low: int, high: int, mark: tuple[int, int], anchor: str) -> Iterator[str]:
    """Characters `low` to `high` of a prompt, those of `mark` set off."""
    start, end = mark
    cuts = sorted({low, high, *(cut for cut in mark if low < cut < high and end > start)})
    for span in prompt.spans:
        inside = [cut for cut in cuts if span.start < cut < span.end]
        edges = [max(span.start, low), *inside, min(span.end, high)]
        for first, last in pairwise(edges):
            if first < last and low <= first and last <= high:
                piece = _piece(prompt.text[first:last], span.origin, anchor)
                yield f"<mark>{piece}</mark>" if start <= first and last <= end else piece


def _piece(text: str, origin: Origin, anchor: str) -> str:
    """Text of one origin; what a line of the template wrote leads there."""
    said = f'class="{origin_style(origin)}" title="{html_text(origin_text(origin))}"'
    if isinstance(origin, Literal | Computed) and origin.line:
        return f'<a {said} href="#{anchor}-L{origin.line}">{_lines(text)}</a>'
    return f"<span {said}>{_lines(text)}</span>"


def _lines(text: str) -> str:
    """Text whose line ends are seen and kept."""
    return "<i>⏎</i>\n".join(html_text(line) for line in text.split("\n"))
