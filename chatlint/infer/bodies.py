"""One call as it stands in a turn: where its body is, and as which pattern it can be read.

Theory of operation. A call is, in this order of belief: one object literal that holds its name and
arguments (a json or python body, whose skeleton is what was decoded with placeholders in place of the
values), or text around slots in which all arguments stand as one object, or text in which each argument has
a place of its own (*keyed*). What is text is decided by the spans; what is an object, by decoding it and
comparing with what was sent.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum

from chatlint.conversation import JSON
from chatlint.infer.turns import COUNTER, SAME_KEY, SAME_NAME, Part, Slot, Turn, calls_of
from chatlint.parse import patterns
from chatlint.parse.formats import Syntax
from chatlint.records import dataclass, replace

_LONGEST_LITERAL = 20_000
_LONGEST_HEAD = 2_000
"""Characters between an object's brace and its first slot."""
_MOST_BRACES = 30
_ARGUMENTS = "\ue0a3"


class Grade(IntEnum):
    """How well a call can be read back."""

    NOTHING = 0
    NAME_LOST = 1
    REPR = 2
    """Arguments that were sent as an object are printed by Python."""
    NAME_IN_ID = 3
    WHOLE = 4


@dataclass(frozen=True, slots=True)
class Body:
    """The body of one call: characters `start` to `end` of its turn, and the pattern it follows.

    Of a keyed call, `first` and `last` are where its first argument's name begins and its last value's last
    input ends (what stands around them is only known once several are compared), and `pattern` is "".
    """

    start: int
    end: int
    pattern: str
    syntax: Syntax
    grade: Grade
    id_pattern: str = ""
    keyed: bool = False


def to_pattern(text: str) -> str:
    """Template text of a turn as a pattern: placeholders become slots."""
    escaped = patterns.literal(text)
    for placeholder, slot in (
        (COUNTER, patterns.COUNTER),
        (SAME_NAME, patterns.NAME),
        (SAME_KEY, patterns.KEY),
    ):
        escaped = escaped.replace(placeholder, slot)
    return escaped


def bodies_of(turn: Turn) -> tuple[Body, ...]:
    """The bodies of a turn's calls, in order; empty unless every call shows something."""
    found: list[Body] = []
    for index in range(turn.calls()):
        slots = turn.of_call(index)
        if not slots:
            return ()
        floor = found[-1].end if found else _floor(turn, slots[0].start)
        ceiling = min(
            (slot.start for slot in turn.slots if slot.start >= slots[-1].end), default=len(turn.raw)
        )
        found.append(_body(turn, index, slots, (floor, ceiling)))
    return tuple(found)


def with_inner_names(turn: Turn) -> Turn:
    """The turn with each name's slot inside the object literal of its call, where one stands before it as
    well: the one before becomes *the same name again*."""
    for index in range(turn.calls()):
        slots = turn.of_call(index)
        if len(slots) > 1 and slots[0].part is Part.NAME and _holds_name(turn, index, slots):
            head = slots[0]
            text = turn.text[: head.start] + SAME_NAME * (head.end - head.start) + turn.text[head.end :]
            turn = replace(turn, text=text, slots=tuple(slot for slot in turn.slots if slot is not head))
    return turn


def _holds_name(turn: Turn, index: int, slots: Sequence[Slot]) -> bool:
    """Whether an object literal behind a call's first slot holds all of the call, its name too."""
    room = (slots[0].end, len(turn.raw))
    call, sent = _sent(turn, index)
    body = _object_body(turn, slots[1:], room, call, sent)
    return body is not None and body.grade is Grade.WHOLE


def grade_of(bodies: Sequence[Body]) -> Grade:
    """The lowest grade of several calls, NOTHING for none."""
    return min((body.grade for body in bodies), default=Grade.NOTHING)


def _floor(turn: Turn, before: int) -> int:
    return max((slot.end for slot in turn.slots if slot.end <= before), default=0)


def _body(turn: Turn, index: int, slots: Sequence[Slot], room: tuple[int, int]) -> Body:
    call, sent = _sent(turn, index)
    return (
        _object_body(turn, slots, room, call, sent)
        or _text_body(turn, slots, room, call, sent)
        or _keyed_body(turn, slots, call, sent)
    )


def _sent(turn: Turn, index: int) -> tuple[Mapping[str, JSON], Mapping[str, JSON]]:
    """A call as it was sent, and the part of it that holds name and arguments."""
    call = calls_of(turn.message)[index]
    function = call.get("function")
    return call, function if isinstance(function, Mapping) else call


# -- one object literal ------------------------------------------------------------------------------------


def _object_body(
    turn: Turn,
    slots: Sequence[Slot],
    room: tuple[int, int],
    call: Mapping[str, JSON],
    sent: Mapping[str, JSON],
) -> Body | None:
    for start in _braces(turn.raw, room[0], slots[0].start):
        read = literal_at(turn.raw, start, slots[-1].end)
        if read is None or not slots[-1].end <= read[1] <= room[1]:
            continue
        value, end, syntax = read
        marked = _decoded(turn.text[start:end])
        skeleton = _Skeleton(call, sent).of(value, marked if isinstance(marked, dict) else value)
        if skeleton:
            grade = skeleton.grade
            grade = min(grade, Grade.REPR) if syntax is Syntax.PYTHON else grade
            return Body(start, end, skeleton.pattern, syntax, grade, skeleton.id_pattern)
    return None


def _braces(text: str, start: int, end: int) -> Iterator[int]:
    """Places where an object can begin that is open at `end`, the outermost first."""
    at = text.find("{", max(start, end - _LONGEST_HEAD), end)
    for _ in range(_MOST_BRACES):
        if at < 0:
            return
        yield at
        at = text.find("{", at + 1, end)


def literal_at(text: str, start: int, cover: int) -> tuple[JSON, int, Syntax] | None:
    """The JSON or Python literal that begins at `start` and reaches at least to `cover`: value, end,
    syntax."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return _python_at(text, start, cover)
    return (value, end, Syntax.JSON) if end >= cover else None


def _python_at(text: str, start: int, cover: int) -> tuple[JSON, int, Syntax] | None:
    closer = {"{": "}", "[": "]"}.get(text[start : start + 1], "")
    end = text.find(closer, max(cover - 1, start)) if closer else -1
    for _ in range(6):
        if end < 0 or end - start > _LONGEST_LITERAL:
            return None
        value = _evaluated(text[start : end + 1])
        if value is not None:
            return value, end + 1, Syntax.PYTHON
        end = text.find(closer, end + 1)
    return None


_CONSTANTS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}


class _Constants(ast.NodeTransformer):
    """JSON's names as constants, so that a literal that mixes both notations can be read."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Constant(_CONSTANTS[node.id]), node) if node.id in _CONSTANTS else node


def _evaluated(text: str) -> JSON:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes in a template's own words
        try:
            value: JSON = ast.literal_eval(_Constants().visit(ast.parse(text, mode="eval")))
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return None
    return value


def _decoded(text: str) -> JSON:
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


@dataclass(slots=True)
class _Skeleton:
    """What was decoded, with placeholders where the call's own values stand."""

    call: Mapping[str, JSON]
    sent: Mapping[str, JSON]
    pattern: str = ""
    id_pattern: str = ""
    named: bool = False
    filled: bool = False

    def of(self, value: JSON, marked: JSON) -> _Skeleton | None:
        shape = self._shape(value, marked)
        if not self.filled:
            return None
        text = json.dumps(shape, ensure_ascii=False)
        self.pattern = text.replace(f'"{_ARGUMENTS}"', patterns.ARGUMENTS)
        return self

    @property
    def grade(self) -> Grade:
        if self.named:
            return Grade.WHOLE
        carried = str(self.sent.get("name")) in str(self.call.get("id")) and patterns.ID in self.pattern
        return Grade.NAME_IN_ID if carried else Grade.NAME_LOST

    def _shape(self, value: JSON, marked: JSON, key: str = "") -> JSON:
        arguments = self.sent.get("arguments")
        if not self.filled and _equal(value, arguments):
            self.filled = True
            return _ARGUMENTS
        if isinstance(value, str) and not self.filled and value and _equal(_decoded(value), arguments):
            self.filled = True
            return patterns.ARGUMENTS
        if isinstance(value, dict):
            inner = marked if isinstance(marked, dict) else {}
            return {self._key(name): self._shape(item, inner.get(name), name) for name, item in value.items()}
        return self._scalar(value, marked, key)

    def _key(self, name: str) -> str:
        if not self.named and name == self.sent.get("name"):
            self.named = True
            return patterns.NAME
        return patterns.literal(name)

    def _scalar(self, value: JSON, marked: JSON, key: str) -> JSON:
        if isinstance(value, str):
            if value == self.sent.get("name") and not self.named:
                self.named = True
                return patterns.NAME
            if value and value == self.call.get("id"):
                return patterns.ID
            if isinstance(marked, str) and COUNTER in marked and "id" in key.lower():
                self.id_pattern = to_pattern(marked)
                return patterns.ID
            return patterns.literal(value)
        return value


def _equal(one: JSON, other: JSON) -> bool:
    """Equal as JSON; a text of arguments equals what it decodes to."""
    if isinstance(other, str) and not isinstance(one, str):
        other = _decoded(other)
    if not isinstance(one, dict) or not isinstance(other, Mapping):
        return False
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


# -- text around slots -------------------------------------------------------------------------------------


def _text_body(
    turn: Turn,
    slots: Sequence[Slot],
    room: tuple[int, int],
    call: Mapping[str, JSON],
    sent: Mapping[str, JSON],
) -> Body | None:
    """Text in which the arguments stand as one object (or as the text they were sent as)."""
    found = _arguments(turn, slots, sent)
    if found is None:
        return None
    start, end, syntax = found
    heads = [slot for slot in slots if slot.part in (Part.NAME, Part.ID)]
    before = [slot for slot in heads if slot.end <= start]
    after = [slot for slot in heads if slot.start >= end and slot.start < room[1]]
    pieces = [
        *((slot.start, slot.end, _SLOT[slot.part]) for slot in before),
        (start, end, patterns.ARGUMENTS),
    ]
    pieces += [(slot.start, slot.end, _SLOT[slot.part]) for slot in after]
    pattern = _joined(turn, pieces)
    grade = min(_named(pieces, call, sent), Grade.REPR if syntax is Syntax.PYTHON else Grade.WHOLE)
    return Body(pieces[0][0], pieces[-1][1], pattern, Syntax.TEXT, grade)


_SLOT = {Part.NAME: patterns.NAME, Part.ID: patterns.ID}


def _arguments(turn: Turn, slots: Sequence[Slot], sent: Mapping[str, JSON]) -> tuple[int, int, Syntax] | None:
    arguments = sent.get("arguments")
    if isinstance(arguments, str):
        for slot in slots:
            if slot.part is Part.ARGUMENTS and turn.raw[slot.start : slot.end].strip() == arguments.strip():
                return slot.start, slot.end, Syntax.JSON
    inner = [slot for slot in slots if slot.part in (Part.ARGUMENTS, Part.KEY, Part.VALUE)]
    if not inner:
        return None
    floor = max((slot.end for slot in turn.slots if slot.end <= inner[0].start), default=0)
    for start in _braces(turn.raw, floor, inner[0].start + 1):
        read = literal_at(turn.raw, start, inner[-1].end)
        if read and _equal(read[0], arguments):
            return start, read[1], read[2]
    return None


def _joined(turn: Turn, pieces: Sequence[tuple[int, int, str]]) -> str:
    text, at = "", pieces[0][0]
    for start, end, slot in pieces:
        text += to_pattern(turn.literal(at, start)) + slot
        at = end
    return text


def _named(
    pieces: Sequence[tuple[int, int, str]], call: Mapping[str, JSON], sent: Mapping[str, JSON]
) -> Grade:
    slots = {slot for _, _, slot in pieces}
    if patterns.NAME in slots:
        return Grade.WHOLE
    carried = patterns.ID in slots and str(sent.get("name")) in str(call.get("id"))
    return Grade.NAME_IN_ID if carried else Grade.NAME_LOST


# -- keyed arguments ---------------------------------------------------------------------------------------


def _keyed_body(
    turn: Turn, slots: Sequence[Slot], call: Mapping[str, JSON], sent: Mapping[str, JSON]
) -> Body:
    """From the first slot to the last value's last input; `members.py` finds what belongs to arguments."""
    keys = {slot.path for slot in slots if slot.part is Part.KEY}
    arguments = sent.get("arguments")
    whole = isinstance(arguments, Mapping) and {(name,) for name in arguments} <= keys
    heads = [(slot.start, slot.end, _SLOT[slot.part]) for slot in slots if slot.part in _SLOT]
    grade = _named(heads, call, sent) if whole else Grade.NOTHING
    return Body(slots[0].start, slots[-1].end, "", Syntax.TEXT, grade, keyed=True)
