"""The machine: a model's text in, events out, one decision at a time.

Theory of operation
-------------------
The text is read once, from left to right. At any moment the machine is either in *prose* (reasoning or
content) or inside a call. Prose ends at a mark; `turns.py` lists the marks of a format and what each means,
and the two kinds of prose differ only in which of them matter. That is the whole grammar:

    turn = prose { mark prose }
    mark = reasoning begins | reasoning ends | content begins | content ends | a call
         | end of turn | end of message | header | stray

There is no parse tree and no second attempt at the message: what is said is an event, and events are final.
So whole and streamed text give the same only if every decision rests on text that must be seen before it can
be made. The rules that see to that:

Rule 1. Text is said as soon as it cannot be part of a mark. Whitespace at its end waits, since it belongs to
    a mark if one follows (`BLANKS` at most), and so does an end that a mark could begin with.

Rule 2. Of the marks that fit at a place the longest counts; while a longer one may come, it is waited for.

Rule 3. A call is tried where its opener stands, and nothing is said before its name is certain (`calls.py`).
    Failing that, the opener was prose, and the text after it is looked at again. What must be remembered for
    this is short: an opener, a name; in the worst case arguments that came before the name.

Rule 4. After its start a call stays a call. Where it breaks off, prose goes on.

Rule 5. In reasoning only a call of a declared tool ends it, and none that is *mentioned*: a mark in the
    middle of a sentence, or quoted, is spoken about, not used. The same rule keeps an opener that content
    speaks about from opening anything.

Rule 6. Marks that close nothing are dropped where they stand beside another mark or at an end, since models
    write one closer too many. Between words they are words. Nothing else is dropped.

Rule 7. The prompt needs no rule. Its end, from the header on, is read like text: what it opens is open.

How it runs. Readers are generators that yield when they need more text (`stream.py`), so a state of the
machine is a line of code, not a constant. Between chunks the reader at work may leave a short way in
`stream.quiet`: it deals with chunks that settle nothing (no mark begins in them, or one goes on), which are
most. What short chunks amount to there is remembered and looked up (`known.py`). All ways make the same
events. To wake the readers costs as much as many chunks of the short way, so they are woken seldom: from
value to value, and from call to call, a model writes what its template writes, and as long as that is what
comes, it is waited for (`seams.py`). Nothing is to be said in the meantime but the end of a value, and that
is said with the next key. From one raw value to the next, and from a name to the arguments, not even that
wakes the readers (`raws.py`, `literals.py`). A seam decides nothing: what has come is read by the same rules,
at the end of the text too.
"""

from __future__ import annotations

from chatlint.parse import guesses
from chatlint.parse.calls import CallReader
from chatlint.parse.events import Event, Scribe
from chatlint.parse.formats import OutputFormat
from chatlint.parse.known import NOTHING
from chatlint.parse.markers import MORE, Found, MarkerSet, begun
from chatlint.parse.plans import Entry, Plan
from chatlint.parse.prompts import opening
from chatlint.parse.prose import Prose
from chatlint.parse.schemas import Tools
from chatlint.parse.stream import BLANKS, Reading, Stream, blank
from chatlint.parse.turns import Frame, Kind, Mark, Turn, turn_of, words_of

_EXACT = (Kind.END_OF_TURN, Kind.END_OF_MESSAGE, Kind.HEADER)
"""Marks whose left edge is as the format has it: whitespace before them is the content's."""
_BEFORE_HEADERS = (Kind.HEADER, Kind.END_OF_MESSAGE, Kind.REASONING_END)
_CLOSING = (Kind.END_OF_TURN, Kind.END_OF_MESSAGE, Kind.REASONING_END, Kind.CONTENT_END)
_CUT = 3
"""So much of a cut mark must be there to tell it from content."""
_HEADER = 300
"""Longest header of a message, in characters."""


class Machine:
    """One turn being read."""

    def __init__(self, output: OutputFormat, tools: Tools, generation_prompt: str, reasoning: bool) -> None:
        self._turn: Turn = turn_of(output)
        self.stream = Stream(self.advance)
        self._scribe = Scribe()
        self._prose = Prose(self.stream, self._scribe, apart=reasoning, marked=self._turn.marked)
        self._tools = tools
        self.guessed = False
        self._reasoning_guessed = output.reasoning is not None and output.reasoning.guess
        self.cut = False
        self._guesses_reasoning = output.reasoning is None and reasoning
        self._guesses_calls = output.tool_calls is None and bool(tools.names)
        if self._guesses_calls:
            self._turn = guesses.with_calls(self._turn, output, tools)
        start, self._prose.in_reasoning = opening(output, generation_prompt)
        self.stream.push(start)
        self._reading = self._read()
        self._done = False

    # Driving

    def advance(self, chunk: str) -> list[Event]:
        """Takes a chunk as far as it goes."""
        stream = self.stream
        stream.quiet = None
        stream.known, stream.left = NOTHING, stream.known
        stream.push(chunk)
        if not self._done:
            try:
                next(self._reading)
            except StopIteration:
                self._done = True
        return self._scribe.take()

    def finish(self) -> list[Event]:
        """Takes what was waited with."""
        self.stream.patient = False
        events = self.advance("")
        self.stream.final = True
        events += self.advance("")
        self.stream.rest()
        return events

    def _read(self) -> Reading[None]:
        """The turn: prose and marks."""
        if self._turn.frame:
            yield from self._words(self._turn.frame)
        elif self._guesses_reasoning:
            yield from self._guess_reasoning()
        yield from self._named_call()
        while (found := (yield from self._next_mark())) is not None:
            yield from self._at(found)

    # Prose

    @property
    def _marks(self) -> MarkerSet[Mark]:
        """The marks that matter in the prose at hand."""
        return self._turn.reasoning if self._prose.in_reasoning else self._turn.content

    def _next_mark(self) -> Reading[Found[Mark] | None]:
        """Says text up to the next mark that matters; what is right before the mark is left to the mark. None
        at the end."""
        stream = self.stream
        while True:
            found = self._marks.find(stream.text, stream.at, stream.final)
            if isinstance(found, Found):
                return found
            if stream.final:
                self._say_last()
                return None
            if self._guesses_calls:
                found = guesses.held_from(stream.text, stream.at, found)
            said = stream.text[stream.at : found].rstrip()
            excess = found - stream.at - len(said) - BLANKS
            if excess > 0:
                said = stream.text[stream.at : stream.at + len(said) + excess]
            self._prose.say(said)
            stream.at += len(said)
            held = found - stream.at
            stream.trim()
            if self._prose.fresh and not self._guesses_calls:
                stream.quiet = self._marks.waiting(stream, held)
            elif not self._guesses_calls:
                self._prose.pause(self._marks)
            yield
            stream.quiet = None

    def _say_last(self) -> None:
        """The rest of the text. A closing mark may be cut off by the end: stop tokens are not output."""
        stream, marks, prose = self.stream, self._marks, self._prose
        start = marks.find(stream.text, stream.at, False)
        if isinstance(start, int) and start < len(stream.text):
            alone = prose.fresh and not stream.text[stream.at : start].strip()
            kinds = (*_CLOSING, Kind.STRAY) if alone else _CLOSING
            closers = (mark for mark, what in marks.entries if what.kind in kinds)
            enough = prose.in_reasoning or alone or len(stream.text) - start >= _CUT
            if enough and (prose.apart or not prose.in_reasoning) and begun(closers, stream.text, start):
                stream.text = stream.text[:start].rstrip()
        rest = stream.text[stream.at :]
        prose.say(rest if prose.in_reasoning else rest.removesuffix(self._turn.trail))
        stream.at = len(stream.text)

    # Marks

    def _at(self, found: Found[Mark]) -> Reading[None]:
        """What a mark does."""
        kind, prose = found.what.kind, self._prose
        if kind is Kind.CALL:
            yield from self._call(found)
        elif self._closes_nothing(kind):
            yield from self._stray(found)
        elif kind is Kind.REASONING and prose.in_reasoning and prose.apart and self._first(found):
            self.stream.at = found.end  # written twice: by the prompt and by the model
        elif kind in (Kind.REASONING, Kind.CONTENT) and not self._opens(found):
            self._as_text(found)
        else:
            mark = self._pass(found)
            prose.in_reasoning = kind is Kind.REASONING
            self.guessed = self.guessed or (prose.in_reasoning and self._reasoning_guessed)
            prose.wrapped = kind is Kind.CONTENT
            if kind is Kind.END_OF_TURN:
                self._scribe.end_of_turn(mark)
            if self._turn.frame and kind in _BEFORE_HEADERS:
                yield from self._words(self._turn.frame)
            if kind is Kind.HEADER:
                yield from self._named_call()

    def _first(self, found: Found[Mark]) -> bool:
        """Whether nothing but whitespace stands between this mark and the last."""
        return self._prose.fresh and not self.stream.text[self.stream.at : found.start].strip()

    def _closes_nothing(self, kind: Kind) -> bool:
        """Whether a mark has nothing to close here."""
        if kind is Kind.CONTENT_END:
            return not self._prose.wrapped
        return kind is Kind.STRAY or (kind is Kind.REASONING_END and not self._prose.in_reasoning)

    def _opens(self, found: Found[Mark]) -> bool:
        """Whether an opener opens (rule 5); reasoning is not opened inside reasoning."""
        inside = found.what.kind is Kind.REASONING and self._prose.in_reasoning
        return not inside and not self._mentioned(found.start)

    def _mentioned(self, start: int) -> bool:
        return self._prose.mentions(self.stream.text[self.stream.at : start])

    def _pass(self, found: Found[Mark]) -> str:
        """Says the text before a mark and uses the mark up; returns it as it stood there."""
        stream, prose, kind = self.stream, self._prose, found.what.kind
        before, mark = stream.text[stream.at : found.start], stream.text[found.start : found.end]
        stream.at = found.end
        if not prose.apart and kind in (Kind.REASONING, Kind.REASONING_END):
            prose.say(before + mark)
            prose.marked = False
            return mark
        lead = found.what.marker.lead or ("" if prose.in_reasoning else self._turn.trail)
        if kind not in _EXACT:
            before = before.rstrip()
        else:
            before = before.removesuffix(lead)
        prose.say(before)
        prose.after_mark()
        return mark

    def _as_text(self, found: Found[Mark]) -> None:
        """The mark is no mark here; what may be one begins after its first atom."""
        stop = found.start + len(found.what.marker.first)
        self._prose.say(self.stream.text[self.stream.at : stop])
        self.stream.at = stop

    # Marks that must wait. Their places count from where the stream is, and there it stays in the meantime.

    def _wait_at(self, found: Found[Mark]) -> Found[Mark]:
        """Says the text before a mark, but for what would belong to it."""
        stream = self.stream
        said = stream.text[stream.at : self._held(found)].rstrip()
        self._prose.say(said)
        stream.at += len(said)
        return found._replace(start=found.start - stream.at, end=found.end - stream.at)

    def _held(self, found: Found[Mark]) -> int:
        """Where what belongs to a mark begins: with a guessed call, the tag before it."""
        plan = found.what.plan
        if plan and plan.loose:
            return guesses.before(self.stream.text, self.stream.at, found.start)
        return found.start

    def _waited_as_text(self, found: Found[Mark]) -> None:
        at = self.stream.at
        self._as_text(found._replace(start=at + found.start, end=at + found.end))

    def _beside_mark(self, found: Found[Mark], *, or_end: bool) -> Reading[bool]:
        """Whether another mark follows, past whitespace, or else the end of the text."""
        stream = self.stream
        while True:
            at = blank(stream.text, stream.at + found.end).end()  # type: ignore[union-attr]
            if at == len(stream.text) and stream.final:
                return or_end
            following = self._marks.match(stream.text, at) if at < len(stream.text) else MORE
            if following != MORE or stream.final:
                return isinstance(following, Found)
            yield

    def _stray(self, found: Found[Mark]) -> Reading[None]:
        """A mark that closes nothing (rule 6)."""
        if self._first(found):
            self._pass(found)
        elif self._prose.literal or self._mentioned(found.start):
            self._as_text(found)
        else:
            found = self._wait_at(found)
            if (yield from self._beside_mark(found, or_end=True)):
                self.stream.at += found.end
                self._prose.after_mark()
            else:
                self._waited_as_text(found)

    def _call(self, found: Found[Mark]) -> Reading[None]:
        """A call, if it reads as one (rules 3 to 5)."""
        mark, plan, entry = found.what, found.what.plan, found.what.entry
        mentioned = self._mentioned(self._held(found))
        if plan is None or entry is None or (mentioned and (self._prose.in_reasoning or plan.loose)):
            self._as_text(found)
            return
        found = self._wait_at(found)
        if plan.loose and not self._guessable(found):
            self._waited_as_text(found)
            return
        if (yield from self._read_call(plan, entry, found.end if entry.passed else found.start)):
            return
        if mark.marker.strong and not mentioned and (yield from self._beside_mark(found, or_end=False)):
            self.stream.at += found.end
        else:
            self._waited_as_text(found)
            self._prose.literal = True

    def _read_call(self, plan: Plan, entry: Entry, offset: int, name: str = "") -> Reading[bool]:
        """Reads calls, some characters on; if there is none, the stream is where it was."""
        stream, prose = self.stream, self._prose
        stream.keep()
        stream.at += offset
        reader = CallReader(plan, stream, self._scribe, self._tools)
        if not (yield from reader.read(entry, declared=prose.in_reasoning, name=name)):
            stream.rewind()
            return False
        self.cut = self.cut or reader.cut
        self.guessed = self.guessed or plan.guess
        prose.in_reasoning = prose.wrapped = False
        prose.after_mark()
        if plan.loose:
            yield from self._guess_closer()
        return True

    def _named_call(self) -> Reading[None]:
        """A call that begins with a declared tool's name right behind a header, if the format has such."""
        if self._turn.named and self._prose.fresh:
            yield from self._read_call(self._turn.named, Entry(0, weak=True), 0)

    # Guesses

    def _guess_reasoning(self) -> Reading[None]:
        """A tag that names reasoning, at the start of a turn whose format has none."""
        stream = self.stream
        while guesses.may_be_tag(stream.text) and not stream.final:
            yield
        tag = guesses.reasoning_tag(stream.text)
        if tag:
            stream.at, opener = tag
            self._turn = guesses.with_reasoning(self._turn, opener)
            self._prose.in_reasoning = self._prose.marked = self.guessed = True

    def _guessable(self, found: Found[Mark]) -> bool:
        """Whether a guessed call may begin here: it does not go on a word, and a tag, a bracket or nothing
        stands before it; an object may also begin a line."""
        before = self.stream.text[self.stream.at : self.stream.at + found.start]
        if before.strip() or self._prose.fresh:
            return not before[-1:].isalnum() and before[-1:] not in ("_", ".")
        return found.what.marker.first == "{" and "\n" in before

    def _guess_closer(self) -> Reading[None]:
        """Whatever tag closes a guessed call."""
        stream = self.stream
        while guesses.may_close(stream.text, stream.at) and not stream.final:
            yield
        stream.at = guesses.closing(stream.text, stream.at)

    # Headers

    def _words(self, frame: Frame) -> Reading[None]:
        """The words of a message's header, which say what its body is."""
        stream, prose = self.stream, self._prose
        while True:
            text = stream.text[stream.at : stream.at + _HEADER]
            found = frame.end.find(text, 0, stream.final)
            if not frame.begins(text.lstrip()):
                return
            if isinstance(found, Found):
                break
            if stream.final or len(text) == _HEADER:
                return
            yield
        words = text[: found.start]
        stream.at += found.end
        prose.in_reasoning = False
        prose.after_mark()
        said = words_of(words)
        if said not in (*frame.reasoning, *frame.content) and (yield from self._addressed(frame, words)):
            return
        thinks = any(part and part <= said for part in frame.reasoning)
        prose.in_reasoning = thinks and said not in frame.content

    def _addressed(self, frame: Frame, words: str) -> Reading[bool]:
        """The call of a message whose header names a tool; False if it names none, or the body is no call."""
        recipient = frame.recipient
        named = recipient.pattern.search(words) if recipient else None
        if recipient is None or named is None or (recipient.declared and named[1] not in self._tools):
            return False
        return (yield from self._read_call(recipient.plan, recipient.entry, 0, named[1]))
