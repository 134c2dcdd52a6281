"""From learned literals to the parts of an `OutputFormat`, each with the ground it stands on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from chatlint.infer.bodies import Body, Grade, grade_of, to_pattern
from chatlint.infer.calls import CallMarks
from chatlint.infer.content import ContentMarks
from chatlint.infer.gaps import Gap, Kind, Opening, Sample
from chatlint.infer.identities import composed_id
from chatlint.infer.markers import atoms, is_tag
from chatlint.infer.reasoning import ReasoningMarks
from chatlint.infer.values import Notation
from chatlint.infer.vocabulary import TOOLS_ONLY
from chatlint.parse import patterns
from chatlint.parse.formats import PARTS, Confidence, Ground, Marks, Reasoning, Syntax, ToolCalls
from chatlint.parse.notation import Values
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around texts, and the gaps it was learned from."""

    opening: Opening
    gaps: Sequence[Gap]
    reasoning: ReasoningMarks | None
    content: ContentMarks


# -- calls -------------------------------------------------------------------------------------------------


def usual(bodies: Sequence[Body]) -> Body | None:
    """The body that most calls have, None if none has a pattern. Of object literals one with an id tells
    more: it is read where it stands and not missed where it does not."""
    identified = [body for body in bodies if body.syntax is not Syntax.TEXT and patterns.ID in body.pattern]
    bodies = identified or bodies
    counted = Counter(
        (body.pattern, body.syntax, body.id_pattern, body.keyed) for body in bodies if body.pattern
    )
    if not counted:
        return None
    key = counted.most_common(1)[0][0]
    return next(b for b in bodies if (b.pattern, b.syntax, b.id_pattern, b.keyed) == key)


def alike(samples: Sequence[Sample]) -> list[Sample]:
    """The samples whose calls are written as most are: one odd turn must not spoil the marks around the
    others."""
    kinds = Counter(kind for sample in samples for kind in {_kind(body) for body in sample.bodies})
    if not kinds:
        return []
    main = kinds.most_common(1)[0][0]
    return [sample for sample in samples if all(_kind(body) == main for body in sample.bodies)]


def _kind(body: Body) -> tuple[Syntax, bool]:
    return body.syntax, body.keyed


def tool_calls(marks: CallMarks, body: Body, notation: Notation | None) -> ToolCalls:
    """The part for calls. Raises UsageError if its patterns make no sense together."""
    start, pattern, identity = to_pattern(marks.call_start), body.pattern, body.id_pattern
    if body.syntax is Syntax.TEXT and not identity:
        start, pattern, identity = composed_id(start, pattern) or (start, pattern, "")
    return ToolCalls(
        section_start=to_pattern(marks.section_start),
        section_end=to_pattern(marks.section_end),
        call_start=start,
        call_end=to_pattern(marks.call_end),
        separator=to_pattern(marks.separator),
        parallel=marks.parallel,
        body=pattern,
        syntax=body.syntax,
        id=identity,
        members=notation.members if notation and body.keyed else None,
        values=notation.values if notation and body.keyed else Values(),
    )


def calls_ground(samples: Sequence[Sample], marks: CallMarks) -> Ground:
    """What the part for calls rests on."""
    shown = [sample for sample in samples if sample.bodies]
    grade = grade_of([body for sample in shown for body in sample.bodies])
    notes = [_GRADES[grade]] if grade in _GRADES else []
    notes += (
        []
        if marks.parallel
        else ["two calls in a turn were never shown, so section and call are not told apart"]
    )
    confidence = (
        Confidence.LOW if grade < Grade.NAME_IN_ID else Confidence.MEDIUM if notes else Confidence.HIGH
    )
    return Ground(confidence, _cases(sample.turn.case for sample in shown), "; ".join(notes))


_GRADES: Mapping[Grade, str] = {
    Grade.NAME_LOST: "the name is written nowhere",
    Grade.REPR: "arguments are printed as Python prints them",
    Grade.NAME_IN_ID: "the name is written only inside the id",
}


def values_ground(notation: Notation) -> Ground:
    """What the notation of values rests on."""
    if not notation.unseen:
        return Ground()
    return Ground(
        Confidence.MEDIUM,
        (),
        f"never shown, so taken to be written as numbers are: {', '.join(notation.unseen)}",
    )


# -- texts -------------------------------------------------------------------------------------------------


def reasoning_part(frame: Frame, tails: Sequence[str], calls: ToolCalls | None) -> Reasoning | None:
    """The part for reasoning; openers that only generation prompts show are alternatives."""
    marks = frame.reasoning
    known = [frame.content.start, *(one.start for one in frame.content.alternatives)]
    known += [calls.section_start + calls.call_start + calls.body] if calls else []
    others = [tail for tail in dict.fromkeys(tails) if opens_unknown(tail, marks, known)]
    if marks is None:
        return None
    alternatives = tuple(Marks(to_pattern(tail), _end_for(tail, marks)) for tail in others)
    return Reasoning(to_pattern(marks.start), to_pattern(marks.end), alternatives, guess=marks.guess)


def opens_unknown(tail: str, reasoning: ReasoningMarks | None, known: Sequence[str]) -> bool:
    """Whether a generation prompt ends in a tag that no known mark has."""
    tags = [atom for atom in atoms(tail.rstrip()) if is_tag(atom)]
    if not tags or not tail.rstrip().endswith(tags[-1]):
        return False
    every = [*known, *((reasoning.start, reasoning.end) if reasoning else ())]
    return not any(tags[-1] in mark for mark in every)


def _end_for(tail: str, marks: ReasoningMarks) -> str:
    """The closer of an opener that only a prompt shows: made like the known one, if that is made from its
    opener."""
    old = next((atom for atom in atoms(marks.start) if is_tag(atom)), "")
    new = next((atom for atom in reversed(atoms(tail)) if is_tag(atom)), "")
    name, other = old.strip("<>[]|/ "), new.strip("<>[]|/ ")
    end = marks.end.replace(name, other) if name and name in marks.end else marks.end
    return to_pattern(end)


def reasoning_ground(frame: Frame, reasoning: Reasoning | None) -> Ground:
    """What the part for reasoning rests on."""
    shown = [gap for gap in frame.gaps if Kind.REASONING in (gap.before, gap.after)]
    if reasoning is None:
        return Ground(
            Confidence.NONE, (), "no turn shows reasoning, and nothing else tells how it is set apart"
        )
    if reasoning.guess:
        return Ground(Confidence.LOW, (), "a guess: from what the template strips, opens or writes empty")
    note = TOOLS_ONLY if all(gap.calls for gap in shown) else ""
    return Ground(Confidence.HIGH, _cases(gap.case for gap in shown), note)


def content_ground(frame: Frame) -> Ground:
    """What the part for content rests on."""
    shown = [gap for gap in frame.gaps if Kind.CONTENT in (gap.before, gap.after)]
    if not shown:
        return Ground(Confidence.NONE, (), "no turn shows content")
    reasoning = frame.reasoning.start.strip() if frame.reasoning else ""
    merged = [
        g for g in shown if g.calls and g.after is Kind.CONTENT and reasoning and g.text.strip() == reasoning
    ]
    note = "beside calls content is written as reasoning, and reads as that" if merged else ""
    return Ground(Confidence.HIGH, _cases(gap.case for gap in shown), note)


def _cases(cases: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cases))


# -- the turn ----------------------------------------------------------------------------------------------


def frame_mark(frame: Frame, marks: CallMarks | None, calls: ToolCalls | None) -> str:
    """The mark that ends the words of a message's header, where several messages make a turn."""
    header = frame.opening.header
    inner = [gap for gap in frame.gaps if gap.before is not Kind.START and gap.after is not Kind.END]
    separate = marks is not None and marks.message_end is not None
    if not header.strip() or not (separate or any(header in gap.text for gap in inner)):
        return ""
    starts = [frame.content.start, *([frame.reasoning.start] if frame.reasoning else [])]
    ends = {atoms(start.rstrip())[-1] for start in starts if start.strip()}
    mark = ends.pop() if len(ends) == 1 else ""
    return mark if mark and is_tag(mark) and calls and mark in calls.call_start + calls.body else ""


_NAMES = {Kind.REASONING: "reasoning", Kind.CONTENT: "content", Kind.CALLS: "tool_calls"}


def order_of(samples: Sequence[Sample]) -> tuple[str, ...]:
    """The parts in the order of the turns that show two of them together, as most turns have it."""
    seen: Counter[tuple[str, str]] = Counter()
    for sample in samples:
        seen.update(combinations([_NAMES[kind] for kind in dict.fromkeys(sample.kinds)], 2))

    def earlier(name: str) -> int:
        """How many of the others come before it."""
        return sum(
            seen[other, name] > seen[name, other]
            if seen[other, name] != seen[name, other]
            else PARTS.index(other) < PARTS.index(name)
            for other in PARTS
            if other != name
        )

    return tuple(sorted(PARTS, key=earlier))


def exclusive_of(samples: Sequence[Sample]) -> tuple[tuple[str, str], ...]:
    """Content and calls, if they were sent in one message and one was never written beside the other.
    (Reasoning that the history drops tells nothing about what a model writes.)"""
    pair = (Kind.CONTENT, Kind.CALLS)
    return ((_NAMES[pair[0]], _NAMES[pair[1]]),) if _never_together(samples, *pair) else ()


def _never_together(samples: Sequence[Sample], one: Kind, other: Kind) -> bool:
    sent = [s for s in samples if s.turn.message.get("content") and s.turn.message.get("tool_calls")]
    each = all(any(kind in sample.kinds for sample in samples) for kind in (one, other))
    return bool(sent) and each and not any({one, other} <= set(sample.kinds) for sample in sent)
