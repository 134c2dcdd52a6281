"""How content is set apart: in most formats not at all.

Theory of operation. What stands between a turn's start and its content, without the header and an empty
reasoning block, opens content; the same behind reasoning. Where two turns disagree the one alone is the
usual one and the other an alternative: their common ending would be nonsense. A closer exists only if an
opener does: up to its mirror, or up to a header, or as far as what follows content agrees.
"""

from __future__ import annotations

from collections.abc import Sequence

from chatlint.infer.bodies import to_pattern
from chatlint.infer.gaps import Gap, Kind
from chatlint.infer.markers import common_prefix, mirrored_end
from chatlint.infer.reasoning import ReasoningMarks, without_reasoning
from chatlint.parse.formats import Marks
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class ContentMarks:
    """Literals around content, other wrappers, and how turns end after it."""

    start: str
    end: str
    alternatives: tuple[Marks, ...]
    tails: tuple[tuple[Gap, str], ...]
    """The gaps to the end of the turn without the closer."""


def learn_content(
    gaps: Sequence[Gap], reasoning: ReasoningMarks | None, header: str, call_opener: str
) -> ContentMarks:
    """The marks of content from gaps beside it (start gaps begin behind the header)."""
    starts = _starts(gaps, reasoning, header)
    start = starts[0] if starts else ""
    if reasoning and start.strip() and start.strip() == reasoning.start.strip():
        start = ""
    end = _end(start, gaps, header, call_opener) if start.strip() else ""
    end = end or _blanks_before_end(gaps)
    known = {start.strip(), reasoning.start.strip() if reasoning else ""}
    others = [
        text
        for text in dict.fromkeys(starts)
        if text not in ("", start) and (text.strip() or "") not in known
    ]
    alternatives = tuple(
        Marks(to_pattern(other), to_pattern(_end(other, gaps, header, call_opener, beside_calls=True)))
        for other in others
    )
    tails = tuple((gap, gap.text.removeprefix(end)) for gap in gaps if _ends(gap))
    return ContentMarks(start, end, alternatives, tails)


def _ends(gap: Gap) -> bool:
    return gap.before is Kind.CONTENT and gap.after is Kind.END


def _blanks_before_end(gaps: Sequence[Gap]) -> str:
    """Whitespace that the template writes between content and the mark that ends the turn."""
    tails = [gap.text for gap in gaps if _ends(gap) and gap.last and not gap.calls]
    blanks = {text[: len(text) - len(text.lstrip())] for text in tails if text.strip()}
    return blanks.pop() if len(blanks) == 1 else ""


def _starts(gaps: Sequence[Gap], reasoning: ReasoningMarks | None, header: str) -> list[str]:
    """What opens content, alone first, then behind reasoning, then beside calls."""
    own = [gap for gap in gaps if gap.after is Kind.CONTENT and gap.before is Kind.START]
    found = [without_reasoning(gap.text, reasoning) for gap in sorted(own, key=lambda gap: gap.calls)]
    if reasoning and reasoning.content_start is not None:
        found.insert(1 if found else 0, reasoning.content_start)
    return found


def _end(
    start: str, gaps: Sequence[Gap], header: str, call_opener: str, *, beside_calls: bool = False
) -> str:
    """What closes content: the mirror of its opener, or what content ends with before calls as well as at a
    turn's end (what it only ends turns with is the end of the turn)."""
    behind = [gap for gap in gaps if gap.before is Kind.CONTENT and gap.calls >= beside_calls]
    texts = [gap.text.removesuffix(call_opener) for gap in behind]
    for text in texts:
        closed = mirrored_end(start, text)
        if closed >= 0:
            return text[:closed]
    if not start.strip():
        return ""
    if not {gap.after for gap in behind} >= {Kind.CALLS, Kind.END}:
        return ""
    shared = common_prefix(texts)
    shared = shared[: shared.index(header)] if header and header in shared else shared
    return (
        "" if any(gap.after is Kind.END and not gap.text[len(shared) :].strip() for gap in behind) else shared
    )
