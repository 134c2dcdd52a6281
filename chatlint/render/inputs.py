"""The conversation, wrapped: every string, number and member's name in it knows its JSON pointer.

Everything is rebuilt from plain JSON types, as transformers does it since 5.23 (`_plain_template_data`), so
that a template never holds an object of the caller.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from chatlint.conversation import Conversation, plain_bytes
from chatlint.limits import NESTING
from chatlint.records import dataclass
from chatlint.render.guard import BoundError
from chatlint.render.rendered import Content
from chatlint.render.runs import DERIVED, ContainerSource, Source
from chatlint.render.trace import Traced, traced
from chatlint.render.trace_numbers import traced_float, traced_int
from chatlint.text import pointer_token

Wrapped: TypeAlias = (
    "bool | int | float | str | list[Wrapped] | tuple[Wrapped, ...] | dict[str, Wrapped] | None"
)
Sources: TypeAlias = dict[int, ContainerSource]
_KEPT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Root:
    """One root of the conversation: what it is, wrapped, and the sources of the lists and objects in it."""

    given: object
    value: Wrapped
    sources: Sources

    def unchanged(self) -> bool:
        """Whether it is still what was given."""
        return (list(self.given) if isinstance(self.given, tuple) else self.given) == self.value


class Inputs:
    """Wraps conversations. Each message, tool and document is wrapped once and kept: equal ones come again
    and again at the same place. So is each conversation of which its content is known."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bytes], tuple[Wrapped, Sources]] = {}
        self._wholes: dict[Content, Mapping[str, Root]] = {}
        self._size = 0

    def wrap(self, conversation: Conversation, content: Content | None = None) -> Mapping[str, Root]:
        """The roots, by name; `tools` and `documents` are there only if they are given.

        Raises BoundError for a conversation that is nested too deep.
        """
        known = self._wholes.get(content) if content else None
        if known is None:
            known = self._wrap(conversation)
            size = sum(map(len, content)) if content else 0
            if content and size < _KEPT_BYTES and _is_plain(conversation):
                self._make_room(size)
                self._wholes[content] = known
        return known

    def _wrap(self, conversation: Conversation) -> Mapping[str, Root]:
        roots = {"messages": self._root("messages", conversation.messages)}
        if conversation.tools is not None:
            roots["tools"] = self._root("tools", conversation.tools)
        if conversation.documents is not None:
            roots["documents"] = self._root("documents", conversation.documents)
        for name, value in conversation.template_kwargs.items():
            roots[name] = wrap_root(name, value)
        return roots

    def _root(self, name: str, given: Sequence[object]) -> Root:
        sources: Sources = {}
        elements: list[Wrapped] = []
        for index, element in enumerate(given):
            wrapped, inside = self._element(f"/{name}/{index}", element)
            elements.append(wrapped)
            sources.update(inside)
        sources[id(elements)] = ContainerSource(f"/{name}")
        return Root(given, elements, sources)

    def _element(self, pointer: str, given: object) -> tuple[Wrapped, Sources]:
        content = plain_bytes(given)
        known = self._kept.get((pointer, content))
        if known is None:
            sources: Sources = {}
            known = _wrap(given, pointer, sources, NESTING - 1), sources
            if content and len(content) < _KEPT_BYTES:
                self._keep(pointer, content, known)
        return known

    def _keep(self, pointer: str, content: bytes, wrapped: tuple[Wrapped, Sources]) -> None:
        self._make_room(len(content))
        self._kept[pointer, content] = wrapped

    def _make_room(self, size: int) -> None:
        if self._size + size > _KEPT_BYTES:
            self.forget()
        self._size += size

    def forget(self) -> None:
        """Drop what is kept: a template changed it."""
        self._kept.clear()
        self._wholes.clear()
        self._size = 0


def _is_plain(conversation: Conversation) -> bool:
    """Whether it is plain data: what has equal bytes is then equal."""
    one = conversation
    return plain_bytes((one.messages, one.tools, one.documents, one.template_kwargs)) != b""


def wrap_root(name: str, value: object, given: object = None) -> Root:
    """One root, wrapped. `given` is kept alive with it."""
    return wrap_at("/" + pointer_token(name), value, given)


def wrap_at(pointer: str, value: object, given: object = None) -> Root:
    """A value that stands at `pointer`, wrapped."""
    sources: Sources = {}
    wrapped = _wrap(value, pointer, sources, NESTING)
    return Root(value if given is None else given, wrapped, sources)


def _wrap(value: object, pointer: str, sources: Sources, depth: int) -> Wrapped:
    kind = type(value)
    if kind is str:
        return traced(value, ((len(value), Source(pointer), 0),) if value else ())  # type: ignore[arg-type]
    if value is None or kind is bool:
        return value  # type: ignore[return-value]
    if isinstance(value, (dict, list, tuple, Mapping)):
        if not depth:
            raise BoundError(f"a conversation nested more than {NESTING} deep")
        return _wrap_container(value, pointer, sources, depth - 1)
    if isinstance(value, str):
        return _wrap(str.__str__(value), pointer, sources, depth)
    if isinstance(value, int):
        return traced_int(int.__int__(value), Source(pointer))
    if isinstance(value, float):
        return traced_float(float.__float__(value), Source(pointer))
    return _wrap(plain_data(value), pointer, sources, depth)


def _wrap_container(
    value: Mapping[object, object] | Sequence[object], pointer: str, sources: Sources, depth: int
) -> Wrapped:
    wrapped: Wrapped
    if isinstance(value, (dict, Mapping)):
        wrapped = {}
        for key, item in value.items():
            member = f"{pointer}/{pointer_token(key if type(key) is str else str(key))}"
            name = wrap_key(key, member)
            if type(item) is str and item:
                wrapped[name] = traced(item, ((len(item), Source(member), 0),))
            else:
                wrapped[name] = _wrap(item, member, sources, depth)
    else:
        elements = [_wrap(item, f"{pointer}/{index}", sources, depth) for index, item in enumerate(value)]
        wrapped = elements if isinstance(value, list) else tuple(elements)
    sources[id(wrapped)] = ContainerSource(pointer)
    return wrapped


def wrap_key(key: object, pointer: str) -> str:
    """The name of the member at `pointer`. Names that are no strings (not JSON, but Python) stay."""
    if not isinstance(key, str):
        return key  # type: ignore[return-value]
    return traced(key, ((len(key), Source(pointer, True), 0),))


def renamed(key: str, name: str) -> Traced:
    """A member's name that the host changed: its characters are derived from the one that was given."""
    runs = getattr(key, "_runs", ())
    return traced(name, ((len(name), runs[0][1], DERIVED),) if runs else ())


def plain_data(value: object) -> object:
    """Something that is no JSON, as `_plain_template_data` of transformers makes it so."""
    if hasattr(value, "dtype") and callable(getattr(value, "item", None)) and not getattr(value, "ndim", 1):
        return value.item()  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump()
    return f"<{type(value).__name__}>"


def changed(given: object, now: object, pointer: str) -> Iterable[str]:
    """Pointers to what differs between a value as it was given and as it is now, the deepest ones that do."""
    if given == now:
        return
    if isinstance(given, Mapping) and isinstance(now, Mapping):
        for key in {**given, **now}:
            there = key in given and key in now
            place = f"{pointer}/{pointer_token(str(key))}"
            if there:
                yield from changed(given[key], now[key], place)
            else:
                yield place
    elif isinstance(given, (list, tuple)) and isinstance(now, (list, tuple)) and len(given) == len(now):
        for index, (before, after) in enumerate(zip(given, now, strict=True)):
            yield from changed(before, after, f"{pointer}/{index}")
    else:
        yield pointer
