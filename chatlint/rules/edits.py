"""Changes to a template that may mend a cause, as edits of its text.

Theory of operation. A rule that knows a mechanical fix gives its cause a `Mending`: ways to change the
source, the likeliest first, found from the tokens of its tags alone. They are guesses, and may be many:
`chatlint.fix` applies one only after it has rendered everything again, and seen that the cause is gone, that
nothing new is wrong, and that every case that passed gives the same prompt. So a way need not be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from chatlint.records import dataclass

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
    from chatlint.render.tokens import Chain, Tag


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters `start` to `end` of the normalised source give way to `text`."""

    start: int
    end: int
    text: str


Edits: TypeAlias = tuple[Edit, ...]
Ways: TypeAlias = "Callable[[str], Iterable[Edits]]"


@dataclass(frozen=True, slots=True)
class Mending:
    """How a cause may be mended: `ways` from a normalised source to edits, and `shows`, which tells whether
    an observation shows the fault. Those, and cases that broke, may change; all others must stay.

    `alike`: an axis, and values of it that mean the same, the first of them written well. A case that changes
    must become what the same case with that value is. `place`: what a source must have for any way."""

    ways: Ways
    shows: Callable[[Observation], bool]
    alike: tuple[str, tuple[str, ...]] | None = None
    place: str = ""


def edited(source: str, edits: Iterable[Edit]) -> str:
    """The source with edits made. They must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        source = source[: edit.start] + edit.text + source[edit.end :]
    return source


def several(*ways: Ways) -> Ways:
    """All of these, one after the other."""
    return lambda source: (edits for way in ways for edits in way(source))


def _together(edits: Iterable[Edit]) -> Iterator[Edits]:
    """Everywhere at once, then place by place: the first is right more often, the second smaller."""
    found = tuple(edits)
    if len(found) > 1:
        yield found
    yield from ((edit,) for edit in found)


# -- where values are used -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """A chain whose value is used, not tested."""

    source: str
    tag: Tag
    chain: Chain

    @property
    def text(self) -> str:
        return self._written(self.chain.last)

    @property
    def next(self) -> str:
        return self.tag.near(self.chain.last + 1)

    @property
    def filter(self) -> str:
        """The filter that comes first, "" if none does."""
        return self.tag.near(self.chain.last + 2) if self.next == "|" else ""

    @property
    def filtered(self) -> str:
        """It with its first filter."""
        return self._written(self._filter_end())

    @property
    def printed(self) -> bool:
        """Whether it is printed as it is, alone or between other texts."""
        before = self.tag.near(self.chain.first - 1)
        return self.tag.prints and before in ("", "+", "~", "(") and self.next in ("", "+", "~", ")", "if")

    def insert(self, after: str) -> Edit:
        """Words right behind it, which bind as a filter does."""
        end = self.tag.tokens[self.chain.last].end
        return Edit(end, end, after)

    def around(self, before: str, after: str, *, filtered: bool = False) -> Edit:
        """Words around it (and its first filter), in brackets where more stands around them."""
        last = self._filter_end() if filtered else self.chain.last
        tokens = self.tag.tokens
        whole = self.chain.first == self.tag.value and last == len(tokens) - 1
        alone = whole and self.tag.word in ("", "set")
        enclosed = self.tag.near(self.chain.first - 1) in ("(", ",") and self.tag.near(last + 1) in (")", ",")
        opened, closed = ("", "") if alone or enclosed else ("(", ")")
        text = opened + before + self._written(last) + after + closed
        return Edit(tokens[self.chain.first].start, tokens[last].end, text)

    def _filter_end(self) -> int:
        name = self.chain.last + 2
        return self.tag.close(name + 1) or name if self.tag.near(name + 1) == "(" else name

    def _written(self, last: int) -> str:
        return self.source[self.tag.tokens[self.chain.first].start : self.tag.tokens[last].end]


_TESTS = frozenset({"is", "in", "==", "!=", "<", ">", "<=", ">=", "not", "="})
_BEFORE_TESTS = frozenset({"if", "elif", "and", "or", "not", "==", "!=", "<", ">", "<=", ">="})


def _places(source: str) -> Iterator[_Place]:
    """Chains whose value is used."""
    for tag in _tags(source):
        for chain in tag.chains:
            if not chain.called and not _tested(tag, chain):
                yield _Place(source, tag, chain)


def _tested(tag: Tag, chain: Chain) -> bool:
    before, after = tag.near(chain.first - 1), tag.near(chain.last + 1)
    looped = tag.word == "for" and chain.first == tag.value
    return before in _BEFORE_TESTS or (before == "in" and not looped) or after in _TESTS


def _asked(source: str, member: str) -> list[_Place]:
    """Where the value of a member is used, searched, or asked to do something."""
    return [
        _Place(source, tag, chain)
        for tag in _tags(source)
        for whole in tag.chains
        if (chain := whole.upto(member)) and (not _tested(tag, whole) or tag.near(chain.first - 1) == "in")
    ]


def _members(source: str, member: str) -> list[_Place]:
    """Where the value of a member is used, be it through a variable that was set to it."""
    places = list(_places(source))
    names = _set_to(places, lambda chain: chain.names[-1] == member)
    return [one for one in places if one.chain.names[-1] == member or one.chain.names in names]


def _set_to(places: Iterable[_Place], fits: Callable[[Chain], bool]) -> set[tuple[str, ...]]:
    """Names of variables that are set to a chain, or loop over it."""
    first = (one for one in places if one.chain.first == one.tag.value and one.tag.near(2) in ("=", "in"))
    return {(one.tag.near(1),) for one in first if one.tag.word in ("set", "for") and fits(one.chain)}


# -- values --------------------------------------------------------------------------------------------------


def with_default(member: str, default: str) -> Ways:
    """`x.member` becomes `x.member or default` wherever its value is used, searched, or asked to do
    something."""

    def ways(source: str) -> Iterator[Edits]:
        found = [one for one in _asked(source, member) if one.next != "or"]
        return _together(one.around("", f" or {default}") for one in found)

    return ways


def text_or_json(member: str) -> Ways:
    """`x.member | tojson` and `x.member` write a text as it is, and all else as JSON."""

    def ways(source: str) -> Iterator[Edits]:
        found = _members(source, member)
        encoded = [one for one in found if one.filter == "tojson"]
        printed = [one for one in found if one.printed]
        for test in ("{0} if {0} is string else ", "{0} if {0} is string and {0} else "):
            yield from _together(one.around(test.format(one.text), "", filtered=True) for one in encoded)
            yield from _together(one.around(test.format(one.text), " | tojson") for one in printed)

    return ways


def text_or_json_inside(owner: str, member: str) -> Ways:
    """`x.owner | tojson` writes an object that is the text of its member as it is, not as a JSON string."""

    def ways(source: str) -> Iterator[Edits]:
        found = [one for one in _members(source, owner) if one.filter == "tojson"]
        return _together(
            one.around("", _unquoted(f"{one.text}.{member}", one), filtered=True) for one in found
        )

    return ways


def _unquoted(value: str, whole: _Place) -> str:
    encoded = f"{value} | tojson"
    return (
        f" | replace({encoded}, {value}) if {value} is string and {value}[:1] == '{{' else {whole.filtered}"
    )


def as_json(*roots: str) -> Ways:
    """What is printed as it is, and reads one of these variables or an element of it, is encoded."""

    def ways(source: str) -> Iterator[Edits]:
        places = list(_places(source))
        names: set[tuple[str, ...]] = {(root,) for root in roots}

        def known(chain: Chain) -> bool:
            return chain.names[:1] in names

        for _ in range(3):  # a loop over a loop's variable
            names |= _set_to(places, known)
        found = [one for one in places if one.chain.names[:1] in names and one.printed]
        return _together(one.insert(" | tojson") for one in found)

    return ways


def joined_parts(member: str) -> Ways:
    """`x.member` that is a list of texts is written as they are, one after the other. A list of anything else
    stays what it was: printed, or refused."""

    def ways(source: str) -> Iterator[Edits]:
        return _together(
            one.around(
                "",
                f" | map(attribute='text') | join if {one.text} is iterable and {one.text} is not string "
                f"and {one.text} is not mapping and {one.text} | selectattr('type', 'equalto', 'text') "
                f"| list | length == {one.text} | length else {one.text}",
            )
            for one in _asked(source, member)
        )

    return ways


def pairs_by_filter(source: str) -> Iterator[Edits]:
    """`x.items()` becomes `x | items`."""
    calls = [
        (tag, chain)
        for tag in _tags(source)
        for chain in tag.chains
        if chain.called and chain.names[-1] == "items" and tag.near(chain.last + 2) == ")"
    ]
    return _together(
        Edit(tag.tokens[chain.last - 1].start, tag.tokens[chain.last + 2].end, " | items")
        for tag, chain in calls
    )


_METHODS = frozenset({"items", "keys", "values", "get", "pop", "update", "copy", "clear"})


def members_in_brackets(source: str) -> Iterator[Edits]:
    """`x.items` that is not called becomes `x['items']`."""
    return _together(
        Edit(tag.tokens[last - 1].start, tag.tokens[last].end, f"['{chain.names[-1]}']")
        for tag in _tags(source)
        for chain in tag.chains
        if (last := chain.last) and not chain.called and chain.names[-1] in _METHODS
        if tag.near(last - 1) == "."
    )


# -- tests ---------------------------------------------------------------------------------------------------


def by_truth(*names: str) -> Ways:
    """`'x' in y`, `x is defined` and `x is not none` ask whether there is anything in x."""

    def ways(source: str) -> Iterator[Edits]:
        tags = _tags(source)
        return _together(
            edit for tag in tags for edit in (*_defined(source, tag, names), *_contained(source, tag, names))
        )

    return ways


_THERE = {("defined",): "", ("not", "none"): "", ("not", "None"): ""}
_ABSENT = {("not", "defined"): "not ", ("none",): "not ", ("None",): "not ", ("undefined",): "not "}
_WORDS_OF_TESTS = {**_THERE, **_ABSENT}


def _defined(source: str, tag: Tag, names: tuple[str, ...]) -> Iterator[Edit]:
    for chain in tag.chains:
        end = chain.last + 2 + (tag.near(chain.last + 2) == "not")
        test = tuple(tag.near(place) for place in range(chain.last + 2, end + 1))
        if chain.names[-1] in names and tag.near(chain.last + 1) == "is" and test in _WORDS_OF_TESTS:
            member = source[tag.tokens[chain.first].start : tag.tokens[chain.last].end]
            twice = test in _ABSENT and tag.near(chain.first - 1) == "not"
            start = tag.tokens[chain.first - twice].start
            text = member if twice else f"{_WORDS_OF_TESTS[test]}{member}"
            yield Edit(start, tag.tokens[end].end, text)


def _contained(source: str, tag: Tag, names: tuple[str, ...]) -> Iterator[Edit]:
    for chain in tag.chains:
        absent = tag.near(chain.first - 2) == "not"
        place = chain.first - 2 - absent
        name = tag.tokens[place] if place >= 0 else None
        if name and name.kind == "string" and name.text[1:-1] in names and tag.near(chain.first - 1) == "in":
            first, last = tag.tokens[chain.first], tag.tokens[chain.last]
            member = f"{source[first.start : last.end]}.{name.text[1:-1]}"
            yield Edit(name.start, last.end, f"not {member}" if absent else member)


def results_in_own_turns(source: str) -> Iterator[Edits]:
    """A branch for some role, in whose header the role itself is printed, also takes results."""
    tags = _tags(source)
    for number, tag in enumerate(tags):
        for chain in tag.chains if tag.word in ("if", "elif") else ():
            role = tag.tokens[chain.last + 2] if chain.last + 2 < len(tag.tokens) else None
            compared = chain.names[-1] == "role" and tag.near(chain.last + 1) == "=="
            if compared and role and role.kind == "string" and _prints(tags[number + 1 :], "role"):
                yield (Edit(tag.tokens[chain.last + 1].start, role.end, f"in [{role.text}, 'tool']"),)


def _prints(tags: Iterable[Tag], member: str) -> bool:
    """Whether a branch that begins here prints a member."""
    depth = 0
    for tag in tags:
        depth += (tag.word in ("if", "for")) - (tag.word in ("endif", "endfor"))
        if depth < 0 or (depth == 0 and tag.word in ("elif", "else")):
            return False
        if tag.prints and any(chain.names[-1] == member for chain in tag.chains):
            return True
    return False


# -- the generation prompt -----------------------------------------------------------------------------------

_FLAG = "add_generation_prompt"


def appended_prompt(header: str) -> Ways:
    """The assistant's header behind everything, where it is asked for."""

    def ways(source: str) -> Iterator[Edits]:
        block = f"if {_FLAG} %}}{{{{ {_quoted(header)} }}}}{{% endif %}}"
        end = len(source.rstrip())
        yield (Edit(end, end, f"\n{{%- {block}"),)
        yield (Edit(len(source), len(source), f"{{% {block}"),)

    return ways


def prompt_whenever_asked(source: str) -> Iterator[Edits]:
    """`if add_generation_prompt and …` asks for nothing more."""
    return _together(
        Edit(tag.tokens[1].start, tag.tokens[-1].end, _FLAG)
        for tag in _tags(source)
        if tag.word == "if" and len(tag.tokens) > 2 and (_FLAG,) in [chain.names for chain in tag.chains]
    )


def prompt_only_if_asked(offset: int) -> Ways:
    """What stands from an offset to the end is only written where it is asked for."""

    def ways(source: str) -> Iterator[Edits]:
        tag = next((tag for tag in _tags(source) if tag.start <= offset < tag.end), None)
        start = tag.start if tag else offset
        end = len(source.rstrip()) if tag else len(source)
        yield (Edit(start, start, f"{{% if {_FLAG} %}}"), Edit(end, end, "{% endif %}"))

    return ways


_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _quoted(text: str) -> str:
    """A text as Jinja writes it."""
    return "'" + "".join(_ESCAPES.get(character, character) for character in text) + "'"


def _tags(source: str) -> tuple[Tag, ...]:
    """The template's tags. Where no template is mended, nothing that cuts one up is imported."""
    from chatlint.render.tokens import tags_of

    return tags_of(source)
