"""Records do what the standard library's dataclasses do."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import inspect
import pickle
import pprint
import subprocess
import sys
from collections.abc import Callable

import pytest

from chatlint import records
from chatlint.records import dataclass, is_record, names_of, replace


def classes(
    decorator: Callable[..., Callable[[type], type]], field: Callable[..., object]
) -> dict[str, type]:
    """The same classes by one decorator or another."""

    @decorator(frozen=True, slots=True)
    class Point:
        """A place."""

        x: int
        y: float = 0.0
        tags: list[str] = field(default_factory=list, repr=False)
        seen: int = field(default=0, compare=False)

    @decorator(frozen=True, slots=True)
    class One:
        x: float

    @decorator(frozen=True, slots=True)
    class Empty:
        """Nothing."""

    @decorator(slots=True)
    class Counter:
        """It changes."""

        count: int = 0
        doubled: int = 0

        def __post_init__(self) -> None:
            self.doubled = 2 * self.count

    @decorator(frozen=True, slots=True, init=False)
    class Own:
        """With a constructor and a text of its own."""

        text: str

        def __init__(self, text: str) -> None:
            object.__setattr__(self, "text", text.upper())

        def __repr__(self) -> str:
            return f"<{self.text}>"

        def __hash__(self) -> int:
            return 7

    return {made.__name__: made for made in (Point, One, Empty, Counter, Own)}


OURS = classes(dataclass, records.field)
THEIRS = classes(dataclasses.dataclass, dataclasses.field)
for name, made in OURS.items():  # where pickle looks for them
    made.__module__, made.__qualname__ = __name__, name
    globals()[name] = made

NAN = float("nan")
CALLS = [
    ("Point", (1,), {}),
    ("Point", (1, 2.5, ["a"]), {"seen": 3}),
    ("Point", (), {"y": 1, "x": 2}),
    ("One", (NAN,), {}),
    ("One", ("text",), {}),
    ("Empty", (), {}),
    ("Counter", (3,), {}),
    ("Counter", (), {}),
    ("Own", ("own",), {}),
]
WRONG = [("Point", (), {}), ("Point", (1, 2, [], 4, 5), {}), ("Empty", (1,), {}), ("One", (1,), {"z": 1})]


def outcome(act: Callable[[], object]) -> object:
    """What comes out, or which exception, in words that do not name the functions."""
    try:
        return act()
    except Exception as error:
        return type(error), str(error).rpartition(".")[2]


def said(record: object) -> str:
    return repr(record).rpartition("<locals>.")[2]


@pytest.mark.parametrize(("name", "values", "named"), CALLS)
def test_a_record_is_made_shown_and_hashed_as_a_dataclass(name, values, named):
    ours, theirs = OURS[name](*values, **named), THEIRS[name](*values, **named)
    assert said(ours) == said(theirs)
    assert outcome(lambda: hash(ours)) == outcome(lambda: hash(theirs))
    assert [getattr(ours, one.name) for one in dataclasses.fields(ours)] == [
        getattr(theirs, one.name) for one in dataclasses.fields(theirs)
    ]


@pytest.mark.parametrize(("name", "values", "named"), WRONG)
def test_wrong_arguments_are_refused_in_the_same_words(name, values, named):
    ours, theirs = (outcome(lambda made=made: made[name](*values, **named)) for made in (OURS, THEIRS))
    assert ours == theirs
    assert ours[0] is TypeError


@pytest.mark.parametrize("first", CALLS)
@pytest.mark.parametrize("second", CALLS)
def test_records_are_equal_when_dataclasses_are(first, second):
    ours, theirs = (
        [made[name](*values, **named) for name, values, named in (first, second)] for made in (OURS, THEIRS)
    )
    assert (ours[0] == ours[1]) is (theirs[0] == theirs[1])
    assert (ours[0] != ours[1]) is (theirs[0] != theirs[1])
    assert ours[0] != "something else"


def parameters(made: type) -> list[tuple[str, object, object, str]]:
    signature = inspect.signature(made)
    assert signature.return_annotation in (None, "None")
    return [(one.name, one.kind, one.annotation, repr(one.default)) for one in signature.parameters.values()]


@pytest.mark.parametrize("name", OURS)
def test_a_class_looks_like_a_dataclass(name):
    ours, theirs = OURS[name], THEIRS[name]
    assert parameters(ours) == parameters(theirs)
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__slots__ == theirs.__slots__
    assert dataclasses.is_dataclass(ours)
    assert repr(ours.__dataclass_params__) == repr(theirs.__dataclass_params__)
    assert ours.__init__.__module__ == theirs.__init__.__module__


def more(base: type, *, frozen: bool) -> type:
    """A standard dataclass with a field more, where pickle finds it."""
    made = type("More", (base,), {"__annotations__": {"more": "int"}, "more": 5, "__module__": __name__})
    return globals().setdefault("More", dataclasses.dataclass(frozen=frozen)(made))


@pytest.mark.parametrize(("name", "frozen"), [("Point", False), ("Counter", True)])
def test_a_dataclass_is_frozen_as_the_record_it_inherits_from(name, frozen):
    said = [outcome(lambda made=made: more(made[name], frozen=frozen)) for made in (OURS, THEIRS)]
    assert said[0] == said[1]
    assert said[0][0] is TypeError


def test_a_dataclass_inherits_from_a_record():
    made = more(OURS["Point"], frozen=True)(1, tags=["a"], more=7)
    assert repr(made) == "More(x=1, y=0.0, seen=0, more=7)"
    assert made == replace(replace(made, more=8), more=7)
    for copied in (pickle.loads(pickle.dumps(made)), copy.copy(made), dataclasses.replace(made)):
        assert (copied, copied.tags, copied.more) == (made, ["a"], 7)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.more = 1


def test_frozen_is_frozen_and_others_are_not():
    point, counter = OURS["Point"](1), OURS["Counter"](1)
    counter.count = 5
    assert counter.count == 5
    for name in ("x", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(point, name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(point, name)
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


@pytest.mark.parametrize(("name", "values", "named"), CALLS)
def test_records_are_copied_replaced_and_pickled(name, values, named):
    record = OURS[name](*values, **named)
    for made in (pickle.loads(pickle.dumps(record)), copy.copy(record)):
        assert type(made) is type(record)
        assert said(made) == said(record)
    changes = {"x": 9} if name == "Point" else {}
    assert said(replace(record, **changes)) == said(dataclasses.replace(record, **changes))
    if name == "Point":
        assert replace(record, x=9).x == 9
        assert dataclasses.asdict(record) == dataclasses.asdict(THEIRS[name](*values, **named))


def test_error_for_a_change_of_what_there_is_not():
    ours, theirs = (
        outcome(lambda made=made, way=way: way(made["One"](1.0), z=2))
        for made, way in ((OURS, replace), (THEIRS, dataclasses.replace))
    )
    assert ours == theirs
    assert ours[0] is TypeError


def test_records_are_told_from_other_values():
    assert is_record(OURS["One"](1.0))
    assert is_record(OURS["One"])
    assert not is_record(THEIRS["One"](1.0))
    assert names_of(OURS["Point"]) == names_of(OURS["Point"](1)) == ("x", "y", "tags", "seen")


def test_a_default_list_is_made_for_each():
    assert OURS["Point"](1).tags is not OURS["Point"](1).tags


def test_a_record_that_holds_itself_is_shown():
    point = OURS["One"](0.0)
    object.__setattr__(point, "x", [point])
    assert said(point) == "One(x=[...])"


def test_without_slots_there_is_no_record():
    with pytest.raises(TypeError, match="slots"):
        dataclass(frozen=True)(type("Loose", (), {"__annotations__": {"x": "int"}}))


@pytest.mark.parametrize("name", OURS)
def test_dataclasses_knows_the_same_of_the_fields(name):
    ours, theirs = (made[name].__dataclass_fields__ for made in (OURS, THEIRS))
    assert {key: repr(one) for key, one in ours.items()} == {key: repr(one) for key, one in theirs.items()}
    assert "Point(x=1, y=0.0" in pprint.pformat(OURS["Point"](1))


@pytest.mark.parametrize(
    ("annotations", "defaults", "wrong"),
    [
        ({"x": "ClassVar[int]"}, {}, TypeError),
        ({"x": "InitVar[int]"}, {}, TypeError),
        ({"x": "list[int]"}, {"x": []}, ValueError),
        ({"x": "list[int]"}, {"x": records.field(default_factory=list)}, None),
    ],
)
def test_what_no_record_can_have(annotations, defaults, wrong):
    cls = type("Odd", (), {"__annotations__": annotations, **defaults})
    with pytest.raises(wrong) if wrong else contextlib.nullcontext():
        dataclass(slots=True)(cls)


def test_a_record_adds_no_fields_to_another():
    with pytest.raises(TypeError, match="adds no fields"):
        dataclass(slots=True)(type("More", (OURS["One"],), {"__annotations__": {"y": "int"}}))


def test_constructors_wait_until_they_are_needed():
    code = (
        "from chatlint.text import Computed, Special\n"
        "from chatlint.records import _Constructor\n"
        "waits = [isinstance(vars(made)['__init__'], _Constructor) for made in (Computed, Special)]\n"
        "Special('bos_token')\n"
        "print(waits, isinstance(vars(Special)['__init__'], _Constructor))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[True, True] False\n"
