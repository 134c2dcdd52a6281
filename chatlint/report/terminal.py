"""The report for a person at a terminal: each template at a glance, what is wrong, what is worth knowing, the
sum. Whoever asks for everything (`Canvas.verbose`) gets it."""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.report.canvas import Canvas, Piece
from chatlint.report.excerpt import excerpt
from chatlint.report.finding import finding_lines, words
from chatlint.report.infos import info_lines
from chatlint.report.overview import overview_lines
from chatlint.report.together import accepted_lines, shared_lines
from chatlint.rules.finding import Severity
from chatlint.source.engine_templates import differ
from chatlint.source.package import TargetKind, TemplatePick
from chatlint.verdict import Report, TargetFailure, TargetReport, TemplateReport

_PLURALS = {Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.INFO: "infos"}
_ORDER = tuple(_PLURALS)


def terminal(report: Report, canvas: Canvas) -> str:
    """The whole report."""
    blocks = [line for target in report.targets for line in _target(canvas, target)]
    return "".join(f"{line}\n" for line in (*blocks, *_summary(canvas, report)))


def _target(canvas: Canvas, target: TargetReport) -> Iterator[str]:
    if target.failure:
        yield _title(canvas, target.target)
        yield from _failure(canvas, target.status, target.failure)
        yield ""
    for index, template in enumerate(target.templates):
        yield _title(canvas, _name(target, template))
        yield from _facts(canvas, target, template)
        yield from _notes(canvas, target) if index == 0 else ()
        yield from overview_lines(canvas, template)
        yield ""
        yield from _findings(canvas, target, template, with_package=index == 0)


def _title(canvas: Canvas, text: str) -> str:
    """A name in a rule as wide as the canvas. Of one that is wider the end is kept: it says more."""
    name = excerpt(canvas, text, len(text), len(text), canvas.width - 6).text
    rule = "─" * (canvas.width - 4 - canvas.cells(name))
    return canvas.draw([("── ", "rule"), (name, "strong"), (f" {rule}", "rule")])


def _name(target: TargetReport, template: TemplateReport) -> str:
    return target.target if len(target.templates) == 1 else f"{target.target} › {template.template.name}"


def _facts(canvas: Canvas, target: TargetReport, report: TemplateReport) -> Iterator[str]:
    """What was judged: the file, who rendered, with which tokens."""
    template = report.template
    tokens = "assumed special tokens" if template.special_tokens_assumed else "its own special tokens"
    file = "" if target.target.endswith(template.place.file) else f"{template.place.file}, "
    commit = f"commit {target.revision[:12]}, " if target.revision else ""
    about = f"{commit}{file}sha256 {template.sha256[:12]}, {report.host}, {tokens}"
    return canvas.wrap(words(about, "faint"), indent="  ", first=[("  ", "")])


def _notes(canvas: Canvas, target: TargetReport) -> Iterator[str]:
    for note in (*target.notes, *_readers(target), *_price(target)):
        yield from canvas.wrap(words(note), indent="        ", first=[("  note: ", "strong")])


def _price(target: TargetReport) -> Iterator[str]:
    """What history costs while it is served."""
    cache = target.kv_cache
    if cache is None:
        return
    kept = cache.growing_layers
    layers = f"{kept} of {cache.layers} layers" if kept < cache.layers else f"{kept} layers"
    most = "at most " if cache.at_most else ""
    token, thousand = cache.bytes_per_token / 1024, cache.bytes_per_token * 1000 / 1024**2
    yield (
        f"a token of history takes {most}{token:.4g} KiB of KV cache ({cache.kind}, {layers}), "
        f"1,000 tokens of kept reasoning {thousand:.4g} MiB"
    )


def _readers(target: TargetReport) -> Iterator[str]:
    """Which engine reads which template, where that makes a difference. A file by itself is no package: which
    engine would read it where is open."""
    alone = target.kind in (TargetKind.FILE, TargetKind.STDIN)
    if alone or not differ(target.template_readers):
        return
    for one in target.template_readers:
        plain, tools = _picked(one.without_tools), _picked(one.with_tools)
        tools = f", with tools {tools}" if tools != plain else ""
        yield f"{one.engine} reads {plain}{tools}" + (f" ({one.note})" if one.note else "")


def _picked(pick: TemplatePick | None) -> str:
    return f"{pick.file} ({pick.name})" if pick else "none"


def _failure(canvas: Canvas, status: str, failure: TargetFailure) -> Iterator[str]:
    yield from canvas.wrap(words(failure.message), indent="  ", first=[(f"{status}: ", "error")])
    if failure.hint:
        yield from canvas.wrap(words(failure.hint), indent="          ", first=[("  = help  ", "strong")])


def _findings(
    canvas: Canvas, target: TargetReport, report: TemplateReport, *, with_package: bool
) -> Iterator[str]:
    """The worst first. What is only worth knowing is a line each, unless everything is asked for."""
    if with_package:
        for failure in target.failures:
            said = words(f"{failure.subject}: {failure.message}")
            yield from canvas.wrap(said, indent="  ", first=[("not read: ", "warning")])
            yield ""
    shared = [(finding, None) for finding in target.findings] if with_package else []
    found = [*shared, *((finding, report.template) for finding in report.findings)]
    brief = [] if canvas.verbose else [one for one in found if one[0].severity is Severity.INFO]
    for finding, template in sorted(found, key=lambda one: _ORDER.index(one[0].severity)):
        if canvas.verbose or finding.severity is not Severity.INFO:
            yield from finding_lines(canvas, finding, template, host=report.host)
            yield ""
    if brief:
        yield from info_lines(canvas, brief)
        yield ""


def _summary(canvas: Canvas, report: Report) -> Iterator[str]:
    yield from shared_lines(canvas, report)
    total = report.summary()
    parts: list[Piece] = []
    for severity, plural in _PLURALS.items():
        count = report.counts.get(severity, 0)
        comma = "," if severity is not Severity.INFO else ""
        parts.append((f"{count} {severity if count == 1 else plural}{comma}", severity if count else "faint"))
    if len(report.targets) > 1:
        parts += words(f"in {total['templates']} templates of {total['targets']} targets")
    if total["failed"]:
        parts += words(f"({total['failed']} not checked)", "error")
    yield from canvas.wrap(parts)
    yield from accepted_lines(canvas, report)
    if any(report.counts.values()):
        yield from canvas.wrap(
            words(
                "chatlint rule NAME explains a rule; chatlint render TARGET --probe CASE, a case",
                "faint",
            )
        )
