"""How reasoning is set apart.

Theory of operation. The gap from a turn's start to its reasoning is the opener. If it is empty though
something closes the reasoning, every turn opens it, and the opener stands in the header or in the
generation prompt: there it is the piece that mirrors the closer. The gap from reasoning to content (or
calls) begins with the closer: up to the mirror of the opener, or up to a header, or as far as all such gaps
agree. What follows belongs to the content.

Where reasoning never shows: a mirrored pair with nothing in it before every content is an empty block; and
a text constant of the template that makes what stands before it vanish from an answer is a closer. Both are
guesses.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from chatlint.infer.gaps import Gap, Kind
from chatlint.infer.markers import (
    atoms,
    common_prefix,
    common_suffix,
    is_tag,
    mirrored_end,
    mirrored_start,
    mirrors,
)
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class ReasoningMarks:
    """Literals around reasoning; `content_start` is what stood between its closer and content, "" if nothing;
    `header` is the header without what turned out to be the opener."""

    start: str
    end: str
    header: str
    content_start: str | None
    guess: bool = False


def learn_reasoning(
    gaps: Sequence[Gap], header: str, call_opener: str, prompts: Sequence[str]
) -> ReasoningMarks | None:
    """The marks of reasoning from gaps beside it (start gaps begin behind the header); None if there are
    none.

    `prompts` are generation prompts behind the header.
    """
    starts = [gap.text for gap in gaps if gap.before is Kind.START and gap.after is Kind.REASONING]
    if not starts:
        return None
    opener = common_suffix(starts)
    following = _following(gaps, call_opener)
    if following:
        opener, header = _whole_opener(opener, header, prompts, following)
    closer, content_start = _closer(opener, following, header)
    if not closer.strip() and not opener.strip():
        return None
    return ReasoningMarks(opener, closer, header, content_start)


def _following(gaps: Sequence[Gap], call_opener: str) -> list[tuple[Kind, str]]:
    """The gaps behind reasoning, to content first; those to calls without what opens a call."""
    found = [(gap.after, gap.text) for gap in gaps if gap.before is Kind.REASONING]
    found.sort(key=lambda pair: (Kind.CONTENT, Kind.CALLS, Kind.END).index(pair[0]))
    return [(kind, text.removesuffix(call_opener) if kind is Kind.CALLS else text) for kind, text in found]


def _whole_opener(
    opener: str, header: str, prompts: Sequence[str], following: Sequence[tuple[Kind, str]]
) -> tuple[str, str]:
    """The opener and the header without it, where turns always open reasoning, or other parts begin as it
    does: the last piece of both together that mirrors what closes reasoning."""
    for _, text in following:
        at = mirrored_start(header + opener, text)
        if 0 <= at < len(header):
            return header[at:] + opener, header[:at]
        if at >= 0 or opener.strip():
            return opener, header
        for prompt in prompts:
            at = mirrored_start(prompt, text)
            if at >= 0:
                return prompt[at:], header
    return opener, header


def _closer(opener: str, following: Sequence[tuple[Kind, str]], header: str) -> tuple[str, str | None]:
    """The closer, and what opens content behind it (None if content never follows)."""
    if not following:
        return "", None
    kind, text = following[0]
    for cut in _cuts(opener, text, header):
        rest = text[cut:]
        if header and header in rest:
            rest = rest[rest.rindex(header) + len(header) :]
        return text[:cut], rest if kind is Kind.CONTENT else None
    closer = common_prefix([text for _, text in following])
    return closer, text[len(closer) :] if kind is Kind.CONTENT else None


def _cuts(opener: str, text: str, header: str) -> Sequence[int]:
    """Where the closer may end: at the opener's mirror, or where a header begins."""
    mirrored = mirrored_end(opener, text)
    found = [mirrored] if mirrored >= 0 else []
    if header and header in text:
        found.append(text.index(header))
    return found[:1]


def empty_block(text: str) -> tuple[str, str, str] | None:
    """Opener, closer and rest of a text that begins with a mirrored pair with nothing in it."""
    pieces = atoms(text)
    tags = [(index, atom) for index, atom in enumerate(pieces) if not atom.isspace()]
    for (one, opener), (other, closer) in pairwise(tags):
        if is_tag(opener) and mirrors(opener, closer):
            end = other + 1
            while end < len(pieces) and pieces[end].isspace():
                end += 1
            return "".join(pieces[: one + 1]), "".join(pieces[one + 1 : end]), "".join(pieces[end:])
    return None


def without_reasoning(text: str, marks: ReasoningMarks | None) -> str:
    """The gap before content without an empty reasoning block (or its bare closer) at its beginning."""
    if marks is None or not marks.end.strip():
        return text
    opener, closer = marks.start.strip(), marks.end.strip()
    rest = text.lstrip()
    if opener and rest.startswith(opener):
        rest = rest[len(opener) :].lstrip()
    if not rest.startswith(closer):
        return text
    return rest[len(closer) :].removeprefix(marks.end[marks.end.rindex(closer) + len(closer) :])
