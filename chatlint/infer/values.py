"""How a value of each JSON type is written as an argument.

Theory of operation. The text between one key and the next, without the separator and what opens the next
member, is `before value after`. Every notation a value can have (the string itself, JSON, Python) is
searched for in it; strings are judged together, so that hard ones (quotes, newlines, backslashes) tell an
escape from a quote that the template wrote. What stands before and after values of all types alike belongs
to the member; what differs labels the type. Arrays and objects that are no literal have a notation of
marks, which is found by subtracting the marks of strings and numbers that are known by then.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from chatlint.conversation import JSON
from chatlint.infer.bodies import literal_at, to_pattern
from chatlint.infer.markers import common_prefix, common_suffix
from chatlint.infer.members import Argument, MemberMarks, arguments_of
from chatlint.infer.nested import learn_items, learn_object
from chatlint.infer.turns import Turn, calls_of
from chatlint.parse import patterns
from chatlint.parse.notation import Encoding, Items, Members, Values, Written
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """One argument as written: its value as sent, and the text from its key to the end of the member."""

    name: str
    value: JSON
    text: str
    """With placeholders; the value itself as it stands."""
    turn: Turn
    argument: Argument


@dataclass(frozen=True, slots=True)
class Around:
    """What stands before and after a value, and its encoding."""

    before: str
    after: str
    encoding: Encoding


def samples_of(turn: Turn, call: int, marks: MemberMarks) -> tuple[Sample, ...]:
    """The arguments of one call as written, those that were left out of the turn left out."""
    sent = calls_of(turn.message)[call].get("function")
    values = sent.get("arguments") if isinstance(sent, Mapping) else None
    if not isinstance(values, Mapping):
        return ()
    arguments = arguments_of(turn, call)
    return tuple(
        Sample(one.name, values[one.name], text, turn, one)
        for one, text in zip(arguments, _texts(turn, arguments, marks), strict=True)
        if one.name in values
    )


def _texts(turn: Turn, arguments: Sequence[Argument], marks: MemberMarks) -> Iterator[str]:
    following = marks.separator + marks.open
    for position, one in enumerate(arguments):
        if position + 1 < len(arguments):
            text = turn.literal(one.key.end, arguments[position + 1].key.start)
            yield text[: len(text) - len(following)] if text.endswith(following) else text
        else:
            yield turn.literal(one.key.end, one.end or one.key.end) + marks.close


def type_of(value: JSON) -> str:
    """The JSON type's name, as `Values` has it."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]


def _forms(value: JSON, encoding: Encoding) -> Iterator[str]:
    """Texts that stand for a value in an encoding, the likeliest first."""
    if encoding is Encoding.RAW:
        yield from (value,) if isinstance(value, str) else ()
    elif encoding is Encoding.JSON:
        for ascii_only in (False, True):
            yield json.dumps(value, ensure_ascii=ascii_only)
            yield json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    else:
        yield repr(value)


def _found(sample: Sample, encoding: Encoding, usual: Around | None) -> Around | None:
    """Where a notation of the value stands in its text; of several places the one between the usual marks,
    else the last (a label may spell the value, too)."""
    for form in _forms(sample.value, encoding):
        at = sample.text.rfind(form) if form else -1
        if usual and sample.text == usual.before + form + usual.after:
            return Around(usual.before, usual.after, encoding)
        if at >= 0:
            return Around(sample.text[:at], sample.text[at + len(form) :], encoding)
    return None


# -- strings -----------------------------------------------------------------------------------------------


def learn_string(samples: Sequence[Sample]) -> Around | None:
    """How strings are written, from plain and hard ones: the encoding in which most stand between equal
    marks."""
    strings = [sample for sample in samples if isinstance(sample.value, str) and sample.value]
    best: tuple[int, Around] | None = None
    for encoding in (Encoding.RAW, Encoding.JSON, Encoding.PYTHON):
        found = Counter(around for s in strings if (around := _found(s, encoding, None)))
        if found and (best is None or found.most_common(1)[0][1] > best[0]):
            around, count = found.most_common(1)[0]
            best = count, around
    return best[1] if best else None


# -- other types -------------------------------------------------------------------------------------------


def learn_scalar(samples: Sequence[Sample], kind: str, usual: Around) -> Around | None:
    """How values of a type are written as literals; values of one type must agree."""
    found: set[Around] = set()
    for sample in samples:
        if (
            type_of(sample.value) == kind
            and sample.value not in ([], {})
            and (around := _literal(sample, usual))
        ):
            found.add(around)
    if len(found) > 1:
        found = {a for a in found if (a.before, a.after) == (usual.before, usual.after)} or found
    return next(iter(sorted(found, key=lambda a: (len(a.before), a.encoding)))) if found else None


def _literal(sample: Sample, usual: Around) -> Around | None:
    for encoding in (Encoding.JSON, Encoding.PYTHON):
        if around := _found(sample, encoding, usual):
            return around
    if isinstance(sample.value, list | dict) and sample.value:
        return _decodable(sample)
    return None


def _decodable(sample: Sample) -> Around | None:
    """A container in a spacing of its own."""
    opening = "[" if isinstance(sample.value, list) else "{"
    at = sample.text.find(opening)
    while at >= 0:
        read = literal_at(sample.text, at, at)
        if read and json.dumps(read[0], sort_keys=True) == json.dumps(sample.value, sort_keys=True):
            return Around(sample.text[:at], sample.text[read[1] :], Encoding(read[2].value))
        at = sample.text.find(opening, at + 1)
    return None


# -- all together ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Notation:
    """Members and values of a call's arguments, and the types about which nothing could be seen."""

    members: Members
    values: Values
    unseen: tuple[str, ...]
    string: Around


def learn_values(samples: Sequence[Sample], marks: MemberMarks) -> Notation:
    """The whole notation from samples of all types."""
    string = learn_string(samples) or Around(marks.middle, marks.close, Encoding.RAW)
    found = {"string": string}
    for kind in ("integer", "number", "boolean", "null", "array", "object"):
        around = learn_scalar(samples, kind, string)
        if around:
            found[kind] = around
    before = common_prefix([around.before for around in found.values()])
    after = common_suffix([around.after for around in found.values()])
    member = to_pattern(marks.open) + patterns.KEY + to_pattern(before) + patterns.VALUE + to_pattern(after)
    members = Members(member, to_pattern(marks.separator))
    written: dict[str, Written | Items | Members] = {}
    written |= {kind: _written(around, before, after) for kind, around in found.items()}
    written |= _nested(samples, (before, after), _written(string, before, after), _plain(written), found)
    return Notation(members, _values(written), tuple(k for k in _TYPES if k not in written), string)


def _nested(
    samples: Sequence[Sample],
    around: tuple[str, str],
    string: Written,
    number: Written,
    found: Container[str],
) -> Iterator[tuple[str, Items | Members]]:
    """Arrays and objects that no literal was found for."""
    for sample in samples:
        if isinstance(sample.value, list) and len(sample.value) == 2 and "array" not in found:
            items = learn_items(sample.turn, sample.argument, sample.text, around, string)
            yield from (("array", items),) if items else ()
        if isinstance(sample.value, dict) and len(sample.value) == 2 and "object" not in found:
            members = learn_object(sample.turn, sample.argument, sample.text, around, string, number)
            yield from (("object", members),) if members else ()


_TYPES = ("integer", "number", "boolean", "null", "array", "object")


def _written(around: Around, before: str, after: str) -> Written:
    start = around.before[len(before) :]
    end = around.after[: len(around.after) - len(after)]
    return Written(to_pattern(start), to_pattern(end), around.encoding)


def _values(written: Mapping[str, Written | Items | Members]) -> Values:
    """What was not seen is written as numbers are."""
    every: dict[str, Written | Items | Members] = dict.fromkeys(_TYPES, _plain(written))
    every |= written
    return Values(**every)  # type: ignore[arg-type]


def _plain(written: Mapping[str, Written | Items | Members]) -> Written:
    plain = written.get("number") or written.get("integer") or written.get("boolean")
    return plain if isinstance(plain, Written) else Written(encoding=Encoding.JSON)
