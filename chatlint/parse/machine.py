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
`stream.quiet`: it deals with a chunk in which nothing can matter (no character that begins a mark), which is
most of them. Both ways make the same events.
"""

from __future__ import annotations

from chatlint.parse import guesses
from chatlint.parse.calls import CallReader
from chatlint.parse.events import ContentDelta, Event, ReasoningDelta, Scribe
from chatlint.parse.formats import OutputFormat
from chatlint.parse.markers import MORE, Found
from chatlint.parse.plans import Entry, Plan
from chatlint.parse.prompts import opening
from chatlint.parse.schemas import Tools
from chatlint.parse.stream import BLANKS, Reading, Stream, blank
from chatlint.parse.turns import Frame, Kind, Mark, Turn, turn_of, words_of

_EXACT = (Kind.END_OF_TURN, Kind.END_OF_MESSAGE, Kind.HEADER)
"""Marks whose left edge is as the format has it: whitespace before them is the content's."""
_BEFORE_HEADERS = (Kind.HEADER, Kind.END_OF_MESSAGE, Kind.REASONING_END)
_HEADER = 300
"""Longest header of a message, in characters."""
_SENTENCE_ENDS = frozenset(".!?:;…。！？：；)]}>\"'`*»”’")
_OPENING_QUOTES = frozenset("`“‘«([{")


class Machine:
    """One turn being read."""

    def __init__(self, output: OutputFormat, tools: Tools, generation_prompt: str, reasoning: bool) -> None:
        self.stream = Stream()
        self._scribe = Scribe()
        self._tools = tools
        self._turn: Turn = turn_of(output)
        self._apart = reasoning
        """Whether reasoning is set apart; else it is said as content, its marks too."""
        self._in_reasoning = False
        self._wrapped = False
        """Whether content was opened by a mark."""
        self._fresh = True
        """Whether nothing was said since the last mark."""
        self._marked = any(part.start and not part.start.strip() for part in output.content.every)
        """Whether there was a mark: then whitespace before the first word belongs to it. Where content begins
        with nothing but whitespace, that is such a mark."""
        self._last = ""
        """The end of what was said since the last mark."""
        self.guessed = False
        self.cut = False
        self._guesses_reasoning = output.reasoning is None and reasoning
        self._guesses_calls = output.tool_calls is None and bool(tools.names)
        if self._guesses_calls:
            self._turn = guesses.with_calls(self._turn, output, tools)
        start, known_open = opening(output, generation_prompt)
        self._in_reasoning = known_open
        self.stream.push(start)
        self._reading = self._read()
        self._done = False

    # Driving

    def advance(self, chunk: str) -> list[Event]:
        """Takes a chunk as far as it goes."""
        stream = self.stream
        stream.quiet = None
        stream.push(chunk)
        if not self._done:
            try:
                next(self._reading)
            except StopIteration:
                self._done = True
        return self._scribe.take()

    def finish(self) -> list[Event]:
        """Takes what was waited with."""
        self.stream.final = True
        return self.advance("")

    def _read(self) -> Reading[None]:
        """The turn."""
        if self._turn.frame:
            yield from self._words(self._turn.frame)
        elif self._guesses_reasoning:
            yield from self._guess_reasoning()
        while (found := (yield from self._prose())) is not None:
            yield from self._at(found)

    # Prose

    def _prose(self) -> Reading[Found[Mark] | None]:
        """Says text up to the next mark that matters; what is right before the mark is left to the mark. None
        at the end."""
        stream = self.stream
        while True:
            marks = self._turn.reasoning if self._in_reasoning else self._turn.content
            found = marks.find(stream.text, stream.at, stream.final)
            if isinstance(found, Found):
                return found
            if stream.final:
                self._say(stream.text[stream.at :])
                stream.at = len(stream.text)
                return None
            if self._guesses_calls:
                found = guesses.held_from(stream.text, stream.at, found)
            said = stream.text[stream.at : found].rstrip()
            excess = found - stream.at - len(said) - BLANKS
            if excess > 0:
                said = stream.text[stream.at : stream.at + len(said) + excess]
            self._say(said)
            stream.text = stream.text[stream.at + len(said) :]
            stream.at = 0
            if not self._fresh and not self._guesses_calls:
                stream.quiet = self._hush
            yield
            stream.quiet = None

    def _hush(self, chunk: str) -> list[Event] | None:
        """The short way through prose: no character of the chunk, nor of what waits, begins a mark."""
        stream = self.stream
        text = stream.text + chunk
        in_reasoning = self._in_reasoning
        if (self._turn.reasoning if in_reasoning else self._turn.content).alarm(text):
            return None
        said = text.rstrip()
        waits = len(text) - len(said)
        if not said or waits > BLANKS:
            return None
        stream.text = text[len(said) :] if waits else ""
        self._last = said
        return [ReasoningDelta(said) if in_reasoning and self._apart else ContentDelta(said)]

    def _say(self, text: str) -> None:
        """Text of the prose at hand. Whitespace after a mark is the mark's."""
        if self._fresh and self._marked:
            text = text.lstrip()
        if not text:
            return
        self._fresh = False
        self._last = text
        if self._in_reasoning and self._apart:
            self._scribe.reasoning(text)
        else:
            self._scribe.content(text)

    def _mentioned(self, start: int) -> bool:
        """Whether the text is in the middle of a sentence, or opens a quotation, before a mark (rule 5)."""
        text = self._last[-80:] + self.stream.text[self.stream.at : start]
        if self._fresh and not self.stream.text[self.stream.at : start].strip():
            return False
        if text[-1:] in _OPENING_QUOTES or (text[-1:] in "\"'" and text[-2:-1].isspace()):
            return True
        words = text.rstrip()
        gap = text[len(words) :]
        return bool(gap) and "\n" not in gap and words[-1:] not in _SENTENCE_ENDS

    # Marks

    def _at(self, found: Found[Mark]) -> Reading[None]:
        """What a mark does."""
        kind = found.what.kind
        if kind is Kind.CALL:
            yield from self._call(found)
        elif self._closes_nothing(kind):
            yield from self._stray(found)
        elif kind is Kind.REASONING and self._in_reasoning and self._fresh and self._apart:
            self.stream.at = found.end
        elif kind in (Kind.REASONING, Kind.CONTENT) and (self._mentioned(found.start) or self._again(kind)):
            self._as_text(found)
        else:
            mark = self._pass(found)
            self._in_reasoning = kind is Kind.REASONING
            self._wrapped = kind is Kind.CONTENT
            if kind is Kind.END_OF_TURN:
                self._scribe.end_of_turn(mark)
            if self._turn.frame and kind in _BEFORE_HEADERS:
                yield from self._words(self._turn.frame)

    def _closes_nothing(self, kind: Kind) -> bool:
        """Whether a mark has nothing to close here."""
        if kind is Kind.CONTENT_END:
            return not self._wrapped
        return kind is Kind.STRAY or (kind is Kind.REASONING_END and not self._in_reasoning)

    def _again(self, kind: Kind) -> bool:
        """Whether reasoning is opened inside reasoning."""
        return kind is Kind.REASONING and self._in_reasoning

    def _pass(self, found: Found[Mark]) -> str:
        """Says the text before a mark and uses the mark up; returns it as it stood there."""
        stream, kind = self.stream, found.what.kind
        before, mark = stream.text[stream.at : found.start], stream.text[found.start : found.end]
        stream.at = found.end
        if not self._apart and kind in (Kind.REASONING, Kind.REASONING_END):
            self._say(before + mark)
            self._marked = False
            return mark
        lead = found.what.marker.lead
        if kind not in _EXACT:
            before = before.rstrip()
        elif lead and before.endswith(lead):
            before = before[: -len(lead)]
        self._say(before)
        self._fresh = self._marked = True
        return mark

    def _as_text(self, found: Found[Mark]) -> None:
        """The mark is no mark here; what may be one begins after its first atom."""
        stop = found.start + len(found.what.marker.first)
        self._say(self.stream.text[self.stream.at : stop])
        self.stream.at = stop

    def _held(self, found: Found[Mark]) -> int:
        """Where what belongs to a mark begins: with a guessed call, the tag before it."""
        plan = found.what.plan
        if plan and plan.guess:
            return guesses.before(self.stream.text, self.stream.at, found.start)
        return found.start

    def _wait_at(self, found: Found[Mark]) -> Found[Mark]:
        """Says the text before a mark, but for what would belong to it, which waits with it. Returns the mark
        where it is from now on."""
        stream = self.stream
        said = stream.text[stream.at : self._held(found)].rstrip()
        self._say(said)
        used = stream.at + len(said)
        stream.text = stream.text[used:]
        stream.at = 0
        return found._replace(start=found.start - used, end=found.end - used)

    def _stray(self, found: Found[Mark]) -> Reading[None]:
        """A mark that closes nothing (rule 6)."""
        if self._fresh and not self.stream.text[self.stream.at : found.start].strip():
            self._pass(found)
        elif self._mentioned(found.start):
            self._as_text(found)
        else:
            found = self._wait_at(found)
            if (yield from self._beside_mark(found.end, or_end=True)):
                self.stream.at = found.end
                self._fresh = self._marked = True
            else:
                self._as_text(found)

    def _beside_mark(self, end: int, *, or_end: bool) -> Reading[bool]:
        """Whether another mark follows, past whitespace, or else the end of the text."""
        stream = self.stream
        marks = self._turn.reasoning if self._in_reasoning else self._turn.content
        while True:
            at = blank(stream.text, end).end()  # type: ignore[union-attr]
            if at == len(stream.text) and stream.final:
                return or_end
            found = marks.match(stream.text, at) if at < len(stream.text) else MORE
            if found != MORE or stream.final:
                return isinstance(found, Found)
            yield

    def _call(self, found: Found[Mark]) -> Reading[None]:
        """A call, if it reads as one (rules 3 to 5)."""
        stream, mark = self.stream, found.what
        plan, entry = mark.plan, mark.entry
        mentioned = self._mentioned(self._held(found))
        if plan is None or entry is None or (mentioned and (self._in_reasoning or plan.guess)):
            self._as_text(found)
            return
        found = self._wait_at(found)
        if plan.guess and not self._guessable(found):
            self._as_text(found)
            return
        stream.keep()
        if (yield from self._read_call(plan, entry, found.end if entry.passed else found.start)):
            return
        if mark.marker.strong and not mentioned and (yield from self._beside_mark(found.end, or_end=False)):
            stream.at = found.end
        else:
            self._as_text(found)

    def _read_call(self, plan: Plan, entry: Entry, at: int, name: str = "") -> Reading[bool]:
        """Reads calls from a place on; if there is none, the stream is where it was."""
        stream = self.stream
        stream.at = at
        reader = CallReader(plan, stream, self._scribe, self._tools)
        if not (yield from reader.read(entry, declared=self._in_reasoning, name=name)):
            stream.rewind()
            return False
        self.cut = self.cut or reader.cut
        self.guessed = self.guessed or plan.guess
        self._in_reasoning = self._wrapped = False
        self._fresh = self._marked = True
        self._last = ""
        if plan.guess:
            yield from self._guess_closer()
        return True

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
            self._in_reasoning = self._marked = self.guessed = True

    def _guessable(self, found: Found[Mark]) -> bool:
        """Whether a guessed call may begin here: it does not go on a word, and a tag, a bracket or nothing
        stands before it; an object may also begin a line."""
        before = self.stream.text[self.stream.at : found.start]
        if before.strip() or self._fresh:
            return not before[-1:].isalnum() and before[-1:] not in ("_", ".")
        return found.what.marker.first == "{" and "\n" in before

    def _guess_closer(self) -> Reading[None]:
        """Whatever tag closes a guessed call."""
        stream = self.stream
        while guesses.may_close(stream.text[stream.at :]) and not stream.final:
            yield
        stream.at = guesses.closing(stream.text, stream.at)

    # Headers

    def _words(self, frame: Frame) -> Reading[None]:
        """The words of a message's header, which say what its body is."""
        stream = self.stream
        while True:
            text = stream.text[stream.at :]
            found = frame.end.find(text, 0, stream.final)
            if not _begins(text.lstrip(), frame) or len(text) > _HEADER + BLANKS:
                return
            if isinstance(found, Found):
                break
            if stream.final:
                return
            yield
        words = text[: found.start]
        stream.at += found.end
        self._in_reasoning = False
        self._fresh = self._marked = True
        said = words_of(words)
        if said not in (*frame.reasoning, *frame.content) and (yield from self._addressed(frame, words)):
            return
        self._in_reasoning = said not in frame.content and any(
            part and part <= said for part in frame.reasoning
        )

    def _addressed(self, frame: Frame, words: str) -> Reading[bool]:
        """The call of a message whose header names a tool; False if it names none, or the body is no call."""
        recipient = frame.recipient
        named = recipient.pattern.search(words) if recipient else None
        if recipient is None or named is None or (recipient.declared and named[1] not in self._tools):
            return False
        self.stream.keep()
        at = self.stream.at
        return (yield from self._read_call(recipient.plan, recipient.entry, at, named[1]))


def _begins(text: str, frame: Frame) -> bool:
    """Whether text begins, or may come to begin, as a header does."""
    return any(text.startswith(start) or start.startswith(text) for start in frame.starts)
