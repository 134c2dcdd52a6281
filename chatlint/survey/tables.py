"""The tables of `survey.html`: what templates have in common. Everything that a template says is escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from chatlint.config import Settings
from chatlint.report.markup import html_text
from chatlint.survey.rows import SEVERITIES
from chatlint.survey.summary import Mark, Sentence, rest, selected, sentences, share
from chatlint.survey.tally import Fault, Group, Tally, largest
from chatlint.survey.words import percent

_GROUPS = 40
"""Rows of a table of marks."""
_LONGEST = 200


def in_short(tally: Tally, settings: Settings) -> Iterator[str]:
    """Numbers and sentences."""
    count = len(tally.templates)
    learned = tally.trips.total()
    tiles = (
        (str(count), "different templates"),
        (share(tally, "tools"), "show the model its tools"),
        (share(tally, "tool_calls"), "show the calls it made"),
        (
            percent(sum(group.templates for _, group in largest(tally.reasoning)), tally.evaluated),
            "set reasoning apart",
        ),
        (str(len(largest(tally.calls))), "ways to write a call"),
        (percent(tally.trips["whole"], learned), "of learned formats give every message back"),
        (
            percent(tally.worst["error"], count - tally.worst["unknown"]),
            f"have an error{' by the rules that were asked' if any(selected(settings)) else ''}",
        ),
    )
    yield '<section id="short"><div class="tiles">'
    yield from (
        f"<div><b>{html_text(number)}</b><span>{html_text(what)}</span></div>" for number, what in tiles
    )
    yield '</div><ul class="short">'
    yield from (f"<li>{_sentence(sentence)}</li>" for sentence in sentences(tally, settings))
    yield "</ul></section>"


def _sentence(sentence: Sentence) -> str:
    return "".join(_code(piece) if isinstance(piece, Mark) else html_text(piece) for piece in sentence)


def faults(
    tally: Tally, settings: Settings, summaries: Mapping[str, str], anchors: Mapping[str, str]
) -> Iterator[str]:
    """Rules by how many templates they found something in. `anchors` are places of templates by key."""
    if not tally.faults:
        return
    head = ("rule", "templates", "", "by severity", "seen in")
    note = " ".join("".join(sentence) for sentence in selected(settings))
    yield from _opened("faults", "Most frequent faults", head, note)
    most = max(fault.templates for fault in tally.faults.values())
    for rule, fault in tally.most_frequent():
        yield "<tr>" + "".join(_fault(rule, fault, most, tally, summaries, anchors)) + "</tr>"
    yield _CLOSED


def _fault(
    rule: str,
    fault: Fault,
    most: int,
    tally: Tally,
    summaries: Mapping[str, str],
    anchors: Mapping[str, str],
) -> Iterator[str]:
    said = summaries.get(rule, "")
    code = f'<small class="more">{html_text(fault.code)}</small>'
    judged = tally.judged(rule)
    of = "" if judged == len(tally.templates) else f" of {judged}"
    part = f'<small class="more">{percent(fault.templates, judged)}{of}</small>'
    yield f"<td><b>{html_text(rule)}</b> {code}<br>{_prose(said)}</td>"
    yield f'<td class="n" data-l="templates">{fault.templates}<br>{part}</td>'
    yield f'<td class="bars"><span class="bar" style="width:{100 * fault.templates / most:.1f}%"></span></td>'
    chips = [
        f'<span class="chip {severity}">{fault.severities[severity]} {severity}</span>'
        for severity in SEVERITIES
        if fault.severities[severity]
    ]
    yield f"<td>{' '.join(chips)}</td>"
    yield f'<td data-l="seen in">{_seen_in(fault.shown, anchors)}</td>'


def families(tally: Tally, anchors: Mapping[str, str]) -> Iterator[str]:
    """Templates by how an assistant's turn begins and ends, with what they have beside that."""
    head = ("assistant's turn", "templates", "calls", "tool results, in whose turn", "reasoning", "seen in")
    yield from _opened("families", "Families", head, "Templates whose assistant turns begin and end alike.")
    for mark, group in largest(tally.frames, _GROUPS):
        yield (
            f'<tr><td>{_code(mark)}</td><td class="n" data-l="templates">{group.templates}</td>'
            f'<td data-l="calls">{_few(group.calls)}</td><td data-l="results">{_few(group.turns)}</td>'
            f'<td data-l="reasoning">{_few(group.reasoning)}</td>'
            f'<td data-l="seen in">{_seen_in(group.shown, anchors)}</td></tr>'
        )
    yield _closed(tally, tally.frames)


def calls(tally: Tally, anchors: Mapping[str, str]) -> Iterator[str]:
    """How calls are written."""
    head = ("one call, white space shortened", "templates", "kind", "results in whose turn", "seen in")
    yield from _opened("calls", "How calls are written", head)
    for mark, group in largest(tally.calls, _GROUPS):
        yield (
            f'<tr><td>{_code(mark)}</td><td class="n" data-l="templates">{group.templates}</td>'
            f'<td data-l="kind">{_words(group.kinds)}</td><td data-l="results">{_few(group.turns)}</td>'
            f'<td data-l="seen in">{_seen_in(group.shown, anchors)}</td></tr>'
        )
    yield _closed(tally, tally.calls)


def results(tally: Tally, anchors: Mapping[str, str]) -> Iterator[str]:
    """How tool results are shown."""
    head = ("a tool's result", "templates", "in whose turn", "calls", "seen in")
    yield from _opened("results", "How tool results are shown", head)
    for mark, group in largest(tally.results, _GROUPS):
        yield (
            f'<tr><td>{_code(mark)}</td><td class="n" data-l="templates">{group.templates}</td>'
            f'<td data-l="turn">{_few(group.turns)}</td><td data-l="calls">{_few(group.calls)}</td>'
            f'<td data-l="seen in">{_seen_in(group.shown, anchors)}</td></tr>'
        )
    yield _closed(tally, tally.results)


def reasoning(tally: Tally, anchors: Mapping[str, str]) -> Iterator[str]:
    """How reasoning is set apart."""
    yield from _opened("reasoning", "How reasoning is set apart", ("marks", "templates", "calls", "seen in"))
    for mark, group in largest(tally.reasoning, _GROUPS):
        yield (
            f'<tr><td>{_code(mark)}</td><td class="n" data-l="templates">{group.templates}</td>'
            f'<td data-l="calls">{_few(group.calls)}</td>'
            f'<td data-l="seen in">{_seen_in(group.shown, anchors)}</td></tr>'
        )
    yield _closed(tally, tally.reasoning)


def failures(tally: Tally) -> Iterator[str]:
    """Targets that were not judged, by reason."""
    if not tally.failures:
        return
    found = sorted(tally.failures.items(), key=lambda item: (-item[1], item[0]))
    yield from _opened("failures", "Targets that were not judged", ("targets", "status", "why"))
    for (status, reason), count in found[:_GROUPS]:
        why = f"<td>{html_text(status)}</td><td>{html_text(reason, 300)}</td>"
        yield f'<tr><td class="n">{count}</td>{why}</tr>'
    more = len(found) - _GROUPS
    yield _CLOSED if more <= 0 else f"</tbody></table></div><p>And {more} other reasons.</p></section>"


_CLOSED = "</tbody></table></div></section>"


def _opened(anchor: str, title: str, head: Iterable[str], note: str = "") -> Iterator[str]:
    yield f'<section id="{anchor}"><h2>{html_text(title)}</h2>'
    if note:
        yield f'<p class="note">{html_text(note)}</p>'
    cells = "".join(f"<th{_number(name)}>{html_text(name)}</th>" for name in head)
    yield f'<div class="wide"><table class="stack"><thead><tr>{cells}</tr></thead><tbody>'


def _number(name: str) -> str:
    return ' class="n"' if name in ("templates", "targets") else ""


def _closed(tally: Tally, groups: Mapping[str, Group]) -> str:
    said = rest(tally, groups, _GROUPS)
    return f"</tbody></table></div>{f'<p class=note>{html_text(said)}</p>' if said else ''}</section>"


def _few(counts: Counter[str]) -> str:
    found = sorted(
        ((mark, count) for mark, count in counts.items() if mark), key=lambda one: (-one[1], one[0])
    )
    if not found:
        return ""
    shown = "".join(f"<li>{_code(mark)} <small>{count}</small></li>" for mark, count in found[:3])
    more = len(found) - 3
    return f"<ul>{shown}{f'<li><small>and {more} more</small></li>' if more > 0 else ''}</ul>"


def _words(counts: Counter[str]) -> str:
    return ", ".join(html_text(kind.replace("_", " ").lower()) for kind, _ in counts.most_common(2))


def _seen_in(shown: Iterable[tuple[str, str]], anchors: Mapping[str, str]) -> str:
    """Links to the first templates that have it."""
    found = (anchors[key] for _, key in shown if key in anchors)
    return " ".join(f'<a href="#{anchor}">№{anchor[1:]}</a>' for anchor in found)


def _prose(text: str) -> str:
    """A sentence of ours, code between backticks."""
    pieces = text.split("`")
    return "".join(_code(piece) if index % 2 else html_text(piece) for index, piece in enumerate(pieces))


def _code(text: str) -> str:
    return f"<code>{html_text(text, _LONGEST)}</code>" if text else ""
