"""How content is set apart: in most formats not at all.

Theory of operation. What stands between a turn's start and its content, without the header and an empty reasoning
block, opens content; the same behind reasoning. Where two turns disagree the one alone is the usual one and the
other an alternative: their common ending would be nonsense. A closer exists only if an opener does: up to its
mirror, or up to a header, or as far as what follows content agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chatlint.infer.gaps import Gap, Kind
from chatlint.infer.markers import common_prefix, mirrored_end
from chatlint.infer.reasoning import ReasoningMarks, without_reasoning
from chatlint.parse.formats import Marks


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
    opened = [text for text in dict.fromkeys(starts) if text.strip()]
    if not opened:
        return ContentMarks("", "", (), tuple((gap, gap.text) for gap in gaps if _ends(gap)))
    if not start.strip():
        start = opened[0]
    end = _end(start, gaps, header, call_opener)
    known = {start.strip(), reasoning.start.strip() if reasoning else ""}
    others = tuple(Marks(other, end) for other in opened if other.strip() not in known)
    return ContentMarks(
        start, end, others, tuple((gap, gap.text.removeprefix(end)) for gap in gaps if _ends(gap))
    )


def _ends(gap: Gap) -> bool:
    return gap.before is Kind.CONTENT and gap.after is Kind.END


def _starts(gaps: Sequence[Gap], reasoning: ReasoningMarks | None, header: str) -> list[str]:
    """What opens content, alone first, then behind reasoning, then beside calls."""
    own = [gap for gap in gaps if gap.after is Kind.CONTENT and gap.before is Kind.START]
    found = [without_reasoning(gap.text, reasoning) for gap in sorted(own, key=lambda gap: gap.calls)]
    if reasoning and reasoning.content_start is not None:
        found.insert(1 if found else 0, reasoning.content_start)
    return found


def _end(start: str, gaps: Sequence[Gap], header: str, call_opener: str) -> str:
    texts = [gap.text.removesuffix(call_opener) for gap in gaps if gap.before is Kind.CONTENT]
    if not texts:
        return ""
    closed = [mirrored_end(start, text) for text in texts]
    if closed[0] >= 0:
        return texts[0][: closed[0]]
    if len(set(texts)) == 1:
        return ""
    shared = common_prefix(texts)
    return shared[: shared.index(header)] if header and header in shared else shared
