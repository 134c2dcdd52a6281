"""Markers as sequences of atoms.

Theory of operation. A marker is never cut inside a tag or a word, so all comparing is done on *atoms*: a
whole `<…>` tag (or its unclosed beginning, up to the slot that follows), a `[CAPITALS]` tag, a word, a
digit run, or one other character. `</a><b>` and `</a><|e|>` then share `</a>`, not `</a><`.

Three questions are asked of literals all through inference: what do they begin with in common (a closer),
what do they end with in common (an opener), and does one piece mirror another (an opener and its closer:
equal but for slashes, bars and words of beginning and ending).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import takewhile

from chatlint.lazy import regex

_ATOM = regex(r"<[^<>\n]*>|<[^<>\n]*\Z|\[/?[A-Z][A-Z_ ]*\]|[^\W\d_]+|\d+|\s|.", re.DOTALL)
_BEGINNING = frozenset(("begin", "start", "open", "prefix", "pre", "bo"))
_ENDING = frozenset(("end", "stop", "close", "suffix", "post", "eo"))
_WORD = regex(r"[^\W\d_]+|\d+|.", re.DOTALL)
_ATTRIBUTES = regex(r"(?<=\w)(?:\s+\w+=|=).*$", re.DOTALL)
_SIDES = frozenset("<>[]/\\|｜ \t\n_▁")


@lru_cache(maxsize=4096)
def atoms(text: str) -> tuple[str, ...]:
    """`text` as atoms; joined they are the text again."""
    return tuple(_ATOM.findall(text))


def common_prefix(texts: Iterable[str]) -> str:
    """The longest run of atoms that all `texts` begin with; "" for none."""
    return "".join(_common([atoms(text) for text in texts]))


def common_suffix(texts: Iterable[str]) -> str:
    """The longest run of atoms that all `texts` end with; "" for none."""
    return "".join(reversed(_common([atoms(text)[::-1] for text in texts])))


def _common(runs: Sequence[Sequence[str]]) -> list[str]:
    if not runs:
        return []
    return [group[0] for group in takewhile(lambda group: len(set(group)) == 1, zip(*runs, strict=False))]


def between(text: str, closer: str, opener: str, opening: str = "") -> tuple[str, str, str]:
    """`text` (from one slot to the next) as closer, separator and opener, where the two given may overlap.

    What both claim is cut where the mirror of `opening` ends, if that is in it. Else whitespace belongs to
    the opener and any other atom to the closer: in `</x>\\n<x` the newline can be read with either, but a
    tag that both claim is one that ends something.
    """
    least, most = len(text) - len(opener), len(closer)
    if most <= least:
        return closer, text[most:least], opener
    mirrored = mirrored_end(opening, text) if opening else -1
    if mirrored >= 0:
        mirrored = len(text[:mirrored].rstrip())
    shared = text[least:most]
    cut = mirrored if least <= mirrored <= most else least + len(shared.rstrip())
    return text[:cut], "", text[cut:]


def is_tag(atom: str) -> bool:
    """Whether an atom is a whole tag: something a person would call a marker by itself."""
    return len(atom) > 2 and ((atom[0] == "<" and atom[-1] == ">") or (atom[0] == "[" and atom[-1] == "]"))


def marks(text: str) -> tuple[str, ...]:
    """The tags in `text`, in order."""
    return tuple(atom for atom in atoms(text) if is_tag(atom))


@lru_cache(maxsize=4096)
def _core(atom: str) -> tuple[str, int]:
    """An atom without the signs of a side, and which side its signs speak for: 1 opens, -1 closes, 0
    neither."""
    side = -1 if "/" in atom or "\\" in atom else 0
    kept: list[str] = []
    for word in _WORD.findall(atom):
        lowered = word.lower()
        if lowered in _BEGINNING or lowered in _ENDING:
            side = 1 if lowered in _BEGINNING else -1
        elif word not in _SIDES:
            kept.append(lowered)
    return "".join(kept), side


def mirrors(opener: str, closer: str) -> bool:
    """Whether two atoms differ only in the signs of their side (`<x>` and `</x>`, `<|x>` and `<x|>`);
    attributes of the opener, and that a slot follows in it, do not count (`<x y="` and `</x>`)."""
    if opener == closer or not is_tag(closer) or not (is_tag(opener) or opener[0] == "<"):
        return False
    (core, side), (other, other_side) = _core(_tag_name(opener)), _core(closer)
    if not core:
        return not other and (side, other_side) == (1, -1)
    return core == other and side != -1 and other_side != 1


def closes(atom: str) -> bool:
    """Whether a tag says of itself that it closes something."""
    return is_tag(atom) and _core(atom)[1] == -1


def _tag_name(opener: str) -> str:
    """An opening tag up to its first attribute, closed."""
    name = _ATTRIBUTES.sub("", opener)
    return name if name == opener else name + ">"


def _is_bare(atom: str) -> bool:
    """Whether a tag says nothing but its side, so that only what follows tells what it opens."""
    return not _core(_tag_name(atom))[0]


def mirrored_end(opener: str, text: str, *, furthest: bool = False) -> int:
    """Where in `text` the closer of `opener` ends, -1 if nothing in it mirrors the opener.

    The closer runs to the atom that mirrors a tag of the opener (the first such, or the furthest), then
    over the atoms that follow in both.
    """
    opening, rest = atoms(opener), atoms(text)
    places = range(len(rest) - 1, -1, -1) if furthest else range(len(rest))
    for position in places:
        for index in range(len(opening)):
            if mirrors(opening[index], rest[position]):
                end = _matched_end(opening[index + 1 :], rest, position + 1)
                if not _is_bare(rest[position]) or end > position + 1:
                    return sum(map(len, rest[: _over_blanks(rest, end)]))
    return -1


def _matched_end(following: Sequence[str], rest: Sequence[str], position: int) -> int:
    """The index behind the atoms of `rest` from `position` on that are those of `following`; attributes in
    `following` are passed over up to a tag that both have."""
    at = 0
    words = [atom for atom in following if not atom.isspace()]
    while position < len(rest) and at < len(words):
        if words[at] == rest[position]:
            at += 1
        elif is_tag(rest[position]) and rest[position] in words[at:]:
            at = words.index(rest[position], at) + 1
        else:
            break
        position += 1
    return position


def _over_blanks(rest: Sequence[str], position: int) -> int:
    while position < len(rest) and rest[position].isspace():
        position += 1
    return position


def mirrored_start(text: str, closer: str) -> int:
    """Where in `text` the last opener of `closer` starts, -1 if nothing in it mirrors the closer."""
    opening, closing = atoms(text), atoms(closer)
    for index in range(len(opening) - 1, -1, -1):
        for position in range(len(closing)):
            if mirrors(opening[index], closing[position]):
                end = _matched_end(closing[position + 1 :], opening, index + 1)
                if not _is_bare(closing[position]) or end > index + 1:
                    return sum(map(len, opening[:index]))
    return -1
