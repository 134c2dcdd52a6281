"""What stands around calls: the section, each call's own marks, and what separates two calls.

Theory of operation. With a the gap before the first call, b the gap between two calls and c the gap after
the last: all a and b end with what opens a call, all b and c begin with what closes one; all a share more
than that, the section's start; all c share more, its end. What stands before the section (a newline after
content, an empty block, the header) differs between a's of different turns, so it drops out; a header in a
gap means that a new message begins there, and no mark reaches across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

from chatlint.infer.gaps import Kind, Opening, Sample, gaps_of
from chatlint.infer.markers import atoms, between, common_prefix, common_suffix, is_tag, mirrored_end
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class CallMarks:
    """Literals around calls, with placeholders inside."""

    section_start: str
    call_start: str
    call_end: str
    separator: str
    section_end: str
    parallel: bool
    header: str
    """The header, shorter by what turned out to open a call."""
    message_end: str | None = None
    """Where each call is a message of its own: what stands between one and the header of the next."""

    @property
    def opener(self) -> str:
        """Everything before the first call's body."""
        return self.section_start + self.call_start


@dataclass(frozen=True, slots=True)
class _Around:
    """The gaps before, between and after calls of all samples."""

    before: list[str]
    between: list[str]
    after: list[str]


def _around(samples: Sequence[Sample], user_end: str) -> _Around:
    found = _Around([], [], [])
    for sample in samples:
        gaps = gaps_of(sample)
        found.before.extend(gap.text.removeprefix(user_end) for gap in gaps if gap.after is Kind.CALLS)
        found.after.extend(gap.text for gap in gaps if gap.before is Kind.CALLS)
        bodies = sample.bodies
        found.between.extend(sample.turn.literal(one.end, other.start) for one, other in pairwise(bodies))
    return found


def learn_call_marks(
    samples: Sequence[Sample], opening: Opening, ends: Sequence[str], closers: Sequence[str]
) -> CallMarks:
    """The marks around calls. `ends` are marks that are known to end turns, `closers` to close content or
    reasoning: a wrapper that is written even around nothing stands before every call."""
    found = _around([sample for sample in samples if sample.bodies], opening.user_end)
    header = _shorter_header(found, opening.header)
    before = [_after_header(text, header) for text in found.before]
    opener = _without([*closers, *_wrappers(samples, header)], common_suffix(before))
    if not found.between:
        return _single(opener, found.after, header, ends)
    inner = [_after_header(text, header) for text in found.between]
    start = common_suffix([opener, *inner])
    end = common_prefix([*found.between, *found.after])
    head = next(sample.bodies[0].pattern for sample in samples if sample.bodies)
    end, separator, start = between(found.between[0], end, start, start + head)
    section_start = opener[: len(opener) - len(start)]
    section_start = section_start if section_start.strip() else ""
    rest = common_prefix([text[len(end) :] for text in found.after])
    section_end = _until_end(rest, section_start, header, ends)
    if not section_end and not section_start:
        end = _cut(end, header, ends)
        separator = found.between[0][len(end) : len(found.between[0]) - len(start)]
    message_end = separator[: separator.index(header)] if header.strip() and header in separator else None
    separator = "" if header.strip() and header in separator else separator
    return CallMarks(section_start, start, end, separator, section_end, True, header, message_end)


def _shorter_header(found: _Around, header: str) -> str:
    """What the header and the gap between two calls both end with opens a call, unless it is a whole
    header."""
    if not found.between or header in found.between[0] or not header:
        return header
    shared = common_suffix([*found.before, *found.between])
    own = min(len(_after_header(text, header)) for text in found.before)
    excess = len(shared) - own
    return header[:-excess] if 0 < excess < len(header) and header[-excess:].strip() else header


def _after_header(text: str, header: str) -> str:
    return text[text.rindex(header) + len(header) :] if header and header in text else text


def _wrappers(samples: Sequence[Sample], header: str) -> list[str]:
    """What closes content that has a wrapper only beside calls."""
    found = []
    for sample in samples:
        for opened, closed in zip(gaps_of(sample), gaps_of(sample)[1:], strict=False):
            if opened.after is Kind.CONTENT and closed.after is Kind.CALLS:
                end = mirrored_end(_after_header(opened.text, header), closed.text)
                found.append(closed.text[: max(end, 0)])
    return found


def _without(closers: Sequence[str], opener: str) -> str:
    for closer in closers:
        if closer.strip() and opener.lstrip().startswith(closer.strip()):
            opener = opener[opener.index(closer.strip()) + len(closer.strip()) :]
    return opener


def _single(opener: str, after: Sequence[str], header: str, ends: Sequence[str]) -> CallMarks:
    """One call per turn: what is section and what is call cannot be told, all of it is the call's."""
    rest = common_prefix(after)
    return CallMarks("", opener, _until_end(rest, opener, header, ends), "", "", False, header)


def _cut(text: str, header: str, ends: Sequence[str]) -> str:
    """`text` up to a header or a mark that ends turns."""
    return text[
        : min((text.index(mark) for mark in (header, *ends) if mark and mark in text), default=len(text))
    ]


def _until_end(rest: str, opener: str, header: str, ends: Sequence[str]) -> str:
    """The part of `rest` (what follows calls) that closes `opener`: up to a mark that ends turns, a header,
    or, if neither is in it, the mirror of the opener."""
    cut = _cut(rest, header, ends)
    if len(cut) < len(rest):
        return cut
    closed = mirrored_end(opener, rest, furthest=True)
    if closed >= 0:
        return rest[:closed]
    return "".join(takewhile(lambda atom: not is_tag(atom), atoms(rest))) if opener.strip() else ""
