"""`dataclass` as in the standard library, at a tenth of its price.

    from chatlint.records import dataclass

The standard decorator compiles six methods for every class when its module is imported, half a millisecond in
all, and a command imports 170 classes. Here methods that need no code of their own are shared, and
constructors are made when they are first looked up, from code that those of as many fields have in common.
What classes do is the same (tests compare them), and so is what type checkers see. `field`, `replace` and
`fields` are those of `dataclasses`. Only classes with slots are made, with the options that are used here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, init: bool = True
    ) -> type | Callable[[type], type]:
        """A class with slots as `dataclasses.dataclass` makes it."""
        if not slots:
            raise TypeError("a record has slots: @dataclass(slots=True)")

        def made(cls: type) -> type:
            methods = {**_FROZEN, **_METHODS} if frozen else _METHODS
            for name in methods.keys() - cls.__dict__.keys():
                setattr(cls, name, methods[name])
            if init and "__init__" not in cls.__dict__:
                cls.__init__ = _Constructor()
            if cls.__dict__.get("__hash__") is None:
                cls.__hash__ = _hash if frozen else None
            # Without a docstring the standard decorator writes one, from the constructor.
            cls.__doc__ = cls.__doc__ or cls.__name__
            return dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)

        return made if cls is None else made(cls)


class _Constructor:
    """Stands for `__init__` until that is looked up."""

    def __set_name__(self, owner: type, name: str) -> None:
        # A class with slots is made anew from the decorated one; that is when this is called.
        self._owner = owner

    def __get__(self, instance: object, owner: type) -> object:
        made = _constructor(self._owner)
        setattr(self._owner, "__init__", made)  # noqa: B010
        return made if instance is None else made.__get__(instance)


def _constructor(owner: type) -> FunctionType:
    """`__init__` of a class: code that fills as many slots, with its names, and its defaults: MISSING where a
    factory makes them."""
    fields = dataclasses.fields(owner)
    code = _filling(len(fields), hasattr(owner, "__post_init__"))
    names = {f"set{index}": _setter(owner, field) for index, field in enumerate(fields)}
    made = FunctionType(
        code.replace(co_varnames=("self", *(field.name for field in fields))),
        names,
        argdefs=tuple(field.default for field in fields if not _is_required(field)),
    )
    made.__qualname__ = f"{owner.__qualname__}.__init__"
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


def _setter(owner: type, field: dataclasses.Field[object]) -> Callable[[object, object], None]:
    fill: Callable[[object, object], None] = getattr(owner, field.name).__set__
    new = field.default_factory
    if new is dataclasses.MISSING:
        return fill
    return lambda record, value: fill(record, new() if value is dataclasses.MISSING else value)


def _is_required(field: dataclasses.Field[object]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


class _Values(dict[type, Callable[[object], tuple[object, ...]]]):
    """What two records of a class are compared by, and what is hashed, as a function for each class."""

    def __missing__(self, owner: type) -> Callable[[object], tuple[object, ...]]:
        names = [field.name for field in dataclasses.fields(owner) if field.compare]
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
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in _fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _setattr(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: object) -> list[object]:
    return [getattr(self, field.name) for field in _fields(self)]


def _setstate(self: object, state: list[object]) -> None:
    for fill, value in zip(_FILLS[type(self)], state, strict=True):
        fill(self, value)


class _Fills(dict[type, tuple[Callable[[object, object], None], ...]]):
    """What fills the slots of a class, in the order of its fields."""

    def __missing__(self, owner: type) -> tuple[Callable[[object, object], None], ...]:
        fields = dataclasses.fields(owner)
        self[owner] = made = tuple(getattr(owner, field.name).__set__ for field in fields)
        return made


_FILLS = _Fills()


def _fields(record: object) -> tuple[dataclasses.Field[object], ...]:
    return dataclasses.fields(record)  # type: ignore[arg-type]


_METHODS = {"__eq__": _eq, "__repr__": _repr}
_FROZEN = {
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}
