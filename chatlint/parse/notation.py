"""How values are written inside a tool call: notation of members, items and single values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from chatlint.parse import patterns
from chatlint.parse.patterns import Slot
from chatlint.records import dataclass, field, names_of


def check_marks(part: object, names: tuple[str, ...]) -> None:
    """Marks outside calls hold no slot but a counter."""
    for name in names:
        patterns.check(getattr(part, name), f"{type(part).__name__.lower()}.{name}", allowed=(Slot.COUNTER,))


class Encoding(StrEnum):
    """How the text of a value stands for the value."""

    RAW = "raw"
    """The string itself, nothing escaped; other types by the schema, else by what the text looks like."""
    JSON = "json"
    PYTHON = "python"
    """A Python literal: True, None, single quotes."""


@dataclass(frozen=True, slots=True)
class Written:
    """How a value of one JSON type is written: `start`, its text in `encoding`, `end`."""

    start: str = ""
    """Includes what labels the type: ` string="true">`."""
    end: str = ""
    encoding: Encoding = Encoding.RAW

    def __post_init__(self) -> None:
        check_marks(self, ("start", "end"))


@dataclass(frozen=True, slots=True)
class Members:
    """How the members of an object are written with marks: `start`, members, `end`."""

    member: str = "⟨key⟩=⟨value⟩"
    """One member: ⟨key⟩, maybe ⟨key⟩ again (a closing tag), and one ⟨value⟩."""
    separator: str = ""
    """Between two members, "" if nothing is."""
    start: str = ""
    end: str = ""

    def __post_init__(self) -> None:
        allowed = (Slot.KEY, Slot.VALUE, Slot.COUNTER)
        patterns.check(self.member, "members.member", allowed=allowed, once=(Slot.VALUE,))
        check_marks(self, ("separator", "start", "end"))

    @property
    def before_key(self) -> str:
        """The mark before the key; "" if a key stands bare."""
        return patterns.split_at(self.member, Slot.KEY)[0]


@dataclass(frozen=True, slots=True)
class Items:
    """How the items of an array are written with marks: `start`, items, `end`."""

    item: str = "⟨value⟩"
    separator: str = ""
    start: str = ""
    end: str = ""

    def __post_init__(self) -> None:
        patterns.check(self.item, "items.item", allowed=(Slot.VALUE, Slot.COUNTER), once=(Slot.VALUE,))
        check_marks(self, ("separator", "start", "end"))


def json_text() -> Written:
    """A value written as its JSON text, without marks."""
    return Written(encoding=Encoding.JSON)


@dataclass(frozen=True, slots=True)
class Values:
    """How a value of each JSON type is written inside `members`. The default is what most formats do: strings
    raw, everything else as JSON, and nothing in the text to tell them apart."""

    string: Written = field(default_factory=Written)
    integer: Written = field(default_factory=json_text)
    number: Written = field(default_factory=json_text)
    boolean: Written = field(default_factory=json_text)
    null: Written = field(default_factory=json_text)
    array: Written | Items = field(default_factory=json_text)
    """`Items` if arrays have marks of their own; items are values again."""
    object: Written | Members = field(default_factory=json_text)
    """`Members` if nested objects have marks of their own; their values are values again."""

    @property
    def by_type(self) -> Mapping[str, Written | Items | Members]:
        """JSON type → how it is written, strings first."""
        return {slot: getattr(self, slot) for slot in names_of(self)}

    @property
    def self_typed(self) -> bool:
        """Whether the text of a value tells its type, so that no schema is needed."""
        written = [way for way in self.by_type.values() if isinstance(way, Written)]
        if all(way.encoding is not Encoding.RAW for way in written):
            return True
        return any((way.start, way.end) != (self.string.start, self.string.end) for way in written)
