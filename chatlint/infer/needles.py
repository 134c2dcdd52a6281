"""The check that no value of a probe has become part of a mark.

A mark that holds a needle was learned from an accident: such a part is given up, with the reason, rather than
kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from chatlint.conversation import JSON, Conversation, Message
from chatlint.infer.turns import calls_of
from chatlint.parse.formats import Confidence, Content, Ground, OutputFormat
from chatlint.records import is_record, names_of, replace

LONGEST_MARK = 1_000
"""Characters; what is longer is text of the template (instructions, a policy), not what a model writes."""
_SHORTEST = 3
_LABELS = frozenset(("true", "false", "null"))
"""Strings of probes that formats may spell themselves, as labels of types."""
_PARTS = ("header", "header_end", "reasoning", "content", "tool_calls", "end_of_turn", "end_of_message")


def without_needles(output: OutputFormat, conversations: Iterable[Conversation]) -> OutputFormat:
    """The format without the parts that hold a value of one of the conversations."""
    words = needles_of(conversations)
    grounds = dict(output.grounds)
    for part in _PARTS:
        reason = _unlikely(getattr(output, part), words)
        if reason:
            grounds[part] = Ground(Confidence.NONE, (), f"not learned: {reason}")
            output = replace(output, **{part: _nothing(part)})  # type: ignore[arg-type]
    return replace(output, grounds=grounds)


def _unlikely(part: object, words: re.Pattern[str]) -> str:
    """Why a part can be none, "" if it can."""
    if any(len(text) > LONGEST_MARK for text in _texts(part)):
        return f"a mark would be longer than {LONGEST_MARK} characters"
    found = needle_in(part, words)
    return f"the mark would hold {found!r} of a probe" if found else ""


def _nothing(part: str) -> object:
    if part in ("reasoning", "tool_calls"):
        return None
    if part == "content":
        return Content()
    return () if part.startswith("end_of") else ""


def needle_in(part: object, needles: re.Pattern[str]) -> str:
    """A needle that is a whole word of some text in a part of a format; "" if none is."""
    found = (needles.search(text) for text in _texts(part))
    return next((match[0] for match in found if match), "")


def _texts(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        for value in part.values():
            yield from _texts(value)
    elif isinstance(part, Sequence):
        for value in part:
            yield from _texts(value)
    elif is_record(part):
        for name in names_of(part):
            yield from _texts(getattr(part, name))


def needles_of(conversations: Iterable[Conversation]) -> re.Pattern[str]:
    """A pattern for every text of the conversations that a turn could print: contents, reasoning, and of
    calls names, ids, argument names and values."""
    found = {text for one in conversations for message in one.messages for text in _of_message(message)}
    kept = (text for text in found if len(text) >= _SHORTEST and text.strip() and text not in _LABELS)
    words = sorted(kept, key=len, reverse=True)
    if not words:
        return re.compile(r"(?!)")
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, words)) + r")(?!\w)")


def _of_message(message: Message) -> Iterator[str]:
    for name, value in message.items():
        if name not in ("role", "name", "tool_call_id", "tool_calls"):
            yield from _leaves(value)
    for call in calls_of(message):
        function = call.get("function")
        inner = function if isinstance(function, Mapping) else call
        arguments = inner.get("arguments")
        yield from (str(inner.get("name")), str(call.get("id")))
        yield from _leaves(arguments)
        yield from arguments if isinstance(arguments, Mapping) else ()


def _leaves(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item) if name != "type" else ()
    elif isinstance(value, Sequence):
        for item in value:
            yield from _leaves(item)
