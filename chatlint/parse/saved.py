"""Frozen dataclasses to plain JSON and back, strictly: what cannot be read is refused with its place."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

from chatlint.conversation import JSON
from chatlint.errors import UsageError
from chatlint.records import is_record, names_of

T = TypeVar("T")


def to_dict(thing: object) -> dict[str, JSON]:
    """A dataclass as a JSON object: every field, under its name."""
    return {name: plain(getattr(thing, name)) for name in _NAMES[type(thing)]}


class _Names(dict[type, tuple[str, ...]]):
    """The fields of a dataclass."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        self[kind] = names = names_of(kind)
        return names


_NAMES = _Names()


def plain(value: object) -> JSON:
    """`value` as plain JSON: a dataclass as an object of its fields, a tuple as a list. Raises UsageError for
    what is none of it."""
    # What reports hold most comes first: they have thousands of values.
    if value is None or type(value) in _ATOMS:
        return value  # type: ignore[return-value]
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, (dict, Mapping)):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, StrEnum):
        return value.value
    if is_record(value):
        return to_dict(value)
    if isinstance(value, bool | int | float | str):
        return value
    raise UsageError(f"cannot save {value!r}: it is not JSON")


_ATOMS = frozenset((str, int, bool, float))


def mapping(value: object, place: str) -> Mapping[str, JSON]:
    """`value`, if it is a JSON object; else UsageError."""
    if not isinstance(value, Mapping):
        raise UsageError(f"{place}: expected an object, found {_kind(value)}")
    return value


def from_dict(cls: type[T], data: Mapping[str, JSON], place: str) -> T:
    """An instance of a dataclass from what `to_dict` made; fields left out take their defaults.

    Raises UsageError for unknown fields, wrong types, and whatever the class itself refuses.
    """
    known = _hints(cls)  # type: ignore[arg-type]
    unknown = [name for name in data if name not in known]
    if unknown:
        raise UsageError(f"{place}: unknown field {unknown[0]!r}", hint=f"known are {', '.join(known)}")
    try:
        return cls(**{name: _read(known[name], value, f"{place}.{name}") for name, value in data.items()})
    except UsageError as error:
        if error.message.startswith(place.partition(".")[0] + "."):
            raise
        raise UsageError(f"{place}: {error.message}", hint=error.hint) from None


@cache
def _hints(cls: object) -> dict[str, object]:
    hints = get_type_hints(cls)
    return {name: hints[name] for name in names_of(cls)}


def _read(kind: object, value: JSON, place: str) -> object:
    """`value` as the annotation `kind` has it."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _read_union(get_args(kind), value, place)
    if origin is tuple:
        return _read_tuple(get_args(kind), value, place)
    if origin is not None:
        _, item = get_args(kind)
        return {key: _read(item, part, f"{place}.{key}") for key, part in mapping(value, place).items()}
    if isinstance(kind, type) and is_record(kind):
        return from_dict(kind, mapping(value, place), place)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _read_enum(kind, value, place)
    if kind in (str, bool) and isinstance(value, kind):
        return value
    if kind in (str, bool):
        raise UsageError(
            f"{place}: expected a {'string' if kind is str else 'boolean'}, found {_kind(value)}"
        )
    return value


def _read_union(kinds: tuple[object, ...], value: JSON, place: str) -> object:
    """Of several dataclasses the first that has all the fields; JSON itself stays as it is."""
    if value is None and type(None) in kinds:
        return None
    classes = [kind for kind in kinds if isinstance(kind, type) and is_record(kind)]
    if not classes:
        return value
    given = set(mapping(value, place))
    fitting = [kind for kind in classes if given <= set(_hints(kind))]
    return from_dict((fitting or classes)[0], mapping(value, place), place)


def _read_tuple(kinds: tuple[object, ...], value: JSON, place: str) -> tuple[object, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise UsageError(f"{place}: expected an array, found {_kind(value)}")
    if kinds[-1] is Ellipsis:
        return tuple(_read(kinds[0], item, f"{place}[{i}]") for i, item in enumerate(value))
    if len(value) != len(kinds):
        raise UsageError(f"{place}: expected {len(kinds)} items, found {len(value)}")
    return tuple(
        _read(kind, item, f"{place}[{i}]") for i, (kind, item) in enumerate(zip(kinds, value, strict=True))
    )


def _read_enum(kind: type[StrEnum], value: JSON, place: str) -> StrEnum:
    for member in kind:
        if value == member.value:
            return member
    raise UsageError(
        f"{place}: expected one of {', '.join(member.value for member in kind)}, found {value!r}"
    )


def _kind(value: object) -> str:
    """What a JSON value is, for an error message."""
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string"}
    default = "an object" if isinstance(value, Mapping) else "an array"
    return names.get(type(value), default)
