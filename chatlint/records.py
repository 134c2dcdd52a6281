"""`dataclass` as in the standard library, at a tenth of its price.

    from chatlint.records import dataclass

The standard decorator compiles six methods for every class when its module is imported: half a
millisecond each and together more than anything else that a command imports. Here methods that need no code
of their own are shared by all classes, and a constructor is compiled when it is first looked up. What classes
do is the same (tests compare them), and so is what type checkers see. `field`, `replace` and `fields` are
those of `dataclasses`. Only classes with slots are made, with the options that are used here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from types import FunctionType
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
    """`__init__` of a class, as code that fills its slots."""
    parameters, body = ["self"], []
    names: dict[str, object] = {"_missing": dataclasses.MISSING}
    for index, field in enumerate(dataclasses.fields(owner)):
        name = value = field.name
        names[f"_set{index}"] = getattr(owner, name).__set__
        if field.default is not dataclasses.MISSING:
            names[f"_default{index}"] = field.default
            name += f"=_default{index}"
        elif field.default_factory is not dataclasses.MISSING:
            names[f"_new{index}"] = field.default_factory
            value = f"_new{index}() if {name} is _missing else {name}"
            name += "=_missing"
        parameters.append(name)
        body.append(f" _set{index}(self, {value})\n")
    if hasattr(owner, "__post_init__"):
        body.append(" self.__post_init__()\n")
    exec(f"def __init__({', '.join(parameters)}):\n{''.join(body) or ' pass'}", names)
    made = names["__init__"]
    assert isinstance(made, FunctionType)
    made.__qualname__ = f"{owner.__qualname__}.__init__"
    return made


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
    for field, value in zip(_fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


def _fields(record: object) -> tuple[dataclasses.Field[object], ...]:
    return dataclasses.fields(record)  # type: ignore[arg-type]


_METHODS = {"__eq__": _eq, "__repr__": _repr}
_FROZEN = {
    "__setattr__": _setattr,
    "__delattr__": _delattr,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}
