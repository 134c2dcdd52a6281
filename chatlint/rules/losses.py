"""Which line of the template is about a value that is nowhere in the prompt.

What an author has to change is the condition that leaves the value out: where the value is read in the branch
of its message's role, where the template asks for that role, or, where nobody asks for it, the last question
for another role before the message beside it is written. Questions about a message in another place, as
`messages[0].role`, say nothing of this one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.probe.reading import texts
from chatlint.rules.printed import printed_at
from chatlint.rules.sights import bounds, written_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chatlint.probe.case import Observation
    from chatlint.render.fields import RoleLiteral
    from chatlint.render.syntax import Syntax
    from chatlint.rules.cause import Sight

_MESSAGE, _ANY = regex(r"/messages/(\d+)"), "/messages/*"
_CONTENT = f"{_ANY}/content"
_END = 2**31
_NEWLINE = regex(r"\r\n|\r|\n")


def lost_at(syntax: Syntax, source: str, sight: Sight) -> tuple[int, int]:
    """One-based line and column (0 where unknown) of what left out the value that a sight says is lost."""
    pointer = sight.asked or sight.lost
    besides = tuple(_besides(syntax, sight, pointer))
    message = _MESSAGE.match(pointer)
    if message is None:
        line = next((min(lines) for lines in _reads(syntax, pointer)), 0)
    else:
        lines = [line for line, _ in besides]
        line = _in_message(syntax, source, sight.observation, pointer, int(message[1]), lines)
    if line or besides:
        return (line, 0) if line else besides[0]
    return min(syntax.reads_of(_pattern(pointer)), default=0), 0


def _in_message(
    syntax: Syntax, source: str, seen: Observation, pointer: str, index: int, besides: list[int]
) -> int:
    """The line about a value of the message at `index`."""
    messages = seen.case.conversation.messages
    roles = [one for one in syntax.roles if one.may_be(index, len(messages))]
    printing = [one.line for one in syntax.prints if one.pattern == _CONTENT]
    role = str(messages[index].get("role"))
    begin, end = _branch(roles, role, besides[0] if besides else 0, printing)
    lines = next(_reads(syntax, pointer), ())
    if lines:
        return min([line for line in lines if begin <= line < end] or lines)
    in_parts = isinstance(messages[index].get("content"), list)
    of_content = pointer.startswith(f"/messages/{index}/content")
    if begin and of_content:
        reads = set(syntax.reads_of(_CONTENT))
        inside = [line for line in reads if begin <= line < end]
        return min(inside, default=_before(reads, source, begin) if in_parts else begin)
    return begin or (0 if of_content and not besides else _for_others(roles, besides))


def _before(reads: set[int], source: str, begin: int) -> int:
    """The last lines in a row, before a role's branch and no deeper than that, that read content: what takes
    no parts may stand there. The branch if there are none."""
    lines = _NEWLINE.split(source)
    room = _indentation(lines[begin - 1])
    near = {one for one in reads if one < begin and _indentation(lines[one - 1]) <= room}
    last = max(near, default=begin)
    while last - 1 in near:
        last -= 1
    return last


def _indentation(line: str) -> int:
    """Of a line that begins with a tag; text has none that says anything."""
    tag = line.lstrip()
    return len(line) - len(tag) if tag.startswith("{") else _END


def _for_others(roles: list[RoleLiteral], besides: list[int]) -> int:
    """The last question for a role before one of these lines, the first for which there is one; else the
    first question, 0 for none."""
    before = ([one.line for one in roles if one.line <= line] for line in besides)
    return next((max(lines) for lines in before if lines), min((one.line for one in roles), default=0))


def _branch(roles: list[RoleLiteral], role: str, beside: int, printing: list[int]) -> tuple[int, int]:
    """The lines in which a template that asks for this role writes its messages: the question nearest to
    where the message beside it is written, of the variable that is asked most, up to the next for another
    role. Where none is beside it, a question that contents are printed behind goes before one that only looks
    for a message. (0, `_END`) if nobody asks."""
    owners = Counter(one.owner for one in roles)
    chain = max(owners, key=owners.__getitem__, default="")
    asked = {one.line for one in roles if one.role == role}
    asked = {one.line for one in roles if one.role == role and one.owner == chain} or asked
    if not asked:
        return 0, _END
    others = [one.line for one in roles if one.role != role]

    def end_of(begin: int) -> int:
        return min((line for line in others if line > begin), default=_END)

    if not beside:
        asked = {one for one in asked if any(one <= line < end_of(one) for line in printing)} or asked
    begin = min(asked, key=lambda line: (abs(line - beside) if beside else 0, line))
    return begin, end_of(begin)


def _reads(syntax: Syntax, pointer: str) -> Iterator[tuple[int, ...]]:
    """Lines that read a value or what holds it, inside a message. Content is read for every role, so that
    where it is read says nothing by itself."""
    pattern = _pattern(pointer)
    while pattern.count("/") > 1 and pattern != _ANY and not pattern.startswith(_CONTENT):
        lines = syntax.reads_of(pattern)
        if lines:
            yield lines
        pattern = pattern.rpartition("/")[0].removesuffix("/*")


def _pattern(pointer: str) -> str:
    return "/".join("*" if token.isdecimal() else token for token in pointer.split("/"))


def _besides(syntax: Syntax, sight: Sight, pointer: str) -> Iterator[tuple[int, int]]:
    """Where the other messages are written: those before the lost one from the nearest on, then those after
    it."""
    observation = sight.observation
    assert observation.prompt is not None
    found = _MESSAGE.match(pointer)
    for index in _nearest(int(found[1]), observation) if found else ():
        contents = texts(observation, f"/messages/{index}/content")
        shown = next((place for one in contents if (place := bounds(observation, one))), None)
        if shown:
            place = printed_at(syntax.prints, observation.prompt, shown[0])
            place = place if place[0] else written_at(observation.prompt, shown[0])
            if place[0]:
                yield place


def _nearest(lost: int, observation: Observation) -> Iterator[int]:
    yield from range(lost - 1, -1, -1)
    yield from range(lost + 1, len(observation.case.conversation.messages))
