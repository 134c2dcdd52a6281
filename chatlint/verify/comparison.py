"""Sent and received, field by field, and who lost what.

A difference is the template's where the turn does not hold the value as it was sent (lost or altered), the
format's where the written text is ambiguous (a raw value that holds its own closing mark, a text that reads
like a number and nothing says which), and the parser's otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from chatlint.conversation import JSON, Message
from chatlint.infer.turns import Part, Slot, calls_of
from chatlint.parse.formats import OutputFormat
from chatlint.parse.notation import Encoding
from chatlint.parse.notation import Written as ValueWritten
from chatlint.records import replace
from chatlint.verify.trip import Cause, Difference
from chatlint.verify.written import Written, plain


def differences(output: OutputFormat, sent: Written, received: Mapping[str, JSON]) -> tuple[Difference, ...]:
    """What differs between a message and what its text was read as."""
    return _followed(tuple(_differences(output, sent, received)))


def _followed(found: tuple[Difference, ...]) -> tuple[Difference, ...]:
    """What is read wrong behind an argument that the template or the format spoiled was spoiled with it:
    the rest of the call, calls behind it, and what of them became content."""
    causes = [
        one.cause for one in found if one.field.startswith("tool_calls") and one.cause is not Cause.PARSER
    ]
    if not causes:
        return found
    spoiled = ("tool_calls", "content")
    return tuple(
        replace(one, cause=causes[0]) if one.cause is Cause.PARSER and one.field.startswith(spoiled) else one
        for one in found
    )


def _differences(output: OutputFormat, sent: Written, received: Mapping[str, JSON]) -> Iterator[Difference]:
    texts = (
        ("content", Part.CONTENT, _content(sent.message)),
        ("reasoning_content", Part.REASONING, _reasoning(sent.message)),
    )
    for field, part, text in texts:
        got = received.get(field)
        if got != text and not _trimmed_same(sent, part, text, got):
            yield Difference(field, text, got, _text_cause(output, sent, part, text, received))
    calls = received.get("tool_calls")
    yield from _call_differences(output, sent, calls if isinstance(calls, list) else [])


def _content(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _reasoning(message: Message) -> str:
    for name in ("reasoning_content", "reasoning", "thinking"):
        if isinstance(text := message.get(name), str):
            return text
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("thinking", "")) for part in parts if isinstance(part, Mapping))


def _trimmed_same(sent: Written, part: Part, text: str, got: JSON) -> bool:
    """Equal up to blanks at the edges that the text itself does not hold apart from its marks'."""
    return isinstance(got, str) and got.strip() == text.strip() and text != text.strip()


def _text_cause(
    output: OutputFormat, sent: Written, part: Part, text: str, received: Mapping[str, JSON]
) -> Cause:
    printed = sent.printed(part)
    if not printed and text:
        return Cause.LOST
    if _is_merged(sent, part, text, received):
        return Cause.MERGED
    got = received.get("content" if part is Part.CONTENT else "reasoning_content")
    blanks_only = isinstance(got, str) and got.strip() == text.strip()
    altered = blanks_only or printed.strip() != text.strip() or _is_beside(output, sent, text, got)
    return Cause.ALTERED if altered else Cause.PARSER


def _is_beside(output: OutputFormat, sent: Written, text: str, got: JSON) -> bool:
    """Whether what came back is the text, and beside it words of the template that are no marks of the
    format."""
    extra = got.replace(text, "", 1).strip() if isinstance(got, str) else ""
    if not extra or extra not in _own_text(sent):
        return False
    calls, thought = output.tool_calls, output.reasoning
    known = [*output.end_of_turn, *output.end_of_message, output.content.start, output.content.end]
    known += [thought.start, thought.end] if thought else []
    known += [calls.section_start, calls.section_end, calls.call_start, calls.call_end] if calls else []
    return not any(mark in extra for pattern in known if (mark := plain(pattern).strip()))


def _own_text(sent: Written) -> str:
    """The turn with a blank in place of everything that the message holds."""
    pieces, at = [], 0
    for slot in sent.turn.slots:
        pieces.append(sent.turn.raw[at : slot.start])
        at = max(at, slot.end)
    return " ".join((*pieces, sent.turn.raw[at:]))


def _is_merged(sent: Written, part: Part, text: str, received: Mapping[str, JSON]) -> bool:
    """Whether one of the two texts came back as (or inside) the other, all of it."""
    name, other = (
        ("content", "reasoning_content") if part is Part.CONTENT else ("reasoning_content", "content")
    )
    sent_other = _reasoning(sent.message) if part is Part.CONTENT else _content(sent.message)
    got, got_other = str(received.get(name)), str(received.get(other))
    if text:
        return text in got_other and not got.strip()
    return bool(sent_other) and sent_other in got and not got_other.strip()


# -- calls -------------------------------------------------------------------------------------------------


def _call_differences(output: OutputFormat, sent: Written, received: Sequence[JSON]) -> Iterator[Difference]:
    calls = calls_of(sent.message)
    for index, call in enumerate(calls):
        got = received[index] if index < len(received) else None
        if not isinstance(got, Mapping):
            shown = any(slot.call == index for slot in sent.turn.slots)
            yield Difference(f"tool_calls/{index}", dict(call), None, Cause.PARSER if shown else Cause.LOST)
            continue
        yield from _one_call(output, sent, index, call, got)
    for index in range(len(calls), len(received)):
        yield Difference(f"tool_calls/{index}", None, received[index], Cause.PARSER)


def _one_call(
    output: OutputFormat, sent: Written, index: int, call: Mapping[str, JSON], got: Mapping[str, JSON]
) -> Iterator[Difference]:
    function, read = _mapping(call.get("function")), _mapping(got.get("function"))
    slots = [slot for slot in sent.turn.slots if slot.call == index]
    if read.get("name") != function.get("name"):
        shown = any(slot.part in (Part.NAME, Part.ID) for slot in slots)
        cause = Cause.PARSER if shown else Cause.LOST
        yield Difference(f"tool_calls/{index}/name", function.get("name"), read.get("name"), cause)
    if any(slot.part is Part.ID for slot in slots) and got.get("id") != call.get("id"):
        yield Difference(f"tool_calls/{index}/id", call.get("id"), got.get("id"), Cause.PARSER)
    arguments = _decoded(function.get("arguments"))
    answer = _decoded(read.get("arguments"))
    place = f"tool_calls/{index}/arguments"
    if not isinstance(arguments, Mapping) or not isinstance(answer, Mapping):
        if not same(arguments, answer):
            yield Difference(place, arguments, read.get("arguments"), _whole_cause(slots))
        return
    for name in dict.fromkeys((*arguments, *answer)):
        one, other = arguments.get(name, _ABSENT), answer.get(name, _ABSENT)
        if not same(one, other):
            cause = _argument_cause(output, sent, slots, name, one)
            yield Difference(f"{place}/{name}", _plain(one), _plain(other), cause)


_ABSENT = "\ue0aeabsent"


def _plain(value: JSON) -> JSON:
    return None if value == _ABSENT else value


def _mapping(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, Mapping) else {}


def _decoded(value: JSON) -> JSON:
    if not isinstance(value, str):
        return value
    try:
        decoded: JSON = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return decoded


def same(one: JSON, other: JSON) -> bool:
    """Equal as JSON: 1, 1.0 and true are three values, the order of members is none."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _whole_cause(slots: Sequence[Slot]) -> Cause:
    return Cause.PARSER if any(slot.part in (Part.ARGUMENTS, Part.VALUE) for slot in slots) else Cause.LOST


def _argument_cause(
    output: OutputFormat, sent: Written, slots: Sequence[Slot], name: str, value: JSON
) -> Cause:
    own = [slot for slot in slots if slot.path[:1] == (name,)]
    if not own and not any(slot.part is Part.ARGUMENTS for slot in slots):
        return Cause.LOST
    values = [slot for slot in own if not slot.key]
    printed = sent.turn.raw[values[0].start : values[-1].end] if values else ""
    escaped = json.dumps(value, ensure_ascii=False)[1:-1] if isinstance(value, str) else ""
    if isinstance(value, str) and value not in printed and escaped not in printed:
        return Cause.ALTERED
    if _is_ambiguous(output, value):
        return Cause.AMBIGUOUS
    return Cause.ALTERED if _breaks_member(output, sent, slots) else Cause.PARSER


def _is_ambiguous(output: OutputFormat, value: JSON) -> bool:
    """Whether a raw value holds a mark that may close it, or nothing but its own end separates it from the
    next, or only its end tells its type."""
    calls = output.tool_calls
    if calls is None or calls.members is None:
        return False
    written = [way for way in calls.values.by_type.values() if isinstance(way, ValueWritten)]
    if len({way.start for way in written}) < len({way.end for way in written}):
        return True
    behind = plain(calls.values.string.end) + plain(calls.members.member.rpartition("⟩")[2])
    around = behind + calls.members.separator + calls.members.member.partition("⟨")[0]
    if not around.strip(" \"'"):
        return True
    if calls.values.string.encoding is not Encoding.RAW:
        return False
    closers = (behind, *map(plain, (calls.members.separator, calls.call_end, calls.section_end)))
    if not isinstance(value, str):
        return False
    return any(mark.strip() and mark.strip() in value for mark in closers) or value != value.strip()


def _breaks_member(output: OutputFormat, sent: Written, slots: Sequence[Slot]) -> bool:
    """Whether the template closes an argument of this call otherwise than it usually does."""
    calls = output.tool_calls
    closer = plain(calls.members.member.rpartition("⟩")[2]).strip() if calls and calls.members else ""
    keys = [slot for slot in slots if slot.part is Part.KEY]
    for key, following in pairwise(keys):
        between = sent.turn.raw[key.end : following.start]
        if closer and closer not in between:
            return True
    return False
