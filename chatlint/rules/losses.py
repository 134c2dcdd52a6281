"""Which line of the template is about a value that is nowhere in the prompt.

What an author has to change is the condition that leaves the value out: where the value is read in the branch
of its message's role, where the template asks for that role, or, where nobody asks for it, the last question
for another role before the message beside it is written. Questions about a message in another place, as
`messages[0].role`, say nothing of this one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from chatlint.lazy import regex
from chatlint.probe.reading import texts
from chatlint.rules.printed import printed_at
from chatlint.rules.sights import bounds, written_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chatlint.probe.case import Observation
    from chatlint.render.roles import RoleLiteral
    from chatlint.render.syntax import Syntax
    from chatlint.rules.cause import Sight

_MESSAGE, _ANY = regex(r"/messages/(\d+)"), "/messages/*"
_CONTENT = f"{_ANY}/content"
_END = 2**31
_Place: TypeAlias = tuple[int, int]
_NONE: _Place = (0, 0)
_LAST: _Place = (_END, 0)
_NEWLINE = regex(r"\r\n|\r|\n")


def lost_at(syntax: Syntax, source: str, sight: Sight) -> tuple[int, int]:
    """One-based line and column (0 where unknown) of what left out the value that a sight says is lost."""
    pointer = sight.asked or sight.lost
    besides = tuple(_besides(syntax, sight, pointer))
    message = _MESSAGE.match(pointer)
    if message is None:
        place = next((min(places) for places in _reads(syntax, pointer)), _NONE)
    else:
        place = _in_message(syntax, source, sight.observation, pointer, int(message[1]), besides)
    if place[0] or besides:
        return place if place[0] else besides[0]
    return min(syntax.read_places(_pattern(pointer)), default=_NONE)


def column_of_print(syntax: Syntax, sight: Sight, line: int) -> int:
    """Where in a line the value that a sight says is lost is to be printed: by the only expression that may,
    or the first behind a question for its message's role. 0 where that cannot be told."""
    message = _MESSAGE.match(sight.lost)
    there = [one for one in syntax.prints if one.line == line and one.pattern == _pattern(sight.lost)]
    if len(there) == 1 or message is None:
        return there[0].column if there else 0
    role = sight.observation.case.conversation.messages[int(message[1])].get("role")
    for one in there:
        before = max(
            (known for known in syntax.roles if known.place < (line, one.column)),
            key=lambda known: known.place,
            default=None,
        )
        if before and before.role == role:
            return one.column
    return 0


def _in_message(
    syntax: Syntax, source: str, seen: Observation, pointer: str, index: int, besides: Sequence[_Place]
) -> _Place:
    """The place about a value of the message at `index`."""
    messages = seen.case.conversation.messages
    roles = [one for one in syntax.roles if one.may_be(index, len(messages))]
    printing = [(one.line, one.column) for one in syntax.prints if one.pattern == _CONTENT]
    role = str(messages[index].get("role"))
    lines = _NEWLINE.split(source)
    begin, end = _branch(roles, lines, role, besides[0] if besides else _NONE, printing)
    places = next(_reads(syntax, pointer), ())
    if places:
        return min([place for place in places if _is_behind(begin, place) and place < end] or places)
    in_parts = isinstance(messages[index].get("content"), list)
    of_content = pointer.startswith(f"/messages/{index}/content")
    if begin[0] and of_content:
        reads = set(syntax.read_places(_CONTENT))
        inside = [place for place in reads if _is_behind(begin, place) and place < end]
        return min(inside, default=_before(reads, lines, begin) if in_parts else begin)
    if begin[0]:
        return begin
    return _NONE if of_content and not besides else _for_others(roles, lines, besides)


def _is_behind(begin: _Place, place: _Place) -> bool:
    """Whether a place is not before another; where in its line it is may not be known."""
    return place >= begin or (place[0] == begin[0] and not place[1])


def _tag_of(lines: list[str], place: _Place) -> _Place:
    """Where the tag begins that a place is in: what one `if` asks is one question."""
    line, column = place
    text = lines[line - 1][: column - 1] if column else lines[line - 1]
    while (start := max(text.rfind("{%"), text.rfind("{{"))) < 0 and line > 1:
        line -= 1
        text = lines[line - 1]
    return line, start + 1


def _before(reads: set[_Place], lines: list[str], begin: _Place) -> _Place:
    """The last lines in a row, before a role's branch and no deeper than that, that read content: what takes
    no parts may stand there. The branch if there are none."""
    room = _indentation(lines[begin[0] - 1])
    near = {one[0] for one in reads if one < begin and _indentation(lines[one[0] - 1]) <= room}
    if not near:
        return begin
    last = max(near)
    while last - 1 in near:
        last -= 1
    return min(one for one in reads if one[0] == last)


def _indentation(line: str) -> int:
    """Of a line that begins with a tag; text has none that says anything."""
    tag = line.lstrip()
    return len(line) - len(tag) if tag.startswith("{") else _END


def _for_others(roles: list[RoleLiteral], lines: list[str], besides: Sequence[_Place]) -> _Place:
    """The last question for a role before one of these places, the first for which there is one; else the
    first question, (0, 0) for none."""
    before = ([one.place for one in roles if one.place <= place] for place in besides)
    first = min((one.place for one in roles), default=_NONE)
    last = next((max(places) for places in before if places), first)
    tag = _tag_of(lines, last) if last[0] else _NONE
    return min((one.place for one in roles if tag <= one.place <= last), default=last)


def _branch(
    roles: list[RoleLiteral], lines: list[str], role: str, beside: _Place, printing: list[_Place]
) -> tuple[_Place, _Place]:
    """Between which places a template that asks for this role writes its messages: the question nearest to
    where the message beside it is written, of the variable that is asked most, up to the next for another
    role. Where none is beside it, a question that contents are printed behind goes before one that only looks
    for a message. The whole template if nobody asks, from (0, 0) on."""
    owners = Counter(one.owner for one in roles)
    chain = max(owners, key=owners.__getitem__, default="")
    asked = {one.place for one in roles if one.role == role}
    asked = {one.place for one in roles if one.role == role and one.owner == chain} or asked
    if not asked:
        return _NONE, _LAST
    others = [one.place for one in roles if one.role != role]

    def end_of(begin: _Place) -> _Place:
        tag = _tag_of(lines, begin)
        return min((one for one in others if one > begin and _tag_of(lines, one) != tag), default=_LAST)

    if not beside[0]:
        asked = {one for one in asked if any(one <= place < end_of(one) for place in printing)} or asked
        return min(asked), end_of(min(asked))
    begin = min(asked, key=lambda one: (abs(one[0] - beside[0]), abs(one[1] - beside[1]), one))
    return begin, end_of(begin)


def _reads(syntax: Syntax, pointer: str) -> Iterator[tuple[_Place, ...]]:
    """Places that read a value or what holds it, inside a message. Content is read for every role, so that
    where it is read says nothing by itself."""
    pattern = _pattern(pointer)
    while pattern.count("/") > 1 and pattern != _ANY and not pattern.startswith(_CONTENT):
        places = syntax.read_places(pattern)
        if places:
            yield places
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
