"""Turns as blocks and the gaps between them.

Theory of operation. A turn is a sequence of blocks: reasoning, content, calls (all calls together are one
block). What the template wrote between two neighbours is a *gap*: the end of the one and the start of the
other, and between them perhaps an empty block, or a whole new message of the same turn. Gaps of the same
kind from different turns are what marks are learned from.

The gap before the first block begins where the turn does. That is the end of the user's turn, known from a
conversation without an answer; where something else stands there, it is what follows the last header.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto

from chatlint.infer.bodies import Body
from chatlint.infer.markers import atoms, common_prefix, common_suffix, is_tag
from chatlint.infer.turns import Part, Turn
from chatlint.records import dataclass


class Kind(Enum):
    """A block, or one of a turn's edges."""

    START = auto()
    REASONING = auto()
    CONTENT = auto()
    CALLS = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Block:
    """Characters `start` to `end` of a turn's text."""

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A turn with its blocks in order, and the bodies of its calls."""

    turn: Turn
    blocks: tuple[Block, ...]
    bodies: tuple[Body, ...]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(block.kind for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Gap:
    """What stands between two blocks (or an edge) of a turn. `calls`: the turn has calls; `last`: it ends the
    conversation."""

    before: Kind
    after: Kind
    text: str
    case: str
    calls: bool
    last: bool


def sample_of(turn: Turn, bodies: Sequence[Body]) -> Sample:
    """A turn and the blocks in it."""
    blocks = [*_texts(turn, Part.REASONING, Kind.REASONING), *_texts(turn, Part.CONTENT, Kind.CONTENT)]
    if bodies:
        blocks.append(Block(Kind.CALLS, bodies[0].start, bodies[-1].end))
    return Sample(turn, tuple(sorted(blocks, key=lambda block: block.start)), tuple(bodies))


def _texts(turn: Turn, part: Part, kind: Kind) -> Iterable[Block]:
    slots = [slot for slot in turn.slots if slot.part is part]
    return [Block(kind, slots[0].start, slots[-1].end)] if slots else ()


def gaps_of(sample: Sample) -> tuple[Gap, ...]:
    """The gaps of a turn, in order; the first begins where the text before the turn ends (see `started`)."""
    turn, blocks = sample.turn, sample.blocks
    edges = [(Kind.START, 0), *((block.kind, block.end) for block in blocks)]
    starts = [*((block.kind, block.start) for block in blocks), (Kind.END, len(turn.text))]
    return tuple(
        Gap(before, after, turn.literal(end, start), turn.case, bool(sample.bodies), turn.last)
        for (before, end), (after, start) in zip(edges, starts, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Opening:
    """How turns begin: `user_end` is what the template writes after the user's text, `header` what starts an
    assistant turn."""

    user_end: str
    header: str

    def rest(self, lead: str) -> str | None:
        """The gap before a turn's first block without what belongs to the message before and the header;
        None if neither is found in it."""
        if self.header and self.header in lead:
            return lead[lead.rindex(self.header) + len(self.header) :]
        if lead.startswith(self.user_end):
            return lead[len(self.user_end) :].removeprefix(self.header)
        return None


def without_start(gap: str, start: str) -> str:
    """What stands between two messages, without what starts the second: the marks that the first message of a
    conversation starts with, too. "" where they share none."""
    shared = common_suffix((gap, start))
    return gap.removesuffix(shared) if any(map(is_tag, atoms(shared))) else ""


def learn_opening(leads: Sequence[str], user_end: str, prompts: Sequence[str]) -> Opening:
    """The header, from what stands before first blocks (`leads`, from the user's text on) and what generation
    prompts add. One odd turn must not destroy it: if they share nothing, the most numerous kind decides."""
    shared = common_prefix([user_end, *leads]) if leads else user_end
    if shared != user_end and sum(lead.startswith(user_end) for lead in leads) * 2 > len(leads):
        leads = [lead for lead in leads if lead.startswith(user_end)]
        shared = user_end
    starts = [lead[len(shared) :] for lead in leads]
    told = [prompt for prompt in prompts if prompt.strip()]
    header = common_prefix([*starts, *told])
    if not header.strip() and all(text.strip() for text in starts):
        header = common_prefix(starts)
    if not header.strip() and all(text.strip() for text in starts):
        header = common_prefix(_largest(starts, told))
    return Opening(shared, header if header.strip() else "")


def _largest(starts: Sequence[str], prompts: Sequence[str]) -> list[str]:
    """The starts that begin as a generation prompt does, else the largest group that begins alike."""
    groups: dict[str, list[str]] = {}
    for text in (*starts, *prompts):
        groups.setdefault("".join(atoms(text)[:1]), []).append(text)
    for prompt in prompts:
        if len(group := groups["".join(atoms(prompt)[:1])]) > 1:
            return group
    return max(groups.values(), key=len, default=[])
