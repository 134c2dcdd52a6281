"""How turns and messages end.

Theory of operation. What stands behind the last part of a turn, without that part's own closer, is the end
of the turn; its first tag is the mark a model writes there. A turn that is last and one that a user follows
may end differently; behind the history's turn the next message begins, so there only a tag that does not
begin a header counts. A mark that stands where a further message of the same turn follows ends a message,
not the turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatlint.infer.gaps import Gap, Kind, Opening
from chatlint.infer.markers import atoms, is_tag, mirrored_end


def end_marks(
    tails: Iterable[tuple[Gap, str]], opening: Opening, known: Sequence[str] = (), between: Sequence[str] = ()
) -> tuple[str, ...]:
    """The marks that end turns, from what follows their last parts; those of last turns first.

    `known` are closers of parts: where a turn ends with a tag that one of them begins with, the last tag is
    the mark that ends it, and what stands before is another. `between` are marks before further messages of
    a turn.
    """
    found: dict[str, None] = {}
    for gap, text in sorted(tails, key=lambda tail: not tail[0].last):
        if any(text.lstrip().startswith(mark) for mark in found):
            continue
        mark = first_mark(text)
        if not mark or (not gap.last and (mark in between or not _is_next(mark, opening))):
            continue
        if any(closer.lstrip().startswith(mark) for closer in known):
            run = _tag_run(text)
            mark = atoms(run)[-1] if run else ""
            rest = run.removesuffix(mark)
            found |= dict.fromkeys(one for one in (mark, rest.rstrip()) if one and one not in between)
        else:
            found.setdefault(mark)
    return tuple(found)


def _is_next(mark: str, opening: Opening) -> bool:
    """Whether a mark behind a turn of the history can be the turn's end: a tag that begins no header."""
    return is_tag(atoms(mark)[0]) and not opening.header.strip().startswith(mark)


def _tag_run(text: str) -> str:
    """A text without whitespace at its ends, up to its last tag."""
    pieces = atoms(text.strip())
    last = max((index for index, atom in enumerate(pieces) if is_tag(atom)), default=-1)
    return "".join(pieces[: last + 1])


def first_mark(text: str) -> str:
    """The first tag of a text that begins with one (after whitespace); else its first line, if it has one."""
    stripped = text.lstrip()
    pieces = atoms(stripped)
    if not pieces:
        return ""
    if is_tag(pieces[0]):
        return pieces[0]
    tagged = next((index for index, atom in enumerate(pieces) if is_tag(atom)), None)
    return "".join(pieces[:tagged]).strip() if tagged else stripped.split("\n", 1)[0].strip()


def message_ends(
    gaps: Sequence[Gap], opening: Opening, between_calls: str, thought: str = ""
) -> tuple[str, ...]:
    """Marks before a header inside a turn: they end a message while the turn goes on. `between_calls` is
    what stands before the header of a further call; what mirrors `thought`, the opener of reasoning, closes
    that and nothing more."""
    found: dict[str, None] = {first_mark(between_calls): None}
    for gap in gaps:
        if gap.before is Kind.START or gap.after is Kind.END or not opening.header.strip():
            continue
        if opening.header in gap.text:
            found.setdefault(first_mark(gap.text[: gap.text.index(opening.header)]))
    return tuple(mark for mark in found if mark and mirrored_end(thought, mark) < 0)
