"""Tool calls, read as they come.

A call is held until its name is certain; then it is said, and from there on it stays a call, whatever
follows. Before that nothing has been said, and the stream can go back to where the call seemed to begin.
"""

from __future__ import annotations

import re

from chatlint.lazy import regex
from chatlint.parse.events import Scribe
from chatlint.parse.literals import container
from chatlint.parse.markers import MORE, Marker, begun, beyond_name, in_name, is_strong, look, name_run, take
from chatlint.parse.members import MemberReader
from chatlint.parse.objects import ObjectReader, wrapped
from chatlint.parse.patterns import COUNTER, NAME, Slot
from chatlint.parse.plans import Entry, Plan
from chatlint.parse.schemas import Tools
from chatlint.parse.stream import Reading, Stream

_NAME = 256
"""Longest name, in characters."""
_digits = re.compile(r"\d+").findall
_COUNT = regex(r"[.:]?\d+\Z|[:#]\w*\Z")


class CallReader:
    """Reads the calls of one turn."""

    def __init__(self, plan: Plan, stream: Stream, scribe: Scribe, tools: Tools) -> None:
        self._plan = plan
        self._stream = stream
        self._scribe = scribe
        self._tools = tools
        self._members = MemberReader(stream, scribe.arguments)
        self._odd = [name for name in tools.names if not _is_run(name)]
        """Declared names that do not look like one."""
        self._name = ""
        self._id = ""
        self._started = False
        self._weak = False
        """Whether the call at hand began with a mark that prose may hold."""
        self._listed = False
        """Whether the calls stand in a list of their own."""
        self.cut = False
        """Whether the text ended inside a call's arguments."""

    def read(self, entry: Entry, *, declared: bool, name: str = "") -> Reading[bool]:
        """The call that begins here, and all that follow it directly. False if there is none; `stream.rewind`
        then goes back. `declared`: only a declared tool counts. `name`: the tool's, if it was read before."""
        if not (yield from self._call(entry, declared, name)):
            return False
        while following := (yield from self._another()):
            if not (yield from self._call(following, following.weak)):
                self._stream.rewind()
                break
        return True

    # One call

    def _call(self, entry: Entry, declared: bool, name: str = "") -> Reading[bool]:
        """One call from a step on. False if it was none."""
        self._name, self._id, self._weak = name, "", entry.weak
        self._started = False
        declared = declared or entry.weak
        step = entry.step if entry.weak or name or self._odd else self._pass_name(entry.step)
        mark = ""
        while step < len(self._plan.steps):
            kind = self._plan.steps[step]
            if isinstance(kind, Marker):
                after = yield from take(self._stream, self._plan.ways_on[step])
                if after is None and (self._name or self._id):
                    return (yield from self._without_mark(declared))
                if after is None and step:
                    return False
                mark = self._stream.taken if after else mark
                step = after or step + 1
                if after and self._certain(step):
                    self._complete_id(mark)
                    self._start()
                continue
            if kind is Slot.ARGUMENTS:
                self._complete_id(mark)
                return (yield from self._body(declared))
            text = yield from self._run(step)
            if not text:
                return False
            if kind is Slot.NAME:
                self._name = self._name or text
            else:
                self._id = text
            step += 1
        return False

    def _pass_name(self, step: int) -> int:
        """Passes the name of a declared tool and the mark behind it, if they stand at this step as usual; the
        step where to go on."""
        stream, usual = self._stream, self._plan.naming
        found = usual[1].match(stream.text, stream.at) if usual and usual[0] == step else None
        if usual is None or found is None or found[1] not in self._tools:
            return step
        self._name = found[1]
        stream.at = found.end()
        self._start()
        return usual[2]

    def _certain(self, step: int) -> bool:
        """Whether a declared tool is called for certain, and only its arguments are missing."""
        steps = self._plan.steps
        last = step < len(steps) and steps[step] is Slot.ARGUMENTS and not self._plan.skeleton
        return last and not self._weak and self._named() and self._name in self._tools

    def _named(self) -> bool:
        """Finds the name in the id, where it has no place of its own."""
        if not self._name and self._id and Slot.NAME not in self._plan.steps:
            self._name = self._name_in(self._id)
        return bool(self._name)

    def _complete_id(self, mark: str) -> None:
        """An id that the template composes, from what was read; a counter stands in the mark before."""
        if self._plan.id_pattern and not self._id and Slot.ID not in self._plan.steps and self._name:
            counter = "".join(_digits(mark)[-1:])
            self._id = self._plan.id_pattern.replace(NAME, self._name).replace(COUNTER, counter)

    def _name_in(self, identity: str) -> str:
        """The tool's name inside an id."""
        match = self._plan.identity.fullmatch(identity) if self._plan.identity else None
        if match and match[1] in self._tools:
            return match[1]
        declared = next((name for name in self._tools.names if name in identity), "")
        return declared or (match[1] if match else _COUNT.sub("", identity).rpartition(".")[2] or identity)

    def _run(self, step: int) -> Reading[str]:
        """The text of a name or an id, up to what follows it; "" if there is none."""
        stream, steps = self._stream, self._plan.steps
        following = steps[step + 1] if step + 1 < len(steps) else None
        while True:
            if not stream.solid():
                yield from stream.skip_blank()
            odd = self._odd_name() if self._odd else ""
            run = name_run(stream.text, stream.at)
            if odd is None and run is None:
                return ""
            end = stream.at + len(odd) if odd else run.end() if run else stream.at
            if odd is not None and (end < len(stream.text) or stream.final):
                cut = self._mark_inside(following, stream.at + 1, end) if not odd else end
                if cut != MORE:
                    text = stream.text[stream.at : cut]
                    stream.at = cut
                    return text
            elif odd == "":
                stream.quiet = stream.until(beyond_name, _NAME)
            yield
            stream.quiet = None

    def _odd_name(self) -> str | None:
        """A declared name of unusual form that stands here; "" if none does, None while one may come."""
        stream = self._stream
        rest = stream.text[stream.at : stream.at + _NAME]
        for name in self._odd:
            if rest.startswith(name):
                return name
            if not stream.final and name.startswith(rest):
                return None
        return ""

    def _mark_inside(self, following: Marker | Slot | None, at: int, end: int) -> int:
        """Where the mark after a name begins, if that lies inside the run of text; else its end."""
        if not isinstance(following, Marker) or not in_name(following.first):
            return end
        text = self._stream.text
        while (at := text.find(following.first[0], at, end)) >= 0:
            found = following.match(text, at)
            if found > 0 or (found == MORE and not self._stream.final):
                return MORE if found == MORE else at
            at += 1
        return end

    def _without_mark(self, declared: bool) -> Reading[bool]:
        """After a name, without the mark before the arguments: they begin at once, or there are none."""
        if not self._named():
            return False
        char = yield from self._stream.skip_blank()
        known = self._name in self._tools
        if char == "{" and self._plan.skeleton is None:
            return (yield from self._body(declared))
        if declared and not known:
            return False
        closer = yield from look(self._stream, self._plan.closers)
        if closer is None and not (known and self._at_end_of_call(char)):
            return False
        if self._weak and not (closer and is_strong(self._stream.text[closer.start : closer.end])):
            return False
        self._start()
        self._scribe.arguments("{}")
        self._end(char != "")
        return True

    def _at_end_of_call(self, char: str) -> bool:
        """Whether the text ends here, or in a mark that has begun."""
        stream = self._stream
        if not stream.final:
            return False
        closers = (mark for mark, _ in self._plan.closers.entries)
        return char == "" or begun(closers, stream.text, stream.at)

    # Bodies

    def _body(self, declared: bool) -> Reading[bool]:
        """The arguments, or the literal that holds them."""
        skeleton = self._plan.skeleton
        if skeleton:
            known = (self._stream, self._tools, self._announce, self._scribe.arguments)
            reader = ObjectReader(skeleton, *known, declared, self._weak, self._plan.head, self._plan.bridge)
            return (yield from self._object(reader))
        if not self._named() or (declared and self._name not in self._tools):
            return False
        char = ""
        if not self._started or self._plan.layout is None:
            char = self._stream.solid() or (yield from self._stream.skip_blank())
            if not self._started and not (yield from self._plausible(char)):
                return False
            self._start()
        whole = yield from self._arguments(char)
        self._end(whole)
        return True

    def _plausible(self, char: str) -> Reading[bool]:
        """Whether arguments, or the call's end, stand here."""
        stream, layout = self._stream, self._plan.layout
        if char == "":
            return self._name in self._tools
        if char == "{" or (char == '"' and layout is None) or (layout is not None and layout.before is None):
            return True
        if (yield from look(stream, self._plan.closers)):
            return True
        return layout is not None and (yield from look(stream, layout.places)) is not None

    def _arguments(self, char: str) -> Reading[bool]:
        """⟨arguments⟩ of a text body; `char` is their first, where that tells what they are."""
        write = self._scribe.arguments
        if self._plan.layout:
            schema = self._tools.parameters(self._name)
            return (yield from self._members.arguments(self._plan.layout, schema, self._plan.opening))
        if char == "{":
            return (yield from container(self._stream, write))
        if char == '"':
            return (yield from wrapped(self._stream, write))
        write("{}")
        return char != ""

    def _object(self, reader: ObjectReader) -> Reading[bool]:
        """An object literal with everything in it."""
        whole = yield from reader.read(self._name)
        self._listed = self._listed or reader.listed
        if not self._started:
            return False
        self._id = reader.id or self._id
        self._end(whole)
        if self._stream.final and not reader.closed:
            self._stream.at = len(self._stream.text)
        return True

    # What is said

    def _announce(self, name: str, identity: str) -> None:
        """The object reader is certain of the name."""
        self._name = name or self._name
        self._id = identity or self._id
        self._named()
        self._start()

    def _start(self) -> None:
        if self._started:
            return
        self._started = True
        self._scribe.start(self._id, self._name)
        self._stream.release()
        self._stream.index = self._scribe.calls - 1
        self._stream.direct = self._scribe.arguments

    def _end(self, whole: bool) -> None:
        self._stream.direct = None
        self._scribe.end(self._id, whole)
        self.cut = self.cut or not whole

    # What follows

    def _another(self) -> Reading[Entry | None]:
        """Passes what closes a call, then the marks before the next one; None if none follows: then what does
        is left, and the whitespace before it."""
        stream, link = self._stream, self._plan.link
        yield from stream.along(self._plan.between)
        if link and stream.text.startswith(link.text, stream.at):
            stream.keep(link.closed)
            stream.at += link.entered
            return link.entry
        stream.keep()
        in_section = True
        while in_section and (char := (yield from stream.skip_blank())):
            if char == "]" and self._listed:
                stream.at += 1
            elif (closed := (yield from take(stream, self._plan.closers))) is not None:
                in_section = not closed
            else:
                break
            stream.keep()
        entry = None
        if self._at_end_of_call(stream.text[stream.at : stream.at + 1]):
            stream.at = len(stream.text)
            stream.release()
        elif not in_section or not (entry := (yield from self._next_entry())):
            stream.rewind()
        return entry

    def _next_entry(self) -> Reading[Entry | None]:
        """Where a further call is entered, past separators and its mark; None if what follows is none."""
        stream, plan = self._stream, self._plan
        separated = False
        while char := (yield from stream.skip_blank()):
            if char in ",;":
                stream.at += 1
            elif not plan.separator.entries or not (yield from take(stream, plan.separator)):
                break
            separated = True
        entry = None if char == "{" and plan.skeleton else (yield from self._entry())
        bare = plan.loose or not separated
        if entry:
            return entry
        if plan.skeleton:
            return Entry(len(plan.steps) - 1, bare) if char == "{" else None
        return None if isinstance(plan.steps[0], Marker) else Entry(0, bare)

    def _entry(self) -> Reading[Entry | None]:
        """The mark a further call begins with."""
        entry = yield from take(self._stream, self._plan.entries)
        return entry if entry is None or entry.passed else None


def _is_run(text: str) -> bool:
    """Whether a name's run of text would hold all of this."""
    run = name_run(text, 0)
    return run is not None and run.end() == len(text)
