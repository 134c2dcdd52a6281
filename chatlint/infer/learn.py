"""From a template's renders to its output format.

Theory of operation. Ask for a few turns (`samples.py`), cut them out of their prompts by provenance
(`turns.py`), find each call's body (`bodies.py`) and see every turn as blocks with gaps between them
(`gaps.py`). Marks are then learned from the inside out: calls, for they are the most distinct (`calls.py`),
reasoning (`reasoning.py`), content (`content.py`), ends (`stops.py`); what generation prompts open is read
with the marks known by then (`prompts.py`). Every part says which cases it rests on; what could not be
learned says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatlint.errors import UsageError
from chatlint.infer import shapes
from chatlint.infer.bodies import Body, bodies_of, to_pattern, with_inner_names
from chatlint.infer.calls import CallMarks, learn_call_marks
from chatlint.infer.content import learn_content
from chatlint.infer.gaps import Gap, Kind, Opening, Sample, gaps_of, learn_opening, sample_of, without_start
from chatlint.infer.hidden import guess_reasoning
from chatlint.infer.members import MemberMarks, learn_members, with_members
from chatlint.infer.needles import without_needles
from chatlint.infer.prompts import Printed, find_prompts, generation_prompt, tail_of
from chatlint.infer.reasoning import learn_reasoning
from chatlint.infer.samples import OFF, Samples, find_samples
from chatlint.infer.shapes import Frame
from chatlint.infer.stops import end_marks, message_ends
from chatlint.infer.turns import Turn
from chatlint.infer.values import Notation, learn_values, samples_of
from chatlint.parse.formats import Confidence, Content, Ground, OutputFormat, ToolCalls
from chatlint.probe.reading import bounds
from chatlint.probe.trace import Trace
from chatlint.records import dataclass, field, replace
from chatlint.render.syntax import Syntax as TemplateSyntax


def learn(trace: Trace, syntax: TemplateSyntax) -> OutputFormat:
    """The output format of the trace's template. `syntax` are the template's static facts (`syntax_of`).

    Raises nothing for the template's sake: a part that could not be learned is None (or its default) and its
    ground in `OutputFormat.grounds` says why.
    """
    samples = find_samples(trace, syntax)
    output = _Learning(samples).format()
    evidence = (samples.footing.base, *samples.seen)
    return without_needles(output, (observation.case.conversation for observation in evidence))


@dataclass(slots=True)
class _Learning:
    """What is known so far."""

    asked: Samples
    samples: list[Sample] = field(default_factory=list)
    grounds: dict[str, Ground] = field(default_factory=dict)

    def format(self) -> OutputFormat:
        printed = find_prompts(self.asked.footing)
        turns = [with_inner_names(turn) for turn in self._turns()]
        members = self._members(turns)
        self.samples = [sample_of(turn, self._bodies(turn, members)) for turn in turns]
        frame = self._around_text(self._opening(printed), printed, None)
        calls = self._call_marks(frame)
        if calls:
            opening = Opening(frame.opening.user_end, calls.header)
            frame = self._around_text(opening, printed, calls)
        return self._assembled(frame, printed, calls, members)

    def _around_text(self, opening: Opening, printed: Sequence[Printed], calls: CallMarks | None) -> Frame:
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
        return Frame(opening, gaps, reasoning, learn_content(gaps, reasoning, opening.header, opener))

    def _shows_calls(self) -> bool:
        return any(sample.bodies for sample in self.samples)

    # -- looking -------------------------------------------------------------------------------------------

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
        yield from _shown(
            asked.turn("calls/two-result", index=1), asked.turn("calls/one-answered", OFF, index=3)
        )
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
        leads = [gaps_of(sample)[0].text for sample in self.samples if sample.turn.after_user]
        if not user_end.strip():
            user_end = self._end_in_history(leads) or user_end
        return learn_opening(leads, user_end, [printed[0].text])

    def _end_in_history(self, leads: Sequence[str]) -> str:
        """What ends a question that is not the last message, where the last is not ended: what stands between
        an answer and the start of the next question, if that stands behind questions, too."""
        seen = self.asked.footing.look("roles/user-assistant-user")
        first, answer, second = (bounds(seen, f"/messages/{index}/content") for index in range(3))
        if first is None or answer is None or second is None:
            return ""
        end = without_start(seen.text[answer[1] : second[0]], seen.text[: first[0]])
        return end if end.strip() and leads and all(lead.startswith(end) for lead in leads) else ""

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

    # -- learning ------------------------------------------------------------------------------------------

    def _call_marks(self, frame: Frame) -> CallMarks | None:
        with_calls = shapes.alike([sample for sample in self.samples if sample.bodies])
        if not with_calls:
            return None
        closers = [frame.content.end, frame.reasoning.end if frame.reasoning else ""]
        between = message_ends(frame.gaps, frame.opening, "")
        ends = end_marks(frame.content.tails, frame.opening, closers, between)
        return learn_call_marks(with_calls, frame.opening, ends, closers)

    def _assembled(
        self, frame: Frame, printed: Sequence[Printed], calls: CallMarks | None, members: MemberMarks | None
    ) -> OutputFormat:
        header = frame.opening.header
        tool_calls = self._tool_calls(calls, members)
        reasoning = shapes.reasoning_part(frame, [tail_of(one.text, header) for one in printed], tool_calls)
        self.grounds["reasoning"] = shapes.reasoning_ground(frame, reasoning)
        self.grounds["content"] = shapes.content_ground(frame)
        self.grounds["generation_prompt"] = Ground(evidence=tuple(one.case for one in printed))
        ends, between = self._ends(frame, calls)
        return OutputFormat(
            header=to_pattern(header),
            header_end=to_pattern(shapes.frame_mark(frame, calls, tool_calls)),
            generation_prompt=generation_prompt(printed, header, reasoning.every if reasoning else ()),
            reasoning=reasoning,
            content=Content(
                to_pattern(frame.content.start), to_pattern(frame.content.end), frame.content.alternatives
            ),
            tool_calls=tool_calls,
            end_of_turn=tuple(map(to_pattern, ends)),
            end_of_message=tuple(map(to_pattern, between)),
            order=shapes.order_of(self.samples),
            exclusive=shapes.exclusive_of(self.samples),
            grounds=self.grounds,
        )

    def _ends(self, frame: Frame, calls: CallMarks | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Marks that end turns, and those that end messages inside one."""
        closer = calls.call_end + calls.section_end if calls else ""
        behind = [gap for gap in frame.gaps if gap.before is Kind.CALLS and gap.after is Kind.END]
        if (
            calls
            and calls.message_end is not None
            and any(gap.text.strip() == closer.strip() for gap in behind)
        ):
            closer = (
                ""  # nothing but a call's own end stands behind the last one: there the turn is handed over
            )
        tails = [*frame.content.tails, *((gap, gap.text.removeprefix(closer)) for gap in behind)]
        known = [frame.content.end, *((calls.call_end, calls.section_end) if calls else ())]
        known += [frame.reasoning.end] if frame.reasoning else []
        between_calls = (calls.message_end if calls else None) or ""
        thought = frame.reasoning.start if frame.reasoning else ""
        between = message_ends(frame.gaps, frame.opening, between_calls, thought)
        ends = end_marks(tails, frame.opening, known, between)
        cases = tuple(dict.fromkeys(gap.case for gap, _ in tails))
        note = "" if ends else "nothing that a model could write stands behind a turn"
        self.grounds["end_of_turn"] = Ground(Confidence.HIGH if ends else Confidence.NONE, cases, note)
        return ends, tuple(mark for mark in between if mark not in ends)

    def _tool_calls(self, marks: CallMarks | None, members: MemberMarks | None) -> ToolCalls | None:
        if marks is None:
            self.grounds["tool_calls"] = Ground(Confidence.NONE, (), "no call was shown")
            return None
        body = shapes.usual([body for sample in self.samples for body in sample.bodies])
        notation = self._notation(members) if members else None
        ground = shapes.calls_ground(self.samples, marks)
        try:
            if body is None or (body.keyed and notation is None):
                raise UsageError("calls are shown, but not how arguments are written")
            made = shapes.tool_calls(marks, body, notation)
        except UsageError as error:
            self.grounds["tool_calls"] = Ground(Confidence.NONE, ground.evidence, error.message)
            return None
        self.grounds["tool_calls"] = ground
        if notation and body.keyed:
            self.grounds["tool_calls.values"] = shapes.values_ground(notation)
        return made

    def _notation(self, members: MemberMarks) -> Notation | None:
        """How values of all types are written, from the calls at hand and two more with every type in."""
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
