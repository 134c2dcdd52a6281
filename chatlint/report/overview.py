"""One template at a glance: what it can express, how its prompt ends, what stops it, what it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from chatlint.detect.capability import Capabilities, Capability, Support, Switch
from chatlint.export.serving import Serving
from chatlint.parse.formats import Confidence, OutputFormat
from chatlint.report.canvas import Canvas, Line, Piece
from chatlint.report.excerpt import excerpt
from chatlint.report.finding import words
from chatlint.report.grammar import grammar_rows
from chatlint.report.serve_with import caveat_rows, serving_rows
from chatlint.verdict import TemplateReport, reasoning_state
from chatlint.verify.trip import RoundTrips

GROUPS: Mapping[str, tuple[str, ...]] = {
    "roles": (
        "system",
        "late_system",
        "two_systems",
        "developer",
        "history",
        "consecutive_users",
        "consecutive_assistants",
        "assistant_first",
        "system_only",
        "named_roles",
    ),
    "content": (
        "string_content",
        "parts_user",
        "parts_system",
        "parts_assistant",
        "parts_tool",
        "empty_content",
        "images",
        "audio",
        "video",
    ),
    "tools": (
        "tools",
        "tool_calls",
        "tool_results",
        "parallel_tool_calls",
        "object_arguments",
        "string_arguments",
        "content_with_calls",
        "null_content_with_calls",
        "call_ids",
        "documents",
    ),
    "reasoning": (
        "reasoning",
        "reasoning_last_turn",
        "reasoning_tool_loop",
        "reasoning_earlier_turns",
        "reasoning_earlier_loops",
        "reasoning_fields",
        "inline_reasoning",
    ),
    "turn": ("generation_prompt", "prefill", "continue_final_message"),
}
"""Which capabilities stand together; the others follow in a group of their own, so that none is lost."""

MARKS = {
    Support.YES: ("✓", "good"),
    Support.PARTIAL: ("◐", "part"),
    Support.NO: ("✗", "faint"),
    Support.RAISES: ("!", "bad"),
    Support.UNKNOWN: ("?", "faint"),
}
_LABEL = 11
_NARROW = 56
_NOTE = 320


def overview_lines(canvas: Canvas, report: TemplateReport) -> Iterator[str]:
    """The lines between a template's heading and its findings."""
    if report.capabilities:
        yield from _capabilities(canvas, report.capabilities)
        yield from _generation_prompt(canvas, report, report.capabilities)
    if report.format:
        yield from _format(canvas, report.format)
    if report.round_trips and report.round_trips.trips:
        yield from _round_trips(canvas, report.round_trips)
    yield from _stops(canvas, report)
    if report.serving:
        yield from _serve_with(canvas, report.serving)
    yield from _limits(canvas, report)
    yield from _missing(canvas, report)


def _capabilities(canvas: Canvas, found: Capabilities) -> Iterator[str]:
    rest = [name for name in found.capabilities if not any(name in group for group in GROUPS.values())]
    for label, names in (*GROUPS.items(), ("more", tuple(rest))):
        group = [found.capabilities[name] for name in names if name in found.capabilities]
        if group:
            yield from _grid(canvas, label, [_marked(canvas, label, capability) for capability in group])
            yield from _notes(canvas, label, group)


def _grid(canvas: Canvas, label: str, cells: Sequence[Piece]) -> Iterator[str]:
    if canvas.width < _NARROW:
        yield canvas.draw([(label, "strong")])
        label = ""
    yield from _row(canvas, label, cells)


def _marked(canvas: Canvas, label: str, capability: Capability) -> Piece:
    """A mark and a name, padded to the next stop of the grid."""
    mark, style = MARKS[capability.support]
    text = f"{mark} {_spoken(label, capability.name)}"
    stop = (canvas.width - _indent(canvas)) // (3 if canvas.width >= _NARROW else 2)
    return text + " " * (-(canvas.cells(text) + 1) % stop), style


def _spoken(label: str, name: str) -> str:
    """A capability's name under the label of its group."""
    return name.removeprefix(f"{label}_").replace("_", " ")


def _notes(canvas: Canvas, label: str, group: Sequence[Capability]) -> Iterator[str]:
    """What "partial" and "raises" mean here, once for those of which the same is to be said. What the
    template refuses has a row of its own."""
    alike: dict[tuple[Support, str], list[str]] = {}
    for capability in group:
        refused = capability.note.startswith("declined: ")
        if capability.note and capability.support in (Support.PARTIAL, Support.RAISES) and not refused:
            alike.setdefault((capability.support, capability.note), []).append(
                _spoken(label, capability.name)
            )
    indent = " " * (_indent(canvas) + 2)
    for (support, note), names in alike.items():
        mark, style = MARKS[support]
        said = [*words(f"{mark} {', '.join(names)}:", style), *words(_cut(note), "faint")]
        yield from canvas.wrap(said, indent=indent + "  ", first=[(indent, "")])


def _cut(note: str) -> str:
    """Some of the host's messages hold the whole prompt."""
    return note if len(note) <= _NOTE else f"{note[: _NOTE - 1]}…"


def _state(report: TemplateReport, setting: str) -> str:
    """What the prompt does to reasoning, where it does anything."""
    state = reasoning_state(report.format, setting)
    return f"(reasoning {state})" if state in ("open", "closed") else ""


def _generation_prompt(canvas: Canvas, report: TemplateReport, found: Capabilities) -> Iterator[str]:
    asked = found.generation_prompt
    known = found.capabilities.get("generation_prompt")
    if known and known.support in (Support.RAISES, Support.UNKNOWN):
        yield from _row(canvas, "prompt ends", words("(no question gave a prompt)", "faint"))
        return
    yield from _text_row(canvas, "prompt ends", asked.text, _state(report, ""))
    for setting, text in asked.by_switch.items():
        if text != asked.text:
            yield from _text_row(canvas, "", text, f"{setting} {_state(report, setting)}")
    inert = [switch for switch in found.switches if f"{switch.name}=" not in " ".join(asked.by_switch)]
    for index, switch in enumerate(inert):
        yield from _row(canvas, "" if index else "switches", [(switch.name, ""), *_tried(switch)])


def _tried(switch: Switch) -> list[Piece]:
    if not switch.values:
        return words("not tried", "faint")
    effect = f"changes {switch.effect}" if switch.effect else "changes nothing"
    return [*words(f"({', '.join(switch.values)})", "faint"), *words(effect)]


def _format(canvas: Canvas, output: OutputFormat) -> Iterator[str]:
    """How the model will write, as far as it was learned."""
    if not _was_learned(output):
        yield from _row(canvas, "writes", words("(no answer was shown to learn from)", "faint"))
        return
    rows = list(grammar_rows(output))
    widest = max(canvas.cells(part) for part, _ in rows)
    if canvas.width < _NARROW:
        yield canvas.draw([("writes", "strong")])
    for index, (part, pieces) in enumerate(rows):
        label = "" if index or canvas.width < _NARROW else "writes"
        first = [*_label(canvas, label), (part.ljust(widest + 2), "faint")]
        yield from canvas.fold(pieces, indent=" " * (_indent(canvas) + widest + 2), first=first)
    if output.end_of_turn:
        yield from _row(canvas, "turn ends", [(mark, "literal") for mark in output.end_of_turn])


def _was_learned(output: OutputFormat) -> bool:
    content = output.grounds.get("content")
    shown = content is None or content.confidence is not Confidence.NONE
    return shown or bool(output.reasoning or output.tool_calls)


def _round_trips(canvas: Canvas, found: RoundTrips) -> Iterator[str]:
    """How many probe messages came back from the text that a model would write, and what did not."""
    total = len(found.trips)
    said: list[Piece] = [(f"{found.passed} of {total}", "good" if found.passed == total else "part")]
    if found.not_applicable:
        said += words(f"({len(found.not_applicable)} not applicable)", "faint")
    yield from _row(canvas, "round trips", said)
    for trip in found.failures:
        lost = [f"{one.field} ({one.cause})" for one in trip.differences] or ["another message in chunks"]
        yield from _row(canvas, "", [(f"{trip.case}:", "part"), *words(", ".join(lost), "faint")])


def _stops(canvas: Canvas, report: TemplateReport) -> Iterator[str]:
    """What ends a turn as the files declare it, files that agree in one line."""
    sources: dict[tuple[str, ...], list[str]] = {}
    for source, stops in report.declared_stops.items():
        texts = [stop.text if stop.text is not None else f"id {stop.id}" for stop in stops]
        sources.setdefault(tuple(texts), []).append(source)
    for index, (shown, names) in enumerate(sources.items()):
        pieces = [*((text, "special") for text in shown), *words(f"by {', '.join(names)}", "faint")]
        yield from _row(canvas, "" if index else "stops", pieces)


def _serve_with(canvas: Canvas, serving: Serving) -> Iterator[str]:
    """What engines are told, one line for each."""
    rows = list(serving_rows(serving))
    widest = max(canvas.cells(engine) for engine, _ in rows)
    for index, (engine, pieces) in enumerate(rows):
        first = [*_label(canvas, "" if index else "serve with"), (f"{engine.ljust(widest)} ", "")]
        yield from canvas.wrap(pieces, indent=" " * (_indent(canvas) + widest + 1), first=first)
    for pieces in caveat_rows(serving):
        yield from canvas.wrap(pieces, indent=" " * (_indent(canvas) + 2), first=_label(canvas, ""))


def _limits(canvas: Canvas, report: TemplateReport) -> Iterator[str]:
    for index, limit in enumerate(report.limits):
        said = words(f"“{limit.message}”")
        place = f"line {limit.line}, " if limit.line else ""
        cases = "1 case" if len(limit.cases) == 1 else f"{len(limit.cases)} cases"
        yield from _row(canvas, "" if index else "refuses", [*said, (f"({place}{cases})", "faint")])


def _missing(canvas: Canvas, report: TemplateReport) -> Iterator[str]:
    """What this version does not evaluate is said; silence would read as clean."""
    reasons: dict[str, list[str]] = {}
    for rule, reason in report.unevaluated:
        reasons.setdefault(reason, []).append(rule)
    for index, (reason, rules) in enumerate(reasons.items()):
        said = [*words(", ".join(rules)), *words(f"({reason})", "faint")]
        yield from _row(canvas, "" if index else "unevaluated", said)
    for failure in report.failures:
        yield from _row(canvas, "failed", words(f"{failure.stage} {failure.subject}: {failure.message}"))


def _text_row(canvas: Canvas, label: str, text: str, setting: str) -> Iterator[str]:
    """A piece of a prompt, its end kept, beside the setting that gives it."""
    said = [(word, "faint") for word in setting.split(" ") if word]
    room = canvas.width - _indent(canvas) - sum(canvas.cells(word) + 1 for word, _ in said)
    shown = text or "(nothing)"
    part = excerpt(canvas, shown, len(shown), len(shown), max(room, 16)).text
    yield from _row(canvas, label, [(part, "literal" if text else "faint"), *said])


def _row(canvas: Canvas, label: str, pieces: Sequence[Piece]) -> Iterator[str]:
    return canvas.wrap(pieces, indent=" " * _indent(canvas), first=_label(canvas, label))


def _label(canvas: Canvas, label: str) -> Line:
    if canvas.width >= _NARROW:
        return [(f"  {label.ljust(_LABEL)} ", "strong")]
    return [(f"{label}: ", "strong")] if label else [(" " * _indent(canvas), "")]


def _indent(canvas: Canvas) -> int:
    return _LABEL + 3 if canvas.width >= _NARROW else 2
