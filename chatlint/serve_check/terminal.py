"""What a server was found to do, as a person reads it on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatlint.report.canvas import Canvas, Piece
from chatlint.serve_check.run import Comparison, Outcome, ServerReport

_SIGN = {Outcome.SAME: ("✓", "good"), Outcome.DIFFERS: ("✗", "bad"), Outcome.NOT_COMPARED: ("·", "faint")}
_SAID = {0: "nothing differs", 1: "the server differs from the template", 3: "nothing could be compared"}
_LABEL = 12


def terminal(report: ServerReport, canvas: Canvas) -> str:
    """The whole comparison."""
    return "".join(f"{line}\n" for line in _lines(report, canvas))


def _lines(report: ServerReport, canvas: Canvas) -> Iterator[str]:
    server = report.server
    what = f"{server.kind} {server.version}".rstrip()
    yield canvas.draw([(canvas.fit(report.url, canvas.width), "strong")])
    about = f"{what}, model {server.model or 'unnamed'}, template {report.template.sha256[:12]}"
    yield from canvas.wrap([(word, "faint") for word in f"{about}, as {report.host} has it".split(" ")], "  ")
    for note in report.notes:
        yield from canvas.wrap([(word, "part") for word in note.split(" ")], "  ", [("  ", "")])
    part = ""
    for one, more in _grouped(report.comparisons):
        yield from _comparison(one, more, canvas, named=one.part != part)
        part = one.part
    yield ""
    code = report.exit_code
    yield canvas.draw([(_SAID[code], "good" if code == 0 else "bad")])


def _grouped(comparisons: Sequence[Comparison]) -> Iterator[tuple[Comparison, int]]:
    """Each with how many more came to just the same: one cause is shown once."""
    groups: dict[object, list[Comparison]] = {}
    for one in comparisons:
        shown = one.about if one.outcome is Outcome.SAME else ""
        groups.setdefault((one.part, one.outcome, one.note, one.ours, one.theirs, shown), []).append(one)
    for members in groups.values():
        yield members[0], len(members) - 1


def _comparison(one: Comparison, more: int, canvas: Canvas, *, named: bool) -> Iterator[str]:
    sign, style = _SIGN[one.outcome]
    indent = " " * (_LABEL + 4)
    first: list[Piece] = [(f"  {(one.part if named else '').ljust(_LABEL)}", "faint"), (f"{sign} ", style)]
    about = f"{one.about} and {more} more:" if more else one.about
    words = [(about, "strong" if one.outcome is Outcome.DIFFERS else ""), *_words(one.note)]
    yield from canvas.wrap(words, indent, first)
    if one.outcome is Outcome.DIFFERS and (one.ours or one.theirs):
        for label, style, text in (("ours", "good", one.ours), ("theirs", "bad", one.theirs)):
            yield from canvas.wrap(
                [(text, style)], indent + " " * 8, [(f"{indent}{label.ljust(8)}", "faint")]
            )


def _words(text: str) -> list[Piece]:
    return [(word, "faint") for word in text.split(" ")] if text else []
