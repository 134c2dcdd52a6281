"""`dataclass` as in the standard library, at a tenth of its price.

    from chatlint.records import dataclass, field, replace

The standard decorator compiles six methods for every class when its module is imported, half a millisecond in
all, and a command imports 170 classes. Here methods that need no code of their own are shared, and
constructors are made when they are first looked up, from code that those of as many fields have in common.
The standard library's own view of a class is made when it looks, and it is imported when that is.
What classes do is the same (tests compare them), and so is what type checkers see. Only classes with slots
are made, with the options that are used here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, cast


class _Missing:
    """In place of a default that there is not. Who asks for a signature sees it where a factory makes one."""

    def __repr__(self) -> str:
        return "<factory>"


_MISSING = _Missing()


class _Field:
    """A field of which more is said than its type."""

    def __init__(self, default: object, default_factory: object, shown: bool, compared: bool) -> None:
        self.default = default
        self.factory = default_factory
        self.shown = shown
        self.compared = compared

    def as_standard(self) -> object:
        import dataclasses

        given = {"default": self.default, "default_factory": self.factory}
        more = {name: one for name, one in given.items() if one is not _MISSING}
        return dataclasses.field(repr=self.shown, compare=self.compared, **more)  # type: ignore[call-overload]


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:

    def field(
        *,
        default: object = _MISSING,
        default_factory: object = _MISSING,
        repr: bool = True,  # noqa: A002
        compare: bool = True,
    ) -> _Field:
        """A field that has more than a type and a plain default."""
        return _Field(default, default_factory, repr, compare)

    def replace(record: object, /, **changes: object) -> object:
        """A record like this one but for some fields."""
        for name in _all_names(type(record)):
            if name not in changes:
                changes[name] = getattr(record, name)
        return type(record)(**changes)

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, init: bool = True
    ) -> type | Callable[[type], type]:
        """A class with slots as `dataclasses.dataclass` makes it."""
        if not slots:
            raise TypeError("a record has slots: @dataclass(slots=True)")

        def made(cls: type) -> type:
            members = dict(cls.__dict__)
            shape = _Shape(cls, members, frozen, init)
            for name in ("__dict__", "__weakref__", *shape.written):
                members.pop(name, None)
            members = {**(_FROZEN if frozen else _METHODS), **members}
            if init:
                members.setdefault("__init__", _Constructor())
            if members.get("__hash__") is None:
                members["__hash__"] = _hash if frozen else None
            # Without a docstring the standard decorator writes one, from the constructor.
            members["__doc__"] = members.get("__doc__") or cls.__name__
            members["__slots__"] = members["__match_args__"] = shape.names
            members["__dataclass_fields__"], members["__dataclass_params__"] = _AsStandard(), _AsStandard()
            members["__record__"] = shape
            return type(cls)(cls.__name__, cls.__bases__, members)

        return made if cls is None else made(cls)


class _Shape:
    """What a class says of its fields: their names in order, and for some a default or a `field`."""

    def __init__(self, cls: type, members: Mapping[str, object], frozen: bool, init: bool) -> None:
        self.asked = {"frozen": frozen, "init": init}
        self.annotations = cls.__annotations__
        self.names = tuple(self.annotations)
        self.written = {name: members[name] for name in self.names if name in members}
        if hasattr(cls, "__record__"):
            raise TypeError("a record adds no fields to another")
        types = " ".join(map(str, self.annotations.values()))
        if "ClassVar" in types or "InitVar" in types or "KW_ONLY" in types:
            raise TypeError("a record has fields and nothing else")
        if [name for name, default in self.written.items() if type(default).__hash__ is None]:
            raise ValueError("mutable defaults are made by factories: field(default_factory=...)")

    def default(self, name: str) -> object:
        written = self.written.get(name, _MISSING)
        return written.default if isinstance(written, _Field) else written

    def factory(self, name: str) -> Callable[[], object] | None:
        written = self.written.get(name)
        if not isinstance(written, _Field) or written.factory is _MISSING:
            return None
        return cast("Callable[[], object]", written.factory)

    def has_default(self, name: str) -> bool:
        return self.default(name) is not _MISSING or self.factory(name) is not None

    def compared(self) -> list[str]:
        return [name for name in self.names if not (field := self._field(name)) or field.compared]

    def shown(self) -> list[str]:
        return [name for name in self.names if not (field := self._field(name)) or field.shown]

    def _field(self, name: str) -> _Field | None:
        written = self.written.get(name)
        return written if isinstance(written, _Field) else None

    def written_as_standard(self) -> dict[str, object]:
        return {
            name: one.as_standard() if isinstance(one, _Field) else one for name, one in self.written.items()
        }


class _Constructor:
    """Stands for `__init__` until that is looked up."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner

    def __get__(self, instance: object, owner: type) -> object:
        made = _constructor(self._owner)
        setattr(self._owner, "__init__", made)  # noqa: B010
        return made if instance is None else made.__get__(instance)


class _AsStandard:
    """Stands for what `dataclasses` keeps at a class until it looks."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type) -> object:
        import dataclasses

        shape = _shape(self._owner)
        members = {"__annotations__": shape.annotations, "__module__": self._owner.__module__, "__doc__": "-"}
        alike = type(self._owner.__name__, (), {**members, **shape.written_as_standard()})
        standard: type = dataclasses.dataclass(slots=True, **shape.asked)(alike)
        made: object = getattr(standard, self._name)
        setattr(self._owner, self._name, made)
        return made


def _shape(record: object) -> _Shape:
    shape = getattr(record, "__record__")  # noqa: B009
    assert isinstance(shape, _Shape)
    return shape


def _all_names(owner: type) -> tuple[str, ...]:
    """The names of its fields, also of those that a standard dataclass adds to a record."""
    if "__record__" in vars(owner):
        return _shape(owner).names
    import dataclasses

    return tuple(one.name for one in dataclasses.fields(owner))


def is_record(value: object) -> bool:
    """Whether it is a record, or a class of records."""
    return hasattr(value, "__record__")


def names_of(record: object) -> tuple[str, ...]:
    """The names of the fields of a record or a class of records, in order."""
    return _shape(record).names


def _constructor(owner: type) -> FunctionType:
    """`__init__` of a class: code that fills as many slots, with its names, and its defaults: MISSING where a
    factory makes them."""
    shape = _shape(owner)
    code = _filling(len(shape.names), hasattr(owner, "__post_init__"))
    names = {f"set{index}": _setter(owner, name) for index, name in enumerate(shape.names)}
    made = FunctionType(
        code.replace(co_varnames=("self", *shape.names)),
        names,
        argdefs=tuple(shape.default(name) for name in shape.names if shape.has_default(name)),
    )
    made.__qualname__, made.__module__ = f"{owner.__qualname__}.__init__", owner.__module__
    made.__annotations__ = {**shape.annotations, "return": None}
    return made


@cache
def _filling(count: int, more: bool) -> CodeType:
    """Code of a constructor with `count` fields, and `__post_init__` if there is `more`. All are alike but
    for names, and to compile is what costs."""
    values = [f"value{index}" for index in range(count)]
    body = [f" set{index}(self, {value})" for index, value in enumerate(values)]
    body += [" self.__post_init__()"] if more else []
    names: dict[str, object] = {}
    exec("\n".join([f"def __init__({', '.join(['self', *values])}):", *body, " return None"]), names)
    made = names["__init__"]
    assert isinstance(made, FunctionType)
    return made.__code__


def _setter(owner: type, name: str) -> Callable[[object, object], None]:
    fill: Callable[[object, object], None] = getattr(owner, name).__set__
    new = _shape(owner).factory(name)
    if new is None:
        return fill
    return lambda record, value: fill(record, new() if value is _MISSING else value)


class _Values(dict[type, Callable[[object], tuple[object, ...]]]):
    """What two records of a class are compared by, and what is hashed, as a function for each class."""

    def __missing__(self, owner: type) -> Callable[[object], tuple[object, ...]]:
        names = _shape(owner).compared()
        several = attrgetter(*names) if names else lambda _: ()
        self[owner] = made = several if len(names) != 1 else lambda record: (several(record),)
        return made


_VALUES = _Values()


def _eq(self: object, other: object) -> object:
    owner = self.__class__
    if other.__class__ is not owner:
        return NotImplemented
    values = _VALUES[owner]
    return values(self) == values(other)


def _hash(self: object) -> int:
    return hash(_VALUES[self.__class__](self))


@recursive_repr()
def _repr(self: object) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in _shape(type(self)).shown())
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _setattr(self: object, name: str, value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: object) -> list[object]:
    return [getattr(self, name) for name in _all_names(type(self))]


def _setstate(self: object, state: list[object]) -> None:
    for fill, value in zip(_FILLS[type(self)], state, strict=True):
        fill(self, value)


def _put(name: str, record: object, value: object) -> None:
    object.__setattr__(record, name, value)


class _Fills(dict[type, tuple[Callable[[object, object], None], ...]]):
    """What fills the slots of a class, in the order of its fields."""

    def __missing__(self, owner: type) -> tuple[Callable[[object, object], None], ...]:
        own = "__record__" in vars(owner)
        self[owner] = made = tuple(
            getattr(owner, name).__set__ if own else partial(_put, name) for name in _all_names(owner)
        )
        return made


_FILLS = _Fills()


_METHODS = {"__eq__": _eq, "__repr__": _repr}
_FROZEN = {
    **_METHODS,
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}
