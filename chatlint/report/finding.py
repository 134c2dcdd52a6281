"""A finding as a person reads it: the template's line, the rendered place, what it does, what to change.

error[generation-prompt]: the prompt is the same with and without a generation prompt
  --> tokenizer_config.json › chat_template:41:3
   |
41 | {%- endfor %}
   | ^^^^^^^^^^^^^
   = prompt      …<|user|>Walnut<|end|>
   = in serving  the model continues the user's turn instead of answering
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from chatlint.lazy import regex
from chatlint.records import dataclass
from chatlint.report.canvas import Canvas, Line, Piece
from chatlint.report.excerpt import excerpt, marked_source
from chatlint.rules.finding import Evidence, Finding, Severity
from chatlint.source.package import Template
from chatlint.source.place import template_position

_LABEL = 12
"""Cells of the widest label (`in serving`) and its gap."""
_NARROW = 56
"""Canvases narrower than this have no column for labels."""
_PREPARED = "(by what is made of the conversation there)"
_ENGINES = "CT804"
"""Its hosts are template engines, some of the same name."""
_CASES = {0: "code", 1: "case"}
_NEWLINE = regex(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding stands, as shown: a label for the file, template line and column (0 when unknown), and
    the template line's text."""

    label: str
    line: int
    column: int
    source: str

    @property
    def gutter(self) -> int:
        """Cells of the line number."""
        return len(str(self.line)) if self.line else 1


def finding_lines(
    canvas: Canvas, finding: Finding, template: Template | None, *, host: str = ""
) -> Iterator[str]:
    """The lines of one finding. `template` is None for a finding about a package. Hosts are named where they
    are others than `host`, on which the template was judged."""
    place = place_of(finding, template)
    yield from _heading(canvas, finding)
    yield from _location(canvas, place)
    yield from _source(canvas, place, finding.severity)
    for evidence in finding.evidence:
        if evidence.text or evidence.note not in finding.message:
            yield from _evidence(canvas, place.gutter, evidence, finding.severity)
    yield from _note(canvas, place.gutter, "in serving", finding.consequence)
    yield from _note(canvas, place.gutter, "fix", finding.fix)
    yield from _note(canvas, place.gutter, "only on", only_on(finding, host))
    if finding.hidden_on:
        yield from _note(canvas, place.gutter, "hidden on", f"{', '.join(finding.hidden_on)} {_PREPARED}")
    yield from _note(canvas, place.gutter, _CASES.get(len(finding.cases), "cases"), _about(finding))


def only_on(finding: Finding, host: str) -> str:
    """The hosts in which a finding holds, and how to see its cases there; "" where it holds on `host`. What
    another template engine writes is seen only by running that."""
    if not finding.hosts or host in finding.hosts:
        return ""
    way = f" (render it with --host {finding.hosts[0]})" if finding.code != _ENGINES else ""
    return f"{', '.join(finding.hosts)}{way}"


def place_of(finding: Finding, template: Template | None) -> Place:
    """Where the finding points, in the template's own lines."""
    location = finding.location
    if template is None or location.file != template.place.file or not location.line:
        return Place(location.file, location.line, location.column, "")
    place = template.place
    within = place.json_pointer.lstrip("/") or place.key
    line, column = template_position(place, location.line, location.column)
    lines = template_lines(template.text)
    source = lines[line - 1] if line <= len(lines) else ""
    label = f"{place.file} › {within}" if within else place.file
    return Place(label, line, column if location.column else 0, source)


@lru_cache(maxsize=8)
def template_lines(text: str) -> tuple[str, ...]:
    """A template's lines as Jinja counts them."""
    return tuple(_NEWLINE.split(text))


def words(text: str, style: str = "") -> list[Piece]:
    """A sentence as pieces to wrap, safe to draw."""
    return [(word, style) for word in text.split(" ")]


def _heading(canvas: Canvas, finding: Finding) -> Iterator[str]:
    pieces = [(f"{finding.severity}[{finding.rule}]:", finding.severity), *words(finding.message, "strong")]
    return canvas.wrap(pieces, indent="  ")


def _location(canvas: Canvas, place: Place) -> Iterator[str]:
    numbers = "".join(f":{number}" for number in (place.line, place.column) if number)
    arrow = " " * place.gutter + "--> "
    label = canvas.fit(place.label, canvas.width - len(arrow) - len(numbers))
    yield canvas.draw([(arrow, "rule"), (label, ""), (numbers, "")])


def _source(canvas: Canvas, place: Place, severity: Severity) -> Iterator[str]:
    if not place.source.strip():
        return
    bar = " " * place.gutter + " │"
    room = canvas.width - place.gutter - 3
    start, end = marked_source(place.source, place.column or 1)
    # Where there is not room for all, indentation goes first.
    indent = len(place.source) - len(place.source.lstrip()) if canvas.cells(place.source) > room else 0
    shown = excerpt(canvas, place.source[indent:], start - indent, end - indent, room)
    yield canvas.draw([(bar, "rule")])
    yield canvas.draw([(f"{place.line} │", "rule"), (" " + shown.text, "")])
    if place.column:
        yield canvas.draw([(bar, "rule"), (" " * (1 + shown.before), ""), ("^" * shown.marked, severity)])


def _evidence(canvas: Canvas, gutter: int, evidence: Evidence, severity: Severity) -> Iterator[str]:
    if not evidence.text:
        yield from _note(canvas, gutter, "render", evidence.note)
        return
    label, indent = _label(canvas, gutter, "prompt")
    shown = excerpt(canvas, evidence.text, evidence.start, evidence.end, canvas.width - len(indent))
    if canvas.width < _NARROW:
        yield canvas.draw(label)
        label = [(indent, "")]
    yield canvas.draw([*label, (shown.text, "")])
    if evidence.end > evidence.start:
        yield canvas.draw([(indent + " " * shown.before, ""), ("^" * shown.marked, severity)])
    if evidence.note:
        yield from canvas.wrap(words(evidence.note, "faint"), indent=indent, first=[(indent, "")])


def _note(canvas: Canvas, gutter: int, name: str, text: str) -> Iterator[str]:
    if not text:
        return
    label, indent = _label(canvas, gutter, name)
    yield from canvas.wrap(words(text), indent=indent, first=label)


def _label(canvas: Canvas, gutter: int, name: str) -> tuple[Line, str]:
    """A label, and the indent of what belongs to it."""
    if canvas.width < _NARROW:
        return [(f"{' ' * gutter} = ", "rule"), (f"{name}:", "strong"), (" ", "")], " " * (gutter + 3)
    return [(f"{' ' * gutter} = ", "rule"), (name.ljust(_LABEL), "strong")], " " * (gutter + 3 + _LABEL)


def _about(finding: Finding) -> str:
    more = len(finding.cases) - 1
    shown = finding.cases[0] + (f" and {more} more" if more > 0 else "") if finding.cases else ""
    facts = f"{finding.code}, {finding.confidence} confidence"
    return f"{shown} ({facts})" if shown else facts
