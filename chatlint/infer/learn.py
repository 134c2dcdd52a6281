"""From a template's renders to its output format.

Theory of operation. Ask for a few turns (`samples.py`), cut them out of their prompts by provenance (`turns.py`),
find each call's body (`bodies.py`) and see every turn as blocks with gaps between them (`gaps.py`). Marks are then
learned from the inside out: calls, for they are the most distinct (`calls.py`), reasoning (`reasoning.py`), content
(`content.py`), ends (`stops.py`); what generation prompts open is read with the marks known by then (`prompts.py`).
Every part says which cases it rests on; what could not be learned says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from chatlint.errors import UsageError
from chatlint.infer.bodies import Body, Grade, bodies_of, grade_of, to_pattern
from chatlint.infer.calls import CallMarks, learn_call_marks
from chatlint.infer.content import ContentMarks, learn_content
from chatlint.infer.gaps import Gap, Kind, Opening, Sample, gaps_of, learn_opening, sample_of
from chatlint.infer.hidden import guess_reasoning
from chatlint.infer.markers import atoms, is_tag
from chatlint.infer.members import MemberMarks, learn_members, with_members
from chatlint.infer.prompts import Printed, find_prompts, generation_prompt, tail_of
from chatlint.infer.reasoning import ReasoningMarks, learn_reasoning
from chatlint.infer.samples import OFF, Samples, find_samples
from chatlint.infer.stops import end_marks, message_ends
from chatlint.infer.turns import Turn, calls_of
from chatlint.infer.values import Notation, learn_values, samples_of
from chatlint.parse.formats import (
    Confidence,
    Content,
    Ground,
    Marks,
    Members,
    OutputFormat,
    Reasoning,
    Syntax,
    ToolCalls,
    Values,
)
from chatlint.probe.trace import Trace
from chatlint.render.syntax import Syntax as TemplateSyntax


def learn(trace: Trace, syntax: TemplateSyntax) -> OutputFormat:
    """The output format of the trace's template. `syntax` are the template's static facts (`syntax_of`).

    Raises nothing for the template's sake: a part that could not be learned is None (or its default) and its
    ground in `OutputFormat.grounds` says why.
    """
    return _Learning(find_samples(trace, syntax)).format()


@dataclass(frozen=True, slots=True)
class _Frame:
    """What stands around texts, and the gaps it was learned from."""

    opening: Opening
    gaps: list[Gap]
    reasoning: ReasoningMarks | None
    content: ContentMarks


@dataclass(slots=True)
class _Learning:
    """What is known so far."""

    asked: Samples
    samples: list[Sample] = field(default_factory=list)
    grounds: dict[str, Ground] = field(default_factory=dict)

    def format(self) -> OutputFormat:
        printed = find_prompts(self.asked.footing)
        turns = list(self._turns())
        members = self._members(turns)
        self.samples = [sample_of(turn, self._bodies(turn, members)) for turn in turns]
        frame = self._around_text(self._opening(printed), printed, None)
        calls = self._call_marks(frame)
        if calls:
            opening = Opening(frame.opening.user_end, calls.header)
            frame = self._around_text(opening, printed, calls)
        return self._assembled(frame, printed, calls, members)

    def _around_text(self, opening: Opening, printed: Sequence[Printed], calls: CallMarks | None) -> _Frame:
        """Reasoning and content, first from turns without calls (`calls` None), then from all."""
        gaps = self._gaps(opening, with_calls=calls is not None)
        tails = [tail_of(one.text, opening.header) for one in printed]
        opener = calls.opener if calls else ""
        reasoning = learn_reasoning(gaps, opening.header, opener, tails)
        if reasoning is None and (calls or not self._shows_calls()):
            reasoning = guess_reasoning(self.asked, gaps, opening.header, tails)
        if reasoning and reasoning.header != opening.header:
            opening = Opening(opening.user_end, reasoning.header)
            gaps = self._gaps(opening, with_calls=calls is not None)
        return _Frame(opening, gaps, reasoning, learn_content(gaps, reasoning, opening.header, opener))

    def _shows_calls(self) -> bool:
        return any(sample.bodies for sample in self.samples)

    # -- looking -----------------------------------------------------------------------------------------------

    def _turns(self) -> Iterator[Turn]:
        """The turns everything is learned from; those that show nothing are left out."""
        asked = self.asked
        yield from _shown(asked.turn("roles/user-assistant", OFF), asked.turn("roles/user-assistant-user"))
        if asked.reasoning is not None:
            yield from _shown(asked.turn("reasoning/last", OFF))
        if asked.calls is None:
            return
        yield from _shown(asked.call_turn("one"), asked.call_turn("two"), asked.call_turn("three"))
        yield from _shown(asked.call_turn("one", {"content": "text"}))
        yield from _shown(asked.turn("calls/two-result", index=1), asked.turn("calls/one-answered", OFF, index=3))
        if asked.reasoning is not None:
            yield from _shown(asked.turn("reasoning/call", OFF), asked.turn("reasoning/call-result", index=1))

    def _members(self, turns: Sequence[Turn]) -> MemberMarks | None:
        calls = [(turn, bodies_of(turn)) for turn in turns if turn.calls()]
        keyed = [(turn, bodies) for turn, bodies in calls if bodies and all(body.keyed for body in bodies)]
        return learn_members(keyed) if keyed else None

    def _bodies(self, turn: Turn, members: MemberMarks | None) -> tuple[Body, ...]:
        bodies = bodies_of(turn)
        return with_members(turn, bodies, members) if members else bodies

    def _opening(self, printed: Sequence[Printed]) -> Opening:
        off = self.asked.footing.look("roles/user", OFF)
        user_end = ""
        if off.prompt:
            ends = [span.end for span in off.prompt.inputs("/messages/0/content", key=False)]
            user_end = off.text[max(ends) :] if ends else ""
        leads = [gaps_of(s)[0].text for s in self.samples if not _in_loop(s)]
        return learn_opening(leads, user_end, [printed[0].text])

    def _gaps(self, opening: Opening, *, with_calls: bool) -> list[Gap]:
        """All gaps, those at starts of turns without what belongs to the message before and the header."""
        found = []
        for sample in self.samples:
            if sample.bodies and not with_calls:
                continue
            first, *others = gaps_of(sample)
            rest = opening.rest(first.text)
            found += [replace(first, text=rest)] if rest is not None else []
            found += others
        return found

    # -- learning ----------------------------------------------------------------------------------------------

    def _call_marks(self, frame: _Frame) -> CallMarks | None:
        with_calls = [sample for sample in self.samples if sample.bodies]
        if not with_calls:
            return None
        closers = [frame.content.end, frame.reasoning.end if frame.reasoning else ""]
        ends = end_marks(frame.content.tails, frame.opening, closers)
        return learn_call_marks(with_calls, frame.opening, ends, closers)

    def _assembled(
        self, frame: _Frame, printed: Sequence[Printed], calls: CallMarks | None, members: MemberMarks | None
    ) -> OutputFormat:
        opening, gaps, reasoning, content = frame.opening, frame.gaps, frame.reasoning, frame.content
        tool_calls = self._tool_calls(calls, members)
        known = [content.end, *((calls.call_end, calls.section_end) if calls else ())]
        known += [reasoning.end] if reasoning else []
        between = message_ends(gaps, opening)
        ends = end_marks([*content.tails, *self._call_tails(gaps, calls)], opening, known, between)
        marks = [Marks(reasoning.start, reasoning.end)] if reasoning else []
        return OutputFormat(
            header=to_pattern(opening.header),
            header_end=to_pattern(_frame(opening, gaps, reasoning, content, tool_calls)),
            generation_prompt=generation_prompt(printed, opening.header, marks),
            reasoning=self._reasoning(reasoning),
            content=Content(to_pattern(content.start), to_pattern(content.end), content.alternatives),
            tool_calls=tool_calls,
            end_of_turn=tuple(map(to_pattern, ends)),
            end_of_message=tuple(map(to_pattern, (mark for mark in between if mark not in ends))),
            grounds=self.grounds,
        )

    def _reasoning(self, marks: ReasoningMarks | None) -> Reasoning | None:
        return Reasoning(to_pattern(marks.start), to_pattern(marks.end), guess=marks.guess) if marks else None

    def _call_tails(self, gaps: Sequence[Gap], calls: CallMarks | None) -> Iterator[tuple[Gap, str]]:
        closer = calls.call_end + calls.section_end if calls else ""
        for gap in gaps:
            if gap.before is Kind.CALLS and gap.after is Kind.END:
                yield gap, gap.text.removeprefix(closer)

    def _tool_calls(self, marks: CallMarks | None, members: MemberMarks | None) -> ToolCalls | None:
        if marks is None:
            self.grounds["tool_calls"] = Ground(Confidence.NONE, (), "no call was shown")
            return None
        bodies = [body for sample in self.samples for body in sample.bodies]
        body = _usual(bodies)
        notation = self._notation(members) if members else None
        if body is None or (body.keyed and notation is None):
            self.grounds["tool_calls"] = Ground(
                Confidence.NONE, (), "calls are shown, but not how arguments are written"
            )
            return None
        cases = tuple(dict.fromkeys(sample.turn.case for sample in self.samples if sample.bodies))
        try:
            made = _made(marks, body, notation)
        except UsageError as error:
            self.grounds["tool_calls"] = Ground(Confidence.NONE, cases, error.message)
            return None
        confidence = Confidence.HIGH if grade_of(bodies) >= Grade.NAME_IN_ID else Confidence.LOW
        self.grounds["tool_calls"] = Ground(confidence, cases)
        return made

    def _notation(self, members: MemberMarks) -> Notation | None:
        """How values of all types are written, from the calls at hand and two more with every type in them."""
        turns = [
            self.asked.turn(f"arguments/{probe}", *(() if self.asked.suffix else (OFF,)), index=1)
            for probe in ("every-type", "hard-strings")
        ]
        shown = [turn for turn in turns if turn]
        samples = [one for turn in shown for one in samples_of(turn, 0, members)]
        samples += [
            one
            for sample in self.samples
            for call in range(len(sample.bodies))
            for one in samples_of(sample.turn, call, members)
        ]
        return learn_values(samples, members)


def _shown(*turns: Turn | None) -> Iterator[Turn]:
    yield from (turn for turn in turns if turn)


def _in_loop(sample: Sample) -> bool:
    """Whether the turn follows a tool's result instead of the user."""
    return False


def _usual(bodies: Sequence[Body]) -> Body | None:
    counted = Counter(
        (body.pattern, body.syntax, body.id_pattern, body.keyed) for body in bodies if body.pattern
    )
    if not counted:
        return None
    key = counted.most_common(1)[0][0]
    return next(b for b in bodies if (b.pattern, b.syntax, b.id_pattern, b.keyed) == key)


def _made(marks: CallMarks, body: Body, notation: Notation | None) -> ToolCalls:
    return ToolCalls(
        section_start=to_pattern(marks.section_start),
        section_end=to_pattern(marks.section_end),
        call_start=to_pattern(marks.call_start),
        call_end=to_pattern(marks.call_end),
        separator=to_pattern(marks.separator),
        parallel=marks.parallel,
        body=body.pattern,
        syntax=body.syntax,
        id=body.id_pattern,
        members=notation.members if notation and body.keyed else None,
        values=notation.values if notation and body.keyed else Values(),
    )


def _frame(
    opening: Opening,
    gaps: Sequence[Gap],
    reasoning: ReasoningMarks | None,
    content: ContentMarks,
    calls: ToolCalls | None,
) -> str:
    """The mark that ends the words of a message's header, where several messages make a turn."""
    if not opening.header.strip() or not any(
        opening.header in gap.text
        for gap in gaps
        if gap.before is not Kind.START and gap.after is not Kind.END
    ):
        return ""
    starts = [start for start in (reasoning.start if reasoning else "", content.start) if start.strip()]
    ends = {atoms(start.rstrip())[-1] for start in starts}
    mark = ends.pop() if len(ends) == 1 else ""
    return mark if mark and is_tag(mark) and calls and mark in calls.call_start + calls.body else ""


__all__ = ["Members", "Syntax", "calls_of", "learn"]
