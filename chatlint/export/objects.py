"""Members of an object in any order: the part of a grammar that JSON and every notation of members share.

Theory of operation. A context-free grammar has no sets, so what was already written is a state. With few
members each state is a set of keys, every key comes at most once and no required one is left out. With more,
only the required keys are remembered, so that an optional one could come twice, which readers take as the
last one. With more required keys than `TRACKED` those stand in the schema's order, optional ones anywhere
between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from chatlint.export.grammar import NOTHING, Node, Ref, Rules, choice, seq
from chatlint.records import dataclass, field

TRACKED = 4
"""Most keys whose every subset is a state: 16 states."""

State: TypeAlias = tuple[str, ...]
"""The keys that were written, of those that are tracked, in the order of the schema."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What members an object has. `extra` is a member of any other key, None if there is none."""

    members: Mapping[str, Node]
    """Each member whole: key, marks and value."""
    required: tuple[str, ...] = ()
    extra: Node | None = None


@dataclass(slots=True)
class _Walk:
    """The states of one object."""

    rules: Rules
    name: str
    shape: Shape
    separator: Node
    states: dict[tuple[State, bool], Ref] = field(default_factory=dict)

    @property
    def tracked(self) -> tuple[str, ...]:
        every = tuple(self.shape.members)
        return every if len(every) <= TRACKED and self.shape.extra is None else self.shape.required

    @property
    def in_order(self) -> bool:
        """Whether tracked keys must come in the schema's order."""
        return len(self.tracked) > TRACKED

    def complete(self, seen: State) -> bool:
        return set(self.shape.required) <= set(seen)

    def next_keys(self, seen: State) -> list[tuple[Node, State]]:
        """Each member that may come, with the state after it."""
        todo = [key for key in self.tracked if key not in seen]
        todo = todo[:1] if self.in_order else todo
        found = [(self.shape.members[key], self._with(seen, key)) for key in todo]
        found += [(node, seen) for key, node in self.shape.members.items() if key not in self.tracked]
        return [*found, (self.shape.extra, seen)] if self.shape.extra is not None else found

    def _with(self, seen: State, key: str) -> State:
        return tuple(known for known in self.tracked if known == key or known in seen)

    def first(self) -> Node:
        """All members, or none where none is required."""
        options = [seq(node, self.rest(state)) for node, state in self.next_keys(())]
        return choice(*([NOTHING] if self.complete(()) else []), *options)

    def rest(self, seen: State) -> Node:
        """What may follow a member: nothing more, or a separator and another one."""
        known = self.states.get((seen, True))
        if known is None:
            known = self.rules.recursive(f"{self.name}-on", self._on(seen))
        return known

    def _on(self, seen: State) -> Callable[[Ref], Node]:
        def made(own: Ref) -> Node:
            self.states[seen, True] = own
            options = [seq(self.separator, node, self.rest(state)) for node, state in self.next_keys(seen)]
            return choice(*([NOTHING] if self.complete(seen) else []), *options)

        return made


def members_of(rules: Rules, name: str, shape: Shape, separator: Node) -> Node:
    """The members of an object in a row, `separator` between them, without what stands around them all."""
    return _Walk(rules, name, shape, separator).first()
