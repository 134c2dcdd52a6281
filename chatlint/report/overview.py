"""One template at a glance: what it can express, how its prompt ends, what stops it, what it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatlint.detect.capability import CALLS_TO, Capabilities, Capability, Support, Switch
from chatlint.export.serving import Serving
from chatlint.parse.formats import Confidence, OutputFormat
from chatlint.report.answers import MARKS, answers_of, groups_of, note_of, spoken
from chatlint.report.canvas import Canvas, Line, Piece
from chatlint.report.excerpt import excerpt
from chatlint.report.finding import words
from chatlint.report.grammar import grammar_rows
from chatlint.report.serve_with import basis_rows, caveat_rows, serving_rows
from chatlint.verdict import TemplateReport, reasoning_state
from chatlint.verify.trip import RoundTrips

_LABEL = 11
_NARROW = 56
_NOTE, _BRIEF = 320, 110
"""Characters of a note, where everything is said and where it is said shortly."""


def overview_lines(canvas: Canvas, report: TemplateReport) -> Iterator[str]:
    """The lines between a template's heading and its findings."""
    if report.capabilities:
        yield from (_grid if canvas.verbose else _answers)(canvas, report.capabilities)
        yield from _generation_prompt(canvas, report, report.capabilities)
    if report.format:
        yield from _format(canvas, report.format, report.capabilities)
    yield from _ends(canvas, report)
    if report.round_trips and report.round_trips.trips:
        yield from _round_trips(canvas, report.round_trips)
    if report.serving:
        yield from _serve_with(canvas, report.serving)
    yield from _limits(canvas, report)
    yield from _missing(canvas, report)


def _answers(canvas: Canvas, found: Capabilities) -> Iterator[str]:
    """One row for each group: what holds, what holds in part, what does not."""
    for label, answers in answers_of(found):
        pieces: list[Piece] = []
        for answer in answers:
            if pieces:
                pieces[-1] = (f"{pieces[-1][0]} ", pieces[-1][1])
            first, *rest = answer.said.split(" ")
            pieces += [
                (f"{answer.mark} {first}", answer.style),
                *((word, answer.style) for word in rest),
            ]
            pieces += words(f"({_cut(answer.note, _BRIEF)})", "faint") if answer.note else []
        yield from _row(canvas, label, pieces)


def _grid(canvas: Canvas, found: Capabilities) -> Iterator[str]:
    """Every capability in its place, and what "partial" and "raises" mean here."""
    for label, group in groups_of(found):
        if canvas.width < _NARROW:
            yield canvas.draw([(label, "strong")])
        cells = [_marked(canvas, label, capability) for capability in group]
        yield from _row(canvas, label if canvas.width >= _NARROW else "", cells)
        yield from _notes(canvas, label, group)


def _marked(canvas: Canvas, label: str, capability: Capability) -> Piece:
    """A mark and a name, padded to the next stop of the grid."""
    mark, style = MARKS[capability.support]
    text = f"{mark} {spoken(label, capability.name)}"
    stop = (canvas.width - _indent(canvas)) // (3 if canvas.width >= _NARROW else 2)
    return text + " " * (-(canvas.cells(text) + 1) % stop), style


def _notes(canvas: Canvas, label: str, group: Sequence[Capability]) -> Iterator[str]:
    """Notes once for the capabilities that they hold for."""
    alike: dict[tuple[Support, str], list[str]] = {}
    for capability in group:
        if note_of(capability):
            alike.setdefault((capability.support, capability.note), []).append(spoken(label, capability.name))
    indent = " " * (_indent(canvas) + 2)
    for (support, note), names in alike.items():
        mark, style = MARKS[support]
        said = [*words(f"{mark} {', '.join(names)}:", style), *words(_cut(note, _NOTE), "faint")]
        yield from canvas.wrap(said, indent=indent + "  ", first=[(indent, "")])


def _cut(note: str, longest: int) -> str:
    """Some of the host's messages hold the whole prompt."""
    return note if len(note) <= longest else f"{note[: longest - 1]}…"


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
    effect = f"changes {_parted(switch)[0]}" if switch.effect else "changes nothing"
    return [*words(f"({', '.join(switch.values)})", "faint"), *words(effect)]


def _parted(switch: Switch) -> tuple[str, str]:
    """What a switch changes, and how it has calls written, "" if as ever."""
    effect, calls, form = switch.effect.partition(CALLS_TO)
    return (f"{effect}calls" if calls else effect), form


def _format(canvas: Canvas, output: OutputFormat, found: Capabilities | None) -> Iterator[str]:
    """How the model will write, as far as it was learned."""
    if not _was_learned(output):
        yield from _row(canvas, "writes", words("(no answer was shown to learn from)", "faint"))
        return
    rows = list(grammar_rows(output))
    forms = [(switch.name, _parted(switch)[1]) for switch in (found.switches if found else ())]
    rows += [("or", [(form, "literal"), (f"  (with {name})", "faint")]) for name, form in forms if form]
    widest = max(canvas.cells(part) for part, _ in rows)
    if canvas.width < _NARROW:
        yield canvas.draw([("writes", "strong")])
    for index, (part, pieces) in enumerate(rows):
        label = "" if index or canvas.width < _NARROW else "writes"
        first = [*_label(canvas, label), (part.ljust(widest + 2), "faint")]
        yield from canvas.fold(pieces, indent=" " * (_indent(canvas) + widest + 2), first=first)


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


def _ends(canvas: Canvas, report: TemplateReport) -> Iterator[str]:
    """What ends a turn, and which files declare it to; what else files declare has a row of its own."""
    ends = report.format.end_of_turn if report.format else ()
    declared: dict[tuple[str, ...], list[str]] = {}
    for source, stops in report.declared_stops.items():
        texts = [stop.text if stop.text is not None else f"id {stop.id}" for stop in stops]
        declared.setdefault(tuple(texts), []).append(source)
    if ends:
        told = declared.pop(ends, [])
        by = words(f"declared by {', '.join(told)}", "faint") if told else []
        yield from _row(canvas, "turn ends", [*((mark, "literal") for mark in ends), *by])
    for index, (shown, names) in enumerate(declared.items()):
        pieces = [*((text, "special") for text in shown), *words(f"declared by {', '.join(names)}", "faint")]
        yield from _row(canvas, "" if index else "stops", pieces)


def _serve_with(canvas: Canvas, serving: Serving) -> Iterator[str]:
    """What engines are told, one row for each where one row is not enough for all; then what is to be said of
    them, once."""
    rows = list(serving_rows(serving))
    together = "; ".join(f"{engine} {' '.join(word for word, _ in pieces)}" for engine, pieces in rows)
    if len(rows) == 1 or canvas.cells(together) <= canvas.width - _indent(canvas):
        rows = [("", words(together))]
    widest = max(canvas.cells(engine) for engine, _ in rows)
    if canvas.width < _NARROW:
        yield canvas.draw([("serve with", "strong")])
    for index, (engine, pieces) in enumerate(rows):
        label = "" if index or canvas.width < _NARROW else "serve with"
        beside = f"{engine.ljust(widest)} " if widest else ""
        indent = " " * (_indent(canvas) + len(beside))
        yield from canvas.wrap(pieces, indent=indent, first=[*_label(canvas, label), (beside, "")])
    for pieces in (*basis_rows(serving, verbose=canvas.verbose), *caveat_rows(serving)):
        yield from canvas.wrap(pieces, indent=" " * (_indent(canvas) + 2), first=_label(canvas, ""))


def _limits(canvas: Canvas, report: TemplateReport) -> Iterator[str]:
    for index, limit in enumerate(report.limits):
        said = words(f"“{_cut(limit.message, _NOTE if canvas.verbose else _BRIEF)}”")
        place = f"line {limit.line}, " if limit.line else ""
        cases = "1 case" if len(limit.cases) == 1 else f"{len(limit.cases)} cases"
        yield from _row(canvas, "" if index else "refuses", [*said, (f"({place}{cases})", "faint")])


def _missing(canvas: Canvas, report: TemplateReport) -> Iterator[str]:
    """What this version does not evaluate is said; silence would read as clean."""
    if canvas.verbose:
        yield from _reasons(canvas, report)
    elif report.unevaluated:
        rules = [rule for rule, _ in report.unevaluated]
        count = "1 rule" if len(rules) == 1 else f"{len(rules)} rules"
        said = f"{count} (--verbose says why)"
        room = canvas.width - _indent(canvas) - len(said) - 2
        names = canvas.fit(", ".join(rules), room) if canvas.width >= _NARROW else ""
        pieces = [*words(f"{said}:" if names else said, "faint"), *([(names, "")] if names else [])]
        yield from _row(canvas, "unevaluated", pieces)
    for failure in report.failures:
        yield from _row(canvas, "failed", words(f"{failure.stage} {failure.subject}: {failure.message}"))


def _reasons(canvas: Canvas, report: TemplateReport) -> Iterator[str]:
    """Why rules could not tell, each reason once."""
    reasons: dict[str, list[str]] = {}
    for rule, reason in report.unevaluated:
        reasons.setdefault(reason, []).append(rule)
    for index, (reason, rules) in enumerate(reasons.items()):
        said = [*words(", ".join(rules)), *words(f"({reason})", "faint")]
        yield from _row(canvas, "" if index else "unevaluated", said)


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
