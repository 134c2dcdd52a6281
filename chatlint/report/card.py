"""A block for a model's README: what its chat template can express, how to serve it, how it writes calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatlint import __version__
from chatlint.detect.capability import Capabilities, Support
from chatlint.export.serving import EngineServing
from chatlint.report.markup import md_cell, md_code, md_prose, md_text
from chatlint.rules.finding import Severity
from chatlint.verdict import TargetReport, TemplateReport

_QUESTIONS: Mapping[str, str] = {
    "system": "system messages",
    "developer": "developer messages",
    "tools": "tools",
    "tool_calls": "tool calls in the history",
    "parallel_tool_calls": "several calls in one turn",
    "tool_results": "tool results",
    "reasoning": "reasoning in the history",
    "parts_user": "content as a list of parts",
    "images": "images",
    "audio": "audio",
    "video": "video",
    "prefill": "a prefilled answer",
}
_SIGNS = {
    Support.YES: "yes",
    Support.PARTIAL: "in part",
    Support.NO: "no",
    Support.RAISES: "no (an error)",
    Support.UNKNOWN: "not known",
}
_LIMITS, _LONGEST = 12, 300
BEGIN, END = "<!-- chatlint card -->", "<!-- end of chatlint card -->"


def card(report: TargetReport, level: int = 2) -> str:
    """Markdown from one mark to another, so that a script can put a newer one in its place. `level` is of
    its heading."""
    return "\n".join([BEGIN, *_lines(report, "#" * level), END]) + "\n"


def _lines(report: TargetReport, heading: str) -> Iterator[str]:
    for template in report.templates:
        named = f" ({md_text(template.template.name)})" if len(report.templates) > 1 else ""
        yield f"{heading} Chat template{named}\n"
        unseen = _unseen(template)
        if unseen:
            yield f"{unseen}\n"
        else:
            yield from _capabilities(template)
            yield from _writing(template, heading)
            yield from _serving(template, heading)
        yield from _limits(template, heading)
        yield f"<sub>{md_text(_made(template))}</sub>\n"


def _made(template: TemplateReport) -> str:
    seen = "Nothing was rendered" if _unseen(template) else "Seen in what the template renders"
    return (
        f"{seen} (sha256 {template.template.sha256[:12]}, host {template.host}), by chatlint {__version__}."
    )


def _unseen(template: TemplateReport) -> str:
    """Why nothing is known of what the template renders; "" where something is."""
    found, coverage = template.capabilities, template.coverage
    if found is None:
        broken = any(one.rule == "syntax" for one in (*template.findings, *template.suppressed))
        return "The template does not compile." if broken else "The template was not evaluated."
    if coverage is None or coverage.rendered:
        return ""
    if all(one.support is Support.UNKNOWN for one in found.capabilities.values()):
        return "The template was not evaluated: no conversation could be rendered."
    return (
        f"The template gives no prompt for any of the {coverage.cases} conversations that it was asked: "
        "nothing is known of what it can show, how the model writes and how to serve it."
    )


def _capabilities(template: TemplateReport) -> Iterator[str]:
    found = template.capabilities
    if found is None:
        return
    yield "| it can show the model | |\n|---|---|"
    for name, what in _QUESTIONS.items():
        if name in found.capabilities:
            yield f"| {what} | {_answer(found, name)} |"
    for switch in found.switches:
        if switch.effect:
            values = ", ".join(md_cell(f"{switch.name}={value}") for value in switch.values)
            yield f"| switch {values} | changes the {md_text(switch.effect)} |"
    yield ""


def _answer(found: Capabilities, name: str) -> str:
    answer = found.capabilities[name]
    said = _SIGNS[answer.support]
    return (
        f"{said}: {md_text(answer.note, _LONGEST)}"
        if answer.note and answer.support is Support.PARTIAL
        else said
    )


def _writing(template: TemplateReport, heading: str) -> Iterator[str]:
    output = template.format
    if output is None:
        return
    yield f"{heading}# How the model writes\n"
    if not (output.reasoning or output.end_of_turn or _sample(template)):
        yield "Neither reasoning, nor a whole call, nor the end of a turn was seen.\n"
    if output.reasoning:
        marks = output.reasoning
        yield f"- reasoning between {_mark(marks.start)} and {_mark(marks.end)}" + _opened(template)
    call = _sample(template)
    if call:
        yield f"- a call:\n\n{_block(call)}\n"
    if output.end_of_turn:
        yield f"- a turn ends with {', '.join(map(_mark, output.end_of_turn))}\n"


def _mark(mark: str) -> str:
    return md_code(mark.strip()) or "nothing"


def _opened(template: TemplateReport) -> str:
    state = template.format.generation_prompt.reasoning if template.format else "none"
    return ", which the prompt opens" if state == "open" else ""


def _sample(template: TemplateReport) -> str:
    """A call as a model would have written it for a probe; "" where none came back."""
    trips = template.round_trips.trips if template.round_trips else ()
    return next(
        (trip.text.strip() for trip in trips if trip.case.startswith("calls/one") and trip.passed), ""
    )


def _block(text: str) -> str:
    """A fenced block that nothing in the text can end."""
    from chatlint.text import visible

    longest = max((len(run) for run in text.split("\n") if set(run) == {"`"}), default=2)
    fence = "`" * max(longest + 1, 3)
    shown = "\n".join(visible(line) for line in text.split("\n"))
    return f"{fence}text\n{shown}\n{fence}"


def _serving(template: TemplateReport, heading: str) -> Iterator[str]:
    serving = template.serving
    if serving is None:
        return
    yield f"{heading}# How to serve it\n"
    yield "| engine | |\n|---|---|"
    for engine in serving.engines.values():
        yield f"| {md_text(engine.name)} {md_text(engine.version)} | {_told(engine)} |"
    if serving.stop:
        yield f"| every engine | stops at {', '.join(map(md_cell, serving.stop))} |"
    caveats = dict.fromkeys(caveat for engine in serving.engines.values() for caveat in engine.caveats)
    calls = template.capabilities.capabilities.get("tool_calls") if template.capabilities else None
    if calls and calls.support is Support.UNKNOWN:
        caveats["no conversation with tool calls could be rendered: what parser they need is not known"] = (
            None
        )
    yield ""
    yield from (f"- {md_prose(caveat, _LONGEST)}" for caveat in caveats)
    if caveats:
        yield ""


def _told(engine: EngineServing) -> str:
    """An engine's flags, with what they need beside them where they do not work by themselves."""
    why = md_prose(engine.basis, _LONGEST)
    if not engine.flags:
        return why
    flags = md_cell(" ".join(engine.flags))
    return flags if engine.fits else f"{flags}, not by themselves: {why}"


def _limits(template: TemplateReport, heading: str) -> Iterator[str]:
    """What it refuses, unless a finding says it, and what goes wrong."""
    faults = [one for one in template.findings if one.severity is not Severity.INFO]
    if not template.limits and not faults:
        return
    yield f"{heading}# Known limits\n"
    limits = [
        f"- it refuses: {md_text(limit.message, _LONGEST)}"
        for limit in template.limits
        if not any(limit.message in one.message for one in faults)
    ]
    found = [f"- {md_prose(one.message, _LONGEST)} ({md_code(one.rule)})" for one in faults]
    shown = [*limits, *found]
    yield from shown[:_LIMITS]
    if len(shown) > _LIMITS:
        yield f"- and {len(shown) - _LIMITS} more: `chatlint check` lists them"
    yield ""
